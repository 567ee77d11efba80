# mq - message queues as small Unix tools. GNU make.
#
#   make            tools into build/bin, completions into build/completions
#   make try        the main job, for real, in a scratch spool
#   make test       unit tests and t/*.bats, under two minutes; T=FILE for some;
#                   RUNNER=bats by bats
#   make test-heavy what needs root: loop mounts, FUSE, other users
#   make asan       the same suite under AddressSanitizer and UBSan
#   make lint       cppcheck, shellcheck, mandoc, white space
#   make fault      crash sweep and soak; SHORT=1 for the short form
#   make model      the protocol's models; SHORT=1 for those under a minute
#   make bench      the benchmark; SHORT=1 for the short form
#   make fuzz install uninstall clean
#   make deps test-deps heavy-deps lint-deps    Debian packages, as root or by sudo

PREFIX   ?= /usr/local
BINDIR   ?= $(PREFIX)/bin
MANDIR   ?= $(PREFIX)/share/man
DATADIR  ?= $(PREFIX)/share
LIBDIR   ?= $(PREFIX)/lib
DESTDIR  ?=

VERSION  := 0.1
BUILD    ?= build
CFLAGS   ?= -O2 -g -Wall -Wextra
LDFLAGS  ?=
STATIC   ?= -static
# where the tools under test are
MQ_BIN   ?= $(BUILD)/bin

# what the code needs, whatever CFLAGS says
MQ_CFLAGS := -std=c17 -D_GNU_SOURCE -DXXH_INLINE_ALL -DMQ_VERSION='"$(VERSION)"' \
	-Ilib -ffunction-sections -fdata-sections -MMD -MP
ifdef WERROR
MQ_CFLAGS += -Werror
endif
MQ_LDFLAGS := -Wl,--gc-sections -Wl,--as-needed
LIBS     := -ljansson -lbsd -lmd
# of one tool alone: LIBS_mq-room := -lsodium

DEPS       := gcc make libc6-dev libbsd-dev libmd-dev libxxhash-dev libjansson-dev
TEST_DEPS  := bats mandoc strace jq procps sqlite3
LINT_DEPS  := cppcheck shellcheck mandoc git zsh fish
HEAVY_DEPS := bats pkg-config fuse3 libfuse3-dev mount e2fsprogs \
	xfsprogs btrfs-progs faketime util-linux python3 procps prometheus systemd logrotate

TOOLS := $(patsubst cmd/%.c,%,$(wildcard cmd/*.c))
UNITS := $(patsubst t/unit/%.c,%,$(wildcard t/unit/test-*.c))
FUZZERS := $(patsubst t/fuzz/%.c,%,$(wildcard t/fuzz/fuzz-*.c))
MANS  := $(wildcard share/man/*.[1-8])
LIB_OBJS := $(patsubst lib/%.c,$(BUILD)/lib/%.o,$(wildcard lib/*.c))
BINS  := $(TOOLS:%=$(BUILD)/bin/%)
UNIT_BINS := $(UNITS:%=$(BUILD)/unit/%)
SHELLS := bash zsh fish
COMPLETIONS := $(foreach s,$(SHELLS),$(TOOLS:%=$(BUILD)/completions/$s/%))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all bin completions units try test test-heavy asan lint bench fault \
	fault-tools bench-tools fuzz model install uninstall clean deps test-deps \
	heavy-deps lint-deps

all: bin completions
bin: $(BINS)
completions: $(COMPLETIONS)
units: $(UNIT_BINS)

# --- building ---------------------------------------------------------------

# Changed flags rebuild everything.
FLAGS := $(strip $(CC) $(MQ_CFLAGS) $(CFLAGS) $(CPPFLAGS) $(MQ_LDFLAGS) $(LDFLAGS) \
	$(STATIC) $(LIBS))
ifneq ($(FLAGS),$(file <$(BUILD)/flags))
$(shell mkdir -p '$(BUILD)')
$(file >$(BUILD)/flags,$(FLAGS))
endif

SAY := $(if $(findstring s,$(firstword -$(MAKEFLAGS))),:,echo)
COMPILE = @mkdir -p $(@D); $(SAY) "  CC   $<"; \
	$(CC) $(MQ_CFLAGS) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
LINK = @mkdir -p $(@D); $(SAY) "  LD   $@"; \
	$(CC) $(CFLAGS) $(MQ_LDFLAGS) $(LDFLAGS) $(STATIC) -o $@ $(filter %.o %.a,$^) \
	$(LIBS_$(@F)) $(LIBS)

$(BUILD)/lib/%.o: lib/%.c $(BUILD)/flags
	$(COMPILE)
$(BUILD)/cmd/%.o: cmd/%.c $(BUILD)/flags
	$(COMPILE)
$(BUILD)/unit/%.o: t/unit/%.c $(BUILD)/flags
	$(COMPILE)

$(BUILD)/libmq.a: $(LIB_OBJS)
	@rm -f $@
	@$(AR) rcs $@ $^

$(BUILD)/bin/%: $(BUILD)/cmd/%.o $(BUILD)/libmq.a
	$(LINK)
$(BUILD)/unit/%: $(BUILD)/unit/%.o $(BUILD)/libmq.a
	$(LINK)

define completion_rule
$(BUILD)/completions/$1/%: $(BUILD)/bin/% | $(BINS)
	@mkdir -p $$(@D)
	@$$< --completions=$1 >$$@
endef
$(foreach s,$(SHELLS),$(eval $(call completion_rule,$s)))

-include $(wildcard $(BUILD)/lib/*.d $(BUILD)/cmd/*.d $(BUILD)/unit/*.d $(BUILD)/bench/*.d)

# --- packages ---------------------------------------------------------------

deps:
	@sh share/packages.sh $(DEPS)
test-deps:
	@sh share/packages.sh $(DEPS) $(TEST_DEPS)
heavy-deps:
	@sh share/packages.sh $(DEPS) $(HEAVY_DEPS)
lint-deps:
	@sh share/packages.sh $(LINT_DEPS)

# --- checking ---------------------------------------------------------------

try:
	sh share/try.sh

test: all units bench-tools
	@BUILD=$(BUILD) MQ_BIN=$(MQ_BIN) RUNNER=$(RUNNER) sh t/suite.sh $(T)

# libfaketime cannot be loaded into static tools
test-heavy: all fault-tools bench-tools
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/dynamic STATIC= bin
	@BUILD=$(BUILD) MQ_BIN=$(MQ_BIN) MQ_DYNAMIC_BIN=$(abspath $(BUILD))/dynamic/bin RUNNER=$(RUNNER) \
		sh t/suite.sh $(or $(T),$(wildcard t/heavy/*.bats))

ASAN := -O1 -g -Wall -Wextra -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=all
asan:
	@ASAN_OPTIONS=detect_leaks=0 $(MAKE) --no-print-directory BUILD=$(BUILD)/asan \
		MQ_BIN=$(BUILD)/asan/bin STATIC= CFLAGS='$(ASAN)' RUNNER=bats test

SCRIPTS = $(shell git ls-files -co --exclude-standard '*.sh' '*.bash' '*.bats' \
	.ci/run t/fault/cutrecord t/fault/powercut)
# a pointer kept by a compound literal, a struct filled by the function it is given
# to, prototypes without names: cppcheck does not see these
CPPCHECK_BLIND := memleak ctuuninitvar funcArgOrderDifferent
lint: completions
	cppcheck -q --std=c11 --enable=warning,performance,portability \
		--inline-suppr --suppress=missingIncludeSystem --error-exitcode=1 \
		$(CPPCHECK_BLIND:%=--suppress=%) \
		-D_GNU_SOURCE -D__linux__ -D__x86_64__ -Ilib cmd lib $(wildcard t/unit t/bench t/fault/*.c)
	shellcheck -x -S warning $(filter-out %.bats,$(SCRIPTS))
	shellcheck -x -S warning -e SC1010,SC2238,SC2258 $(filter %.bats,$(SCRIPTS))
	$(if $(MANS),mandoc -Tlint -Wwarning $(MANS))
	for f in $(BUILD)/completions/zsh/*; do zsh -n "$$f" || exit; done
	for f in $(BUILD)/completions/fish/*; do fish -n "$$f" || exit; done
	sh t/whitespace.sh

model:
	@SHORT=$(SHORT) sh t/model/run.sh

# --- faults -----------------------------------------------------------------

FAULT := $(BUILD)/fault
fault-tools: $(FAULT)/crash-sweep $(FAULT)/look $(FAULT)/cutdisk $(FAULT)/cutreplay
fault: bin $(FAULT)/crash-sweep $(FAULT)/look
	@BUILD=$(BUILD) MQ_BIN=$(MQ_BIN) SHORT=$(SHORT) sh t/fault/sweep.sh
	@BUILD=$(BUILD) MQ_BIN=$(MQ_BIN) SHORT=$(SHORT) sh t/fault/groups.sh
	@BUILD=$(BUILD) MQ_BIN=$(MQ_BIN) SHORT=$(SHORT) bash t/fault/order.sh
	@BUILD=$(BUILD) MQ_BIN=$(MQ_BIN) SHORT=$(SHORT) sh t/fault/publish.sh
	@BUILD=$(BUILD) MQ_BIN=$(MQ_BIN) SHORT=$(SHORT) sh t/fault/once.sh
	@BUILD=$(BUILD) MQ_BIN=$(MQ_BIN) SHORT=$(SHORT) bash t/fault/soak.sh
	@BUILD=$(BUILD) MQ_BIN=$(MQ_BIN) SHORT=$(SHORT) bash t/fault/topics.sh

$(FAULT)/sysnames.h: Makefile
	@mkdir -p $(@D)
	@echo '#include <sys/syscall.h>' | $(CC) -E -dM - | sed -n \
		's/^#define __NR_\([a-z0-9_]*\) .*/{ "\1", __NR_\1 },/p' | sort >$@
$(FAULT)/crash-sweep: t/fault/crash-sweep.c $(FAULT)/sysnames.h
	$(CC) -std=c17 -D_GNU_SOURCE -I$(FAULT) $(CFLAGS) -o $@ $<
$(FAULT)/look: t/fault/look.c
	@mkdir -p $(@D)
	$(CC) -std=c17 -D_GNU_SOURCE -DXXH_INLINE_ALL $(CFLAGS) -o $@ $<
$(FAULT)/cutdisk: t/fault/cutdisk.c t/fault/cutlog.h
	@mkdir -p $(@D)
	$(CC) -std=c17 -D_GNU_SOURCE $(CFLAGS) $$(pkg-config --cflags fuse3) -o $@ $< \
		$$(pkg-config --libs fuse3)
$(FAULT)/cutreplay: t/fault/cutreplay.c t/fault/cutlog.h
	@mkdir -p $(@D)
	$(CC) -std=c17 -D_GNU_SOURCE $(CFLAGS) -o $@ $<

# --- benchmark ------------------------------------------------------------------

BENCH := $(BUILD)/bench
BENCHES := $(filter-out noop bench,$(patsubst t/bench/%.c,%,$(wildcard t/bench/*.c)))
bench-tools: $(BENCHES:%=$(BENCH)/%) $(BENCH)/noop $(BENCH)/noop-static $(BENCH)/noop-linked
bench: bin bench-tools
	@BUILD=$(BUILD) MQ_BIN=$(MQ_BIN) SHORT=$(SHORT) bash t/bench/run.sh

$(BENCH)/%.o: t/bench/%.c $(BUILD)/flags
	$(COMPILE)
$(BENCH)/%: $(BENCH)/%.o $(BENCH)/bench.o $(BUILD)/libmq.a
	$(LINK)
# what the tools are measured by: as plain as can be, and linked as they are
$(BENCH)/noop: t/bench/noop.c
	@mkdir -p $(@D)
	@$(CC) -O2 -o $@ $<
$(BENCH)/noop-static: t/bench/noop.c
	@mkdir -p $(@D)
	@$(CC) -O2 -static -o $@ $<
$(BENCH)/noop-linked: $(BENCH)/noop.o
	$(LINK)

# --- fuzzing (clang's libFuzzer) --------------------------------------------

FUZZ_CC ?= clang
FUZZ_SECONDS ?= 20
FUZZ_FLAGS := -std=c17 -D_GNU_SOURCE -DXXH_INLINE_ALL -DMQ_VERSION='"$(VERSION)"' \
	-Ilib -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
FUZZ_OBJS := $(patsubst lib/%.c,$(BUILD)/fuzz/lib/%.o,$(wildcard lib/*.c))
fuzz: $(FUZZERS:%=$(BUILD)/fuzz/%)
	@set -e; for f in $(FUZZERS); do echo "== $$f"; \
		mkdir -p $(BUILD)/fuzz/corpus/$$f; \
		$(BUILD)/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 \
			-artifact_prefix=$(BUILD)/fuzz/ $(BUILD)/fuzz/corpus/$$f \
			$$(ls -d t/fuzz/corpus/$$f 2>/dev/null); done
$(BUILD)/fuzz/lib/%.o: lib/%.c $(wildcard lib/*.h)
	@mkdir -p $(@D)
	@$(FUZZ_CC) $(FUZZ_FLAGS) -c -o $@ $<
$(BUILD)/fuzz/%: t/fuzz/%.c $(FUZZ_OBJS)
	@echo "  LD   $@"
	@$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

# --- installing -------------------------------------------------------------

# where a shell looks for the completions of tool $2
bash_file = bash-completion/completions/$1
zsh_file  = zsh/site-functions/_$1
fish_file = fish/vendor_completions.d/$1.fish
section   = man$(subst .,,$(suffix $1))
UNIT_FILES := $(notdir $(wildcard share/systemd/*.service share/systemd/*.timer))
EXAMPLES  := $(notdir $(wildcard share/examples/*))
INSTALLED = $(TOOLS:%=$(BINDIR)/%) \
	$(foreach m,$(MANS),$(MANDIR)/$(call section,$m)/$(notdir $m)) \
	$(foreach s,$(SHELLS),$(foreach t,$(TOOLS),$(DATADIR)/$(call $s_file,$t))) \
	$(UNIT_FILES:%=$(LIBDIR)/systemd/system/%) $(LIBDIR)/sysusers.d/mq.conf \
	$(LIBDIR)/tmpfiles.d/mq.conf $(DATADIR)/mq/logrotate \
	$(EXAMPLES:%=$(DATADIR)/mq/examples/%)

install: all
	install -d '$(DESTDIR)$(BINDIR)'
	install -m 755 $(BINS) '$(DESTDIR)$(BINDIR)'
	@set -e; $(foreach m,$(MANS),install -D -m 644 $m \
		'$(DESTDIR)$(MANDIR)/$(call section,$m)/$(notdir $m)';)
	@set -e; $(foreach s,$(SHELLS),$(foreach t,$(TOOLS),install -D -m 644 \
		$(BUILD)/completions/$s/$t '$(DESTDIR)$(DATADIR)/$(call $s_file,$t)';))
	install -d '$(DESTDIR)$(LIBDIR)/systemd/system' '$(DESTDIR)$(DATADIR)/mq/examples'
	@set -e; for u in $(UNIT_FILES); do sed 's|@BINDIR@|$(BINDIR)|' share/systemd/$$u \
		>'$(DESTDIR)$(LIBDIR)/systemd/system/'$$u; done
	@install -D -m 644 share/systemd/mq.sysusers.conf '$(DESTDIR)$(LIBDIR)/sysusers.d/mq.conf'
	@install -D -m 644 share/systemd/mq.tmpfiles.conf '$(DESTDIR)$(LIBDIR)/tmpfiles.d/mq.conf'
	@install -D -m 644 share/systemd/mq.logrotate '$(DESTDIR)$(DATADIR)/mq/logrotate'
	@cp $(EXAMPLES:%=share/examples/%) '$(DESTDIR)$(DATADIR)/mq/examples'

uninstall:
	rm -f $(INSTALLED:%='$(DESTDIR)%')

clean:
	rm -rf $(BUILD)
