# SPDX-License-Identifier: GPL-3.0-or-later
# Builds netbench and libtopo, and everything around them. `make help` lists the targets.

VERSION := 0.1.0

# What is needed, once. NAME=PROBE: the Debian package, and how to see that it is here: a command,
# or NAME.pc for pkg-config, or a path. The .pc probes of the build are also what gets linked.
DEPS_BUILD := gcc=gcc pkg-config=pkg-config libmnl-dev=libmnl.pc libnftnl-dev=libnftnl.pc \
	libnftables-dev=libnftables.pc libbpf-dev=libbpf.pc libyaml-dev=yaml-0.1.pc \
	libjansson-dev=jansson.pc libsmartcols-dev=smartcols.pc zlib1g-dev=zlib.pc clang=clang bpftool=bpftool
DEPS_TEST  := libcmocka-dev=cmocka.pc bats=bats perl=prove valgrind=valgrind iproute2=ip \
	iproute2=tc procps=ps util-linux=setpriv python3-jsonschema=/usr/lib/python3/dist-packages/jsonschema
DEPS_BENCH := iperf3=iperf3 python3=python3 iproute2=ip netsniff-ng=trafgen
DEPS_LINT  := clang-format=clang-format clang-tidy=clang-tidy cppcheck=cppcheck \
	shellcheck=shellcheck mandoc=mandoc

PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
MANDIR  ?= $(PREFIX)/share/man
COMPDIR ?= $(PREFIX)/share/bash-completion/completions

# SAN=1: AddressSanitizer and UndefinedBehaviorSanitizer, in a directory of its own.
ifdef SAN
BUILD   ?= build/asan
CFLAGS  ?= -O1 -g
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
else
BUILD   ?= build
CFLAGS  ?= -O2 -g
endif
ifeq ($(origin CC),default)
CC := gcc
endif
PKG_CONFIG ?= pkg-config
# Texts that do not fit are cut on purpose, so truncation is no warning.
# With WERROR=1 warnings are errors, as in `make check` and `make lint`.
WERROR ?=

# Asked on first use, not when this file is read: `make run` may have to install them first.
PKGS   := $(foreach d,$(DEPS_BUILD),$(patsubst %.pc,%,$(filter %.pc,$(lastword $(subst =, ,$d)))))
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell $(PKG_CONFIG) --cflags $(PKGS)))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $$(shell $(PKG_CONFIG) --libs $(PKGS)))$(PKG_LIBS)

WARN := -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wno-format-truncation $(if $(WERROR),-Werror)
FORTIFY := $(if $(SANITIZE)$(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
HARDEN := -fstack-protector-strong -fstack-clash-protection -fPIE
NB_CPPFLAGS = -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -Inetbench -I. -I$(BUILD) \
	$(FORTIFY) $(PKG_CFLAGS) $(CPPFLAGS)
NB_CFLAGS = -std=gnu17 $(WARN) $(HARDEN) $(SANITIZE) $(CFLAGS)
NB_LDFLAGS = -pie -Wl,-z,relro,-z,now $(SANITIZE) $(LDFLAGS)
NB_LIBS = $(PKG_LIBS) -pthread -lm $(LDLIBS)

TOPO_SRC  := $(wildcard topo/*.c topo/*/*.c)
NB_SRC    := $(wildcard netbench/*.c netbench/*/*.c)
UNIT_SRC  := $(wildcard tests/unit/*_test.c)
LAB_SRC   := $(wildcard tests/lab/*_test.c)
HEADERS   := $(wildcard topo/*.h topo/*/*.h netbench/*.h netbench/*/*.h)
BPF_SRC   := $(wildcard bpf/*.bpf.c)
BPF_HDR   := $(wildcard bpf/*.h)
SKELETONS := $(BPF_SRC:%.bpf.c=$(BUILD)/%.skel.h)
SCRIPTS   := .ci/run .ci/deps tests/run $(wildcard tests/*.sh tests/*/*.sh tests/*/*.bash) \
	docs/completion.bash
SUITES    := $(wildcard configs/suites/*.yaml)
LABS      := $(wildcard configs/labs/*.yaml)
MAN_SRC   := $(wildcard docs/man/*.in)

TOPO_OBJ := $(TOPO_SRC:%.c=$(BUILD)/%.o)
NB_OBJ   := $(NB_SRC:%.c=$(BUILD)/%.o) $(BUILD)/embedded.o
MAIN_OBJ := $(BUILD)/netbench/main.o
# All of netbench but main(), for the tests and the manual.
LIB_OBJ  := $(filter-out $(MAIN_OBJ),$(NB_OBJ))
UNIT     := $(UNIT_SRC:%.c=$(BUILD)/%)
LAB      := $(LAB_SRC:%.c=$(BUILD)/%)
ARCHIVES := $(BUILD)/libnetbench.a $(BUILD)/libtopo.a
MAN      := $(MAN_SRC:docs/man/%.in=$(BUILD)/man/%)

ifeq ($(V),1)
say =
Q =
else
say = @printf '%-7s %s\n' '$(1)' '$(2)';
Q = @
endif

# A target that may install packages says so to the makes it starts.
ifneq ($(filter run check bench lint deps,$(MAKECMDGOALS)),)
export INSTALL_DEPS := 1
endif
# As root in a user's checkout, whoever became root how, all that is built belongs to that user:
# recipes run as the owner of the checkout, but for those marked AS_ROOT. What an earlier root left
# in the build directory is handed over. Empty when there is nobody to become, or it does not help.
SHELL := /bin/bash
AS_OWNER := $(shell [ "$$(id -u)" = 0 ] && read -r u g < <(stat -c '%u %g' .) && [ "$$u" != 0 ] || exit 0; \
	as="--reuid=$$u --regid=$$g --clear-groups"; setpriv $$as -- test -w . 2>/dev/null || exit 0; \
	d=$(BUILD); d=$${d%%/*}; [[ ! $$d || $$d = .* || ! -d $$d ]] || \
		find "$$d" ! -user "$$u" -exec chown -h "$$u:$$g" {} +; \
	[ ! -e "$(BUILD)" ] || setpriv $$as -- test -w "$(BUILD)" || exit 0; echo "$$as")
ifneq ($(AS_OWNER),)
SHELL := $(shell command -v setpriv)
.SHELLFLAGS := $(AS_OWNER) -- /bin/bash -c
endif
AS_ROOT := run check bench install uninstall clean deps-build deps-test deps-bench deps-lint
$(AS_ROOT): private SHELL := /bin/bash
$(AS_ROOT): private .SHELLFLAGS := -c
# Tests that run as root leave no compiled Python beside the sources.
export PYTHONDONTWRITEBYTECODE := 1
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
SUBMAKE = +$(MAKE) --no-print-directory $(PARALLEL)

all: $(BUILD)/netbench/netbench ## build netbench (V=1 shows the commands, SAN=1 adds sanitizers)

$(BUILD)/netbench/netbench: $(MAIN_OBJ) $(ARCHIVES)
	$(call say,LINK,$@)$(CC) $(NB_CFLAGS) $(NB_LDFLAGS) -o $@ $^ $(NB_LIBS)

$(BUILD)/libnetbench.a: $(LIB_OBJ)
$(BUILD)/libtopo.a: $(TOPO_OBJ)
%.a:
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

# BPF programs, compiled once and built into the binary as skeletons: "bpf/NAME.skel.h".
BPF_CFLAGS := -std=gnu17 -O2 -g -Wall -Wextra $(if $(WERROR),-Werror) -target bpf -mcpu=v3 -I. \
	-idirafter /usr/include/$(shell $(CC) -print-multiarch 2>/dev/null)
BPFTOOL := $(or $(shell PATH=$$PATH:/usr/sbin command -v bpftool),bpftool)
$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c $(BPF_HDR) | deps-build
	@mkdir -p $(@D)
	$(call say,BPF,$<)clang $(BPF_CFLAGS) -c -o $@ $<
$(BUILD)/bpf/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call say,SKEL,$@){ echo '// NOLINTBEGIN'; $(BPFTOOL) gen skeleton $< name $*_bpf; \
		echo '// NOLINTEND'; } >$@.new && mv $@.new $@
.SECONDARY: $(SKELETONS) $(SKELETONS:%.skel.h=%.bpf.o)

$(BUILD)/%.o: %.c | deps-build $(SKELETONS)
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(NB_CPPFLAGS) $(NB_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: $(BUILD)/%.c | deps-build
	$(call say,CC,$<)$(CC) $(NB_CPPFLAGS) $(NB_CFLAGS) -MMD -MP -c -o $@ $<

# The version is in one small header that changes only when the version does.
$(MAIN_OBJ) $(BUILD)/netbench/result/json.o $(BUILD)/docs/mangen.o: $(BUILD)/version.h
$(BUILD)/version.h: FORCE | deps-build
	@mkdir -p $(@D)
	@v=; [ ! -e .git ] || v=$$(git -c safe.directory='*' describe --tags --match 'v[0-9]*' --dirty 2>/dev/null) || \
		v=v$(VERSION)+g$$(git -c safe.directory='*' describe --always --dirty 2>/dev/null); \
	v=$${v#v}; v=$${v:-$(VERSION)}; \
	{ echo '/* Generated by the Makefile. */'; \
	  echo "#define NETBENCH_VERSION \"$${v%+g}\""; \
	  echo "#define NETBENCH_COMPILER \"$$($(CC) --version | sed q)\""; \
	  printf '#define NETBENCH_LIBS "'; s=; for p in $(PKGS); do \
		printf '%s%s %s' "$$s" "$$p" "$$($(PKG_CONFIG) --modversion $$p)"; s=', '; done; echo '"'; \
	} >$@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# Suites and labs inside the binary, so that they are at hand wherever it is installed.
$(BUILD)/embedded.o: $(SUITES) $(LABS)
$(BUILD)/embedded.c: $(SUITES) $(LABS) Makefile
	@mkdir -p $(@D)
	$(call say,GEN,$@){ \
	echo '/* Generated by the Makefile from configs/. */'; \
	echo '#include "suite/embedded.h"'; \
	for f in $(SUITES) $(LABS); do s=embedded_$$(echo $$f | tr -c 'a-zA-Z0-9\n' _); \
		echo "__asm__(\".pushsection .rodata\\n$$s: .incbin \\\"$$f\\\"\\n.byte 0\\n.popsection\");"; \
		echo "extern const char $$s[];"; done; \
	for k in suites labs; do echo "const struct embedded embedded_$$k[] = {"; \
		for f in $(SUITES) $(LABS); do case $$f in configs/$$k/*) \
			echo "{ \"$$(basename $$f .yaml)\", embedded_$$(echo $$f | tr -c 'a-zA-Z0-9\n' _), $$(wc -c <$$f) },";; \
		esac; done; echo '{ 0 } };'; done; } >$@

$(UNIT) $(LAB): $(BUILD)/%: $(BUILD)/%.o $(ARCHIVES)
	$(call say,LINK,$@)$(CC) $(NB_CFLAGS) $(NB_LDFLAGS) -o $@ -Wl,--start-group $^ -Wl,--end-group \
		$(NB_LIBS) -lcmocka
unit: $(UNIT)
lab: $(LAB)
# The same unit tests under names that tests/run starts with valgrind.
valgrind: $(UNIT)
	@rm -rf $(BUILD)/valgrind && mkdir -p $(BUILD)/valgrind
	@ln -s $(UNIT:$(BUILD)/%=../%) $(BUILD)/valgrind/
.SECONDARY: $(UNIT:%=%.o) $(LAB:%=%.o)

# The manual: hand-written pages with the option tables filled in from the program's own.
man: $(MAN) ## build the manual pages
$(BUILD)/docs/mangen: $(BUILD)/docs/mangen.o $(BUILD)/docs/cmds.o $(ARCHIVES)
	$(call say,LINK,$@)$(CC) $(NB_CFLAGS) $(NB_LDFLAGS) -o $@ $^ $(NB_LIBS)
# main.c again, without its main(): the generator needs the table of commands.
$(BUILD)/docs/cmds.o: netbench/main.c $(BUILD)/version.h
	@mkdir -p $(@D)
	$(call say,CC,$< (commands))$(CC) $(NB_CPPFLAGS) $(NB_CFLAGS) -Dmain=netbench_main -MMD -MP -c -o $@ $<
$(MAN): $(BUILD)/man/%: docs/man/%.in $(BUILD)/docs/mangen
	@mkdir -p $(@D)
	$(call say,MAN,$@)$(BUILD)/docs/mangen <$< >$@.new && mv $@.new $@

run: deps-build ## install what is missing (as root), build, measure the quick suite
	$(SUBMAKE) all
	$(BUILD)/netbench/netbench run

# Everything runs against the sanitizer build; the unit tests of the normal build also run under
# valgrind. One prove at the end, so that the last lines are the count.
check: deps-build deps-test ## install what is missing (as root), build, run all tests
	$(SUBMAKE) WERROR=1 BUILD=$(BUILD) all unit valgrind man
	$(SUBMAKE) WERROR=1 SAN=1 BUILD=$(BUILD)/asan CFLAGS='-O1 -g' all unit lab
	NETBENCH=$(abspath $(BUILD)/asan/netbench/netbench) NETBENCH_PLAIN=$(abspath $(BUILD)/netbench/netbench) \
	HARNESS_RULESFILE=tests/rules.yml prove -j2 --exec tests/run $(TESTS)

TESTS ?= $(UNIT:$(BUILD)/%=$(BUILD)/asan/%) $(UNIT:$(BUILD)/tests/unit/%=$(BUILD)/valgrind/%) \
	$(wildcard tests/arch*.sh tests/cli/*.bats) $(LAB:$(BUILD)/%=$(BUILD)/asan/%) \
	$(wildcard tests/lab/*.bats)

lint: deps-build deps-lint deps-test ## formatting, static analysis, headers, scripts, manual pages
	$(SUBMAKE) WERROR=1 BUILD=$(BUILD) man $(BUILD)/embedded.c
	$(SUBMAKE) -k WERROR=1 BUILD=$(BUILD) lint-format lint-headers lint-scripts lint-man lint-cppcheck \
		$(TIDY:%=%.tidy)

C_ALL := $(TOPO_SRC) $(NB_SRC) $(UNIT_SRC) $(LAB_SRC) $(wildcard docs/*.c tests/bench/*.c)
TIDY  := $(TOPO_SRC) $(NB_SRC) $(wildcard docs/*.c)
lint-format:
	$(call say,FORMAT,all sources)clang-format --dry-run -Werror $(C_ALL) $(HEADERS) $(BPF_SRC) $(BPF_HDR)
lint-headers: $(HEADERS:%=%.alone)
%.alone: % FORCE | $(SKELETONS)
	$(call say,HEADER,$*)$(CC) $(NB_CPPFLAGS) $(NB_CFLAGS) -fsyntax-only -x c $*
lint-scripts:
	$(call say,SHELL,scripts)shellcheck $(SCRIPTS)
lint-man: $(MAN)
	$(call say,MANDOC,$(notdir $(MAN)))mandoc -Tlint -Wwarning $(MAN)
lint-cppcheck:
	$(call say,CPPCHECK,all sources)cppcheck --quiet --std=c11 --enable=warning,portability,performance \
		--inline-suppr --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
		--error-exitcode=1 -D_GNU_SOURCE -D__linux__ -Inetbench -I. -I$(BUILD) \
		$(TOPO_SRC) $(NB_SRC)
%.tidy: % FORCE | $(BUILD)/version.h $(SKELETONS)
	$(call say,TIDY,$*)clang-tidy --quiet --warnings-as-errors='*' $* -- -std=gnu17 \
		$(filter-out -D_FORTIFY_SOURCE=2,$(NB_CPPFLAGS)) 2>&1 | { grep -vE 'warnings? generated' || true; }; \
		exit $${PIPESTATUS[0]}

# What the frames load is held against: the least that a frame can cost, and how free a CPU can be.
ceiling: $(BUILD)/tests/bench/ceiling $(BUILD)/tests/bench/holdup
$(BUILD)/tests/bench/holdup: $(BUILD)/tests/bench/holdup.o
	$(call say,LINK,$@)$(CC) $(NB_CFLAGS) $(NB_LDFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/tests/bench/ceiling.bpf.o: tests/bench/ceiling.bpf.c | deps-build
	@mkdir -p $(@D)
	$(call say,BPF,$<)clang $(BPF_CFLAGS) -c -o $@ $<
$(BUILD)/tests/bench/ceiling.skel.h: $(BUILD)/tests/bench/ceiling.bpf.o
	$(call say,SKEL,$@)$(BPFTOOL) gen skeleton $< name ceiling_bpf >$@.new && mv $@.new $@
$(BUILD)/tests/bench/ceiling.o: $(BUILD)/tests/bench/ceiling.skel.h
$(BUILD)/tests/bench/ceiling: $(BUILD)/tests/bench/ceiling.o $(ARCHIVES)
	$(call say,LINK,$@)$(CC) $(NB_CFLAGS) $(NB_LDFLAGS) -o $@ -Wl,--start-group $^ -Wl,--end-group $(NB_LIBS)

bench: deps-build deps-bench ## compare with iperf3, trafgen and ip(8), check size and speed (as root)
	$(SUBMAKE) all ceiling
	NETBENCH=$(abspath $(BUILD)/netbench/netbench) python3 tests/bench/iperf3.py $(BENCH_ARGS)
	NETBENCH=$(abspath $(BUILD)/netbench/netbench) CEILING=$(abspath $(BUILD)/tests/bench/ceiling) \
		python3 tests/bench/frames.py
	NETBENCH=$(abspath $(BUILD)/netbench/netbench) python3 tests/bench/limits.py

install: all man ## install under DESTDIR and PREFIX
	install -D -m 755 $(BUILD)/netbench/netbench $(DESTDIR)$(BINDIR)/netbench
	install -D -m 644 docs/completion.bash $(DESTDIR)$(COMPDIR)/netbench
	@for m in $(MAN); do s=$${m##*.}; echo install $$m; \
		install -D -m 644 $$m $(DESTDIR)$(MANDIR)/man$$s/$${m##*/} || exit 1; done

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(BINDIR)/netbench $(DESTDIR)$(COMPDIR)/netbench \
		$(foreach m,$(MAN_SRC:docs/man/%.in=%),$(DESTDIR)$(MANDIR)/man$(lastword $(subst ., ,$m))/$m)

deps: deps-build deps-test deps-bench deps-lint ## install everything that any target needs (as root)
deps-build deps-test deps-bench deps-lint: deps-%:
	@.ci/deps $(if $(INSTALL_DEPS),--install) $(DEPS_$(shell echo $* | tr a-z A-Z))

clean: ## remove what was built
	rm -rf $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 12

FORCE:
-include $(TOPO_OBJ:.o=.d) $(NB_OBJ:.o=.d) $(UNIT:%=%.d) $(LAB:%=%.d) $(BUILD)/docs/mangen.d $(BUILD)/docs/cmds.d
.PHONY: all unit lab ceiling valgrind man run check lint bench install uninstall clean help FORCE \
	deps deps-build deps-test deps-bench deps-lint \
	lint-format lint-headers lint-scripts lint-man lint-cppcheck
.DELETE_ON_ERROR:
