# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Bash completion for netbench. It asks the program, so it knows whatever the program knows.

# The words as the program would get them: bash splits at the '=' and ':' of COMP_WORDBREAKS.
_netbench_words() {
	local i glue=
	words=()
	for ((i = 1; i <= COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		[=:]*)
			if ((${#words[@]})); then words[-1]+=${COMP_WORDS[i]}; else words+=("${COMP_WORDS[i]}"); fi
			glue=1
			;;
		*)
			# Nothing behind a '=' is the next word: the cursor stands after a space.
			if [[ $glue && ${COMP_WORDS[i]} ]]; then
				words[-1]+=${COMP_WORDS[i]}
			else
				words+=("${COMP_WORDS[i]}")
			fi
			glue=
			;;
		esac
	done
}

# Files, or those that compgen is told of and folders.
_netbench_files() {
	local file part=${cur##*=}
	compopt -o filenames 2>/dev/null
	while IFS= read -r file; do
		COMPREPLY+=("$file")
	done < <(compgen -f "$@" -- "$part"; [ $# -eq 0 ] || compgen -d -- "$part")
}

_netbench() {
	local cur head='' line words program=${COMP_WORDS[0]/#\~/$HOME}
	COMPREPLY=()
	_netbench_words
	cur=${words[-1]}
	# What stands before the last '=' is not replaced where bash splits there.
	[[ $cur == *=* && $COMP_WORDBREAKS == *=* ]] && head=${cur%=*}=
	while IFS= read -r line; do
		case $line in
		'<files>') _netbench_files ;;
		'<yaml>') _netbench_files -X '!*.y*ml' ;;
		'<commands>')
			while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -c -- "$cur")
			;;
		"$cur"*) COMPREPLY+=("${line#"$head"}") ;;
		esac
	done < <("$program" list --names -- completion "${words[@]}" 2>/dev/null)
	# A key is not complete without its value.
	[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
	return 0
}

complete -F _netbench netbench
