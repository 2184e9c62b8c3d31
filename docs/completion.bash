# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Bash completion for netbench. It asks the program, so it knows whatever the program knows.

_netbench_names() {
	netbench list --names "$@" 2>/dev/null
}

_netbench_words() {
	local word
	while IFS= read -r word; do
		[[ $word == "$cur"* ]] && COMPREPLY+=("$word")
	done < <(_netbench_names "$@")
}

_netbench_files() {
	local file
	while IFS= read -r file; do
		COMPREPLY+=("$file")
	done < <(compgen -f -X '!*.y*ml' -- "$cur"; compgen -d -S / -- "$cur")
}

_netbench() {
	local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} verb=${COMP_WORDS[2]-}
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		_netbench_words commands
		return
	fi
	if [[ $cur == -* ]]; then
		_netbench_words options "$command"
		return
	fi
	case $command:$COMP_CWORD in
	help:2) _netbench_words commands ;;
	list:2) mapfile -t COMPREPLY < <(compgen -W 'loads suites labs' -- "$cur") ;;
	list:*) _netbench_files ;;
	run:*) _netbench_words suites; _netbench_files ;;
	bench:2) _netbench_words loads ;;
	bench:*)
		_netbench_words settings "$verb"
		[ "${#COMPREPLY[@]}" -eq 0 ] || compopt -o nospace
		;;
	lab:2) mapfile -t COMPREPLY < <(compgen -W 'up down list exec show' -- "$cur") ;;
	lab:*)
		case $verb in
		up) _netbench_words labs; _netbench_files ;;
		show) _netbench_words pinned; _netbench_words labs; _netbench_files ;;
		down) _netbench_words pinned ;;
		exec)
			case $COMP_CWORD in
			3) _netbench_words pinned ;;
			4) _netbench_words nodes "${COMP_WORDS[3]}" ;;
			*) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
			esac
			;;
		esac
		;;
	esac
}

complete -o filenames -F _netbench netbench
