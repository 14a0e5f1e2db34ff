# Discern: discernd (the service) and libdiscern (the algorithms: libdiscern.a and libdiscern.so.0).
# `make help` lists the targets.

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
VERSION := 0.1.0
SOVERSION := 0

CC      ?= cc
AR      ?= ar
PKG_CONFIG ?= pkg-config
CMARK   ?= cmark
# Scripts that the page uses and the binary embeds: Debian's node-d3 and node-preact. D3_PARTS: the parts of d3 that
# the page uses, each behind those that it needs.
D3      ?= /usr/share/nodejs
PREACT  ?= /usr/share/nodejs/preact/src
D3_PARTS := array collection color format interpolate path selection time time-format scale axis shape contour dsv
D3_FILES := $(foreach part,$(D3_PARTS),$(D3)/d3-$(part)/dist/d3-$(part).min.js)

# ---- dependencies: pkg-config name, or a header where a library has none; Debian package ---------
DEPS := libmicrohttpd:libmicrohttpd-dev jansson:libjansson-dev sqlite3:libsqlite3-dev libpq:libpq-dev openblas:libopenblas-pthread-dev \
        lapacke:liblapacke-dev libsodium:libsodium-dev gnutls:libgnutls28-dev zlib:zlib1g-dev unistr.h:libunistring-dev libseccomp:libseccomp-dev
TEST_DEPS := libcurl:libcurl4-openssl-dev cmocka:libcmocka-dev
# The pthread flavour of OpenBLAS, also if the alternatives system selects another flavour.
BLAS_DIR := $(firstword $(wildcard /usr/lib/*/openblas-pthread /usr/lib/openblas-pthread))

# The compiler and pkg-config are checked first, so that a missing tool gives a single message.
NO_DEPS_GOALS := clean help format
hash := \#
missing = $(error $(1) missing: apt-get install $(2))
ifneq ($(filter-out $(NO_DEPS_GOALS),$(or $(MAKECMDGOALS),all)),)
  ifeq ($(shell command -v $(firstword $(CC)) 2>/dev/null),)
    $(call missing,the compiler $(firstword $(CC)),$(if $(filter clang%,$(CC)),clang,gcc libc6-dev))
  endif
  ifeq ($(shell command -v $(PKG_CONFIG) 2>/dev/null),)
    $(call missing,pkg-config,pkg-config)
  endif
  ifeq ($(shell command -v $(CMARK) 2>/dev/null),)
    $(call missing,$(CMARK) (CommonMark to HTML),cmark)
  endif
  ifneq ($(filter-out $(wildcard $(D3_FILES) $(PREACT)/preact.js),$(D3_FILES) $(PREACT)/preact.js),)
    $(call missing,$(D3)/d3-* or $(PREACT)/preact.js,node-d3 node-preact)
  endif
  export PKG_CONFIG_PATH := $(if $(BLAS_DIR),$(BLAS_DIR)/pkgconfig:)$(PKG_CONFIG_PATH)
  pkg = $(shell PKG_CONFIG_PATH="$(PKG_CONFIG_PATH)" $(PKG_CONFIG) $(1))
  # "yes" if the library exists, else empty
  has = $(shell $(if $(filter %.h,$(1)),printf '%s\n' '$(hash)include <$(1)>' | $(CC) -E -x c - >/dev/null 2>&1,PKG_CONFIG_PATH="$(PKG_CONFIG_PATH)" $(PKG_CONFIG) --exists $(1)) && echo yes)
  # $(call need,name:package …): stops with a line that names all missing libraries and their packages
  lacks = $(strip $(foreach d,$(1),$(if $(call has,$(firstword $(subst :, ,$(d)))),,$(d))))
  need = $(if $(call lacks,$(1)),$(call missing,$(foreach d,$(call lacks,$(1)),$(firstword $(subst :, ,$(d)))),$(foreach d,$(call lacks,$(1)),$(lastword $(subst :, ,$(d))))))
  $(call need,$(DEPS))
  CORE_PKGS   := openblas lapacke
  SERVER_PKGS := libmicrohttpd jansson sqlite3 libpq libsodium gnutls zlib libseccomp
  CORE_LIBS   := $(call pkg,--libs $(CORE_PKGS)) -lunistring -lm
  SERVER_LIBS := $(call pkg,--libs $(SERVER_PKGS)) $(CORE_LIBS) -lpthread
  PKG_CFLAGS  := $(patsubst -I%,-isystem %,$(call pkg,--cflags $(CORE_PKGS) $(SERVER_PKGS)))
  # those of these flags that the compiler and the processor have
  HARDENING   := $(shell for f in -D_FORTIFY_SOURCE=3 -fstack-clash-protection -fcf-protection -ftrivial-auto-var-init=zero; do \
                   $(CC) -Werror -O2 $$f -x c -S -o /dev/null /dev/null 2>/dev/null && printf '%s ' $$f; done)
  # Looked up when the first test program is linked, and kept: `make all` does without these libraries.
  TEST_LIBS    = $(eval TEST_LIBS := $(call need,$(TEST_DEPS))$(call pkg,--libs cmocka libcurl))$(TEST_LIBS)
endif

# ---- flags ---------------------------------------------------------------------------------------
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wundef \
            -Wdouble-promotion -Wnull-dereference
CFLAGS   ?= -O2 -g
HARDEN   := -fstack-protector-strong -fPIE $(HARDENING)
LDHARDEN := -pie -Wl,-z,relro,-z,now
EXTRA    ?=
# The same sources give the same bytes in any folder: no path of this machine is in an object.
PREFIX_MAP := '-ffile-prefix-map=$(CURDIR)=.' '-ffile-prefix-map=$(abspath $(BUILD))=build'
COMMON   := -std=c17 $(WARNINGS) $(CFLAGS) $(HARDEN) $(EXTRA) $(PREFIX_MAP) -MMD -MP
# Objects of the core are compiled once, for the archive and for the shared object. Hidden symbols make
# position-independent code as fast as that of an executable; public headers mark visible functions.
CORE_CFLAGS   = $(COMMON) -fPIC -fvisibility=hidden -Icore/include -Icore $(PKG_CFLAGS)
SERVER_CFLAGS = $(COMMON) -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -DDISCERN_VERSION='"$(VERSION)"' -Icore/include -Iserver -I$(BUILD)/gen $(PKG_CFLAGS)
TEST_CFLAGS   = $(COMMON) -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -DDISCERN_VERSION='"$(VERSION)"' -Icore/include -Icore -Iserver -Itests -I$(BUILD)/gen $(PKG_CFLAGS)

# ---- sources -------------------------------------------------------------------------------------
CORE_SRC := $(sort $(filter-out core/examples/%,$(wildcard core/*/*.c core/*/*/*.c core/*/*/*/*.c)))
CORE_OBJ := $(CORE_SRC:%.c=$(BUILD)/obj/%.o)
# One archive for each module of the server: a unit test links only what its module may use.
MODULES  := base http auth store formats jobs serving api commands
MODULE_LIBS :=
define MODULE_template
$(1)_SRC := $$(sort $$(wildcard server/$(1)/*.c server/$(1)/*/*.c server/$(1)/*/*/*.c))
$(1)_OBJ := $$($(1)_SRC:%.c=$$(BUILD)/obj/%.o)
ifneq ($$($(1)_SRC),)
MODULE_LIBS += $$(BUILD)/lib/lib$(1).a
$$(BUILD)/lib/lib$(1).a: $$($(1)_OBJ)
endif
lib_$(1) := $$(if $$($(1)_SRC),$$(BUILD)/lib/lib$(1).a)
endef
$(foreach m,$(MODULES),$(eval $(call MODULE_template,$(m))))
LIBCORE := $(BUILD)/libdiscern.a
SHARED  := $(BUILD)/libdiscern.so.$(VERSION)
# what each module's tests link, in link order (the arrows of the architecture)
LINK_core    := $(LIBCORE)
LINK_base    := $(lib_base) $(LIBCORE)
LINK_http    := $(lib_http) $(lib_base) $(LIBCORE)
LINK_auth    := $(lib_auth) $(lib_base) $(LIBCORE)
LINK_store   := $(lib_store) $(lib_base) $(LIBCORE)
LINK_formats := $(lib_formats) $(lib_base) $(LIBCORE)
LINK_jobs    := $(lib_jobs) $(lib_formats) $(lib_store) $(lib_base) $(LIBCORE)
LINK_serving := $(lib_serving) $(lib_store) $(lib_base) $(LIBCORE)
LINK_api     := $(lib_api) $(lib_http) $(lib_auth) $(lib_jobs) $(lib_serving) $(lib_formats) $(lib_store) $(lib_base) $(LIBCORE)
LINK_commands := $(lib_commands) $(lib_auth) $(lib_store) $(lib_base) $(LIBCORE)
LINK_ALL     := $(lib_commands) $(LINK_api)

.DEFAULT_GOAL := all
.PHONY: all help clean
all: $(BUILD)/discernd $(LIBCORE) $(SHARED) ## build the daemon and the library

# One mkdir for all folders of objects and programs.
FOLDERS = $(sort $(dir $(OBJECTS) $(CRASHING) $(foreach g,$(SUITE),$(PROGRAMS_$(g))) $(BUILD)/lib/ $(BUILD)/gen/ $(BUILD)/fuzz/))
.PHONY: folders
folders:
	@mkdir -p $(FOLDERS)

$(BUILD)/obj/core/%.o: core/%.c | folders
	$(CC) $(CORE_CFLAGS) -c -o $@ $<

# loops over lanes as vectors of the processor they are compiled for (core/kernels/lanes.c)
$(BUILD)/obj/core/kernels/lanes.o: CORE_CFLAGS += -O3 -ffp-contract=fast

$(BUILD)/obj/server/%.o: server/%.c | folders
	$(CC) $(SERVER_CFLAGS) -c -o $@ $<

$(LIBCORE): $(CORE_OBJ)
	@rm -f $@
	$(AR) rcsD $@ $^

# All symbols must be defined (-z defs), except with a sanitizer, whose symbols the executable has.
$(SHARED): $(CORE_OBJ) core/libdiscern.map
	$(CC) $(CFLAGS) $(EXTRA) -shared -Wl,-soname,libdiscern.so.$(SOVERSION) -Wl,--version-script=core/libdiscern.map \
	  -Wl,-z,relro,-z,now $(if $(findstring -fsanitize,$(EXTRA)),,-Wl,-z,defs) -o $@ $(CORE_OBJ) $(CORE_LIBS)

$(BUILD)/lib/lib%.a:
	@rm -f $@
	$(AR) rcsD $@ $^

# discern-train, one rank of a training over MPI: left out if there is no Open MPI.
MPI := $(if $(filter undefined,$(origin has)),,$(call has,ompi-c))
ifeq ($(MPI),yes)
MPI_CFLAGS := $(patsubst -I%,-isystem %,$(call pkg,--cflags ompi-c))
TRAIN_OBJ  := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard server/train/*.c)))
$(BUILD)/obj/server/train/%.o: SERVER_CFLAGS += $(MPI_CFLAGS)
$(BUILD)/discern-train: $(TRAIN_OBJ) $(LINK_jobs)
	$(CC) $(CFLAGS) $(EXTRA) $(LDHARDEN) -o $@ $^ $(SERVER_LIBS) $(call pkg,--libs ompi-c)
all: $(BUILD)/discern-train
else
all: without-mpi
.PHONY: without-mpi
without-mpi:
	@echo "discern-train is left out: it needs Open MPI (apt-get install libopenmpi-dev openmpi-bin)"
endif

MAIN_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard server/*.c)))
$(BUILD)/discernd: $(MAIN_OBJ) $(LINK_ALL)
	$(CC) $(CFLAGS) $(EXTRA) $(LDHARDEN) -o $@ $^ $(SERVER_LIBS)

# Files that are part of the binary become lists of bytes in $(BUILD)/gen, made by od and sed.
define MIGRATIONS_template
$$(BUILD)/gen/migrations_$(1).inc: $$(sort $$(wildcard migrations/$(1)/*.sql)) Makefile
	@mkdir -p $$(@D)
	@{ for f in $$(filter %.sql,$$^); do \
	     printf '{ "%s", (const char[]){' "$$$$(basename $$$$f)"; od -An -v -tx1 "$$$$f" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'; printf '0}, %s },\n' "$$$$(wc -c < $$$$f)"; done; } > $$@
endef
$(foreach m,sqlite postgresql,$(eval $(call MIGRATIONS_template,$(m))))
$(BUILD)/obj/server/store/sqlite/file/migrate.o: $(BUILD)/gen/migrations_sqlite.inc
$(BUILD)/obj/server/store/postgres/migrate.o: $(BUILD)/gen/migrations_postgresql.inc
$(BUILD)/gen/openapi.inc: server/api/operations/openapi.json Makefile
	@mkdir -p $(@D)
	@od -An -v -tx1 $< | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g' > $@
$(BUILD)/obj/server/api/operations/openapi.o: $(BUILD)/gen/openapi.inc
# server/docs/NAME.md becomes the page /docs/NAME: its title is the first line; links to NAME.md become
# links to the page NAME. On the page /docs (index.md) they begin with docs/. tables.awk makes HTML tables.
DOCS := $(sort $(wildcard server/docs/*.md))
$(BUILD)/gen/docs.inc: $(DOCS) server/docs/tables.awk Makefile $(BUILD)/gen/names
	@mkdir -p $(@D)
	@{ for f in $(DOCS); do \
	     name=$$(basename $$f .md); [ $$name = index ] && folder=docs/ || folder=; \
	     printf '{ "%s", "%s", (const unsigned char[]){' $$name "$$(sed -n '1s/^# //p' $$f)"; \
	     $(CMARK) $$f | awk -f server/docs/tables.awk | sed "s|href=\"\([a-z-]*\)\.md|href=\"$$folder\1|g" > $(@D)/docs.html; \
	     od -An -v -tx1 $(@D)/docs.html | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'; printf '0}, %s },\n' "$$(wc -c < $(@D)/docs.html)"; done; } > $@
$(BUILD)/gen/docs_style.inc: server/docs/style.css Makefile
	@mkdir -p $(@D)
	@od -An -v -tx1 $< | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g' > $@
$(BUILD)/obj/server/api/operations/docs.o: $(BUILD)/gen/docs.inc $(BUILD)/gen/docs_style.inc
# The files of the page: server/ui, d3, Preact and their licences. Indentation, comments that
# fill lines and comments behind code are left out (tests/lint/scripts.js refuses what this would damage). Preact's modules
# import each other without ".js", which browsers need. `embedded` names the packages for deploy/sbom.
# ui_digest.inc has the digest of all files, which is a part of their paths.
UI := $(sort $(wildcard $(addprefix server/ui/,*.html *.css *.svg *.js */*.js */*/*.js)))
UI_STRIP := sed -E '/^[ \t]*\/\*.*\*\/ *$$/d; /^[ \t]*\/\*([^*]|\*[^/])*$$/,/\*\/ *$$/d; s/^[ \t]+//; s| +/\*[^*'\''"`]*\*/ *$$||; /^$$/d'
UI_STRIP_CSS := sed -E 's/: /:/g; s/; /;/g; s/ \{ ?/{/; s/;? *\} *$$/}/'
UI_LICENCES := $(wildcard $(patsubst %,/usr/share/doc/node-%/copyright,preact d3 $(D3_PARTS:%=d3-%)))
$(BUILD)/gen/ui.inc $(BUILD)/gen/ui_digest.inc &: $(UI) $(D3_FILES) $(wildcard $(addprefix $(PREACT)/,*.js */*.js)) Makefile $(BUILD)/gen/names
	@rm -rf $(@D)/ui && mkdir -p $(@D)/ui/d3 $(@D)/ui/preact/dom $(@D)/ui/preact/vdom
	@for f in $(UI:server/ui/%=%); do mkdir -p $(@D)/ui/$$(dirname $$f); case $$f in \
	     *.css) $(UI_STRIP) server/ui/$$f | $(UI_STRIP_CSS);; *.js) $(UI_STRIP) server/ui/$$f;; *) cat server/ui/$$f;; esac > $(@D)/ui/$$f; done
	@for f in $(D3_FILES); do cat $$f; echo; done > $(@D)/ui/d3/d3.js
	@for f in $$(cd $(PREACT) && echo *.js dom/*.js vdom/*.js); do \
	     sed "s|\(from '\.[^']*\)'|\1.js'|" $(PREACT)/$$f | $(UI_STRIP) | sed '/^\/\//d' > $(@D)/ui/preact/$$f; done
	@for f in $(UI_LICENCES); do printf '==== %s\n\n' "$$(basename $$(dirname $$f))"; cat $$f; echo; done > $(@D)/ui/licences.txt
	@dpkg-query -W -f '$${Package}\t$${Version}\t$${Architecture}\t$${source:Package}\t$${source:Version}\t$${Maintainer}\t$${Homepage}\n' \
	  $(D3_PARTS:%=node-d3-%) node-preact > $(@D)/embedded 2>/dev/null || : > $(@D)/embedded
	@cd $(@D)/ui && find . -type f | LC_ALL=C sort | sed 's|^\./||' > ../ui.list
	@cd $(@D)/ui && for f in $$(cat ../ui.list); do \
	     printf '{ "%s", (const unsigned char[]){' $$f; od -An -v -tx1 $$f | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'; printf '0}, %s },\n' "$$(wc -c < $$f)"; done > ../ui.inc
	@cd $(@D)/ui && sha256sum $$(cat ../ui.list) | sha256sum | sed 's/^\(.\{16\}\).*/"\1"/' > ../ui_digest.inc
$(BUILD)/obj/server/api/operations/ui.o: $(BUILD)/gen/ui.inc $(BUILD)/gen/ui_digest.inc
# The names of the embedded files: changes when one is added or removed.
$(BUILD)/gen/names: FORCE
	@mkdir -p $(@D)
	@echo $(DOCS) $(UI) $(D3_FILES) $(UI_LICENCES) > $@.new && if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# ---- tests ---------------------------------------------------------------------------------------
# The programs that tests/suite runs. A test_*.c is a program. Each other .c of tests/lib, tests/unit,
# tests/api and tests/ui (but pictures.c and times.c) is in libtest.a, from which a program links what it uses.
$(BUILD)/obj/tests/%.o: tests/%.c | folders
	$(CC) $(TEST_CFLAGS) -c -o $@ $<
TEST_SRC := $(wildcard $(addprefix tests/,lib/*.c api/*.c ui/*.c unit/*/*.c unit/core/*/*.c unit/core/*/*/*.c unit/core/*/*/*/*.c))
TEST_LIB_SRC := $(sort $(foreach f,$(TEST_SRC),$(if $(filter test_% pictures.c times.c,$(notdir $(f))),,$(f))))
TEST_LIB := $(BUILD)/lib/libtest.a
$(TEST_LIB): $(TEST_LIB_SRC:%.c=$(BUILD)/obj/%.o)
# There are hundreds of test programs, and gold links them in less than half the time.
TEST_LD  := $(if $(shell command -v ld.gold),-fuse-ld=gold)
TEST_LINK = $(CC) $(CFLAGS) $(EXTRA) $(LDHARDEN) $(TEST_LD) -o $@ $^

# unit: tests/unit/<module>/test_x.c links its module and the modules below it. The tests of the
# core are in tests/unit/core/, in folders of the same names.
UNIT_SRC := $(sort $(wildcard $(addprefix tests/unit/,*/test_*.c core/*/test_*.c core/*/*/test_*.c core/*/*/*/test_*.c)))
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%)
define UNIT_template
$(BUILD)/unit/$(1)/%: $(BUILD)/obj/tests/unit/$(1)/%.o $(TEST_LIB) $(LINK_$(firstword $(subst /, ,$(1))))
	$$(TEST_LINK) $$(TEST_LIBS) $$(SERVER_LIBS)
endef
$(foreach d,$(sort $(patsubst tests/unit/%/,%,$(dir $(UNIT_SRC)))),$(eval $(call UNIT_template,$(d))))

# api: libcurl against a real daemon ($DISCERND). They link the server to read its route table.
API_SRC := $(sort $(wildcard tests/api/test_*.c))
API_BIN := $(API_SRC:tests/%.c=$(BUILD)/%)
$(API_BIN): $(BUILD)/api/%: $(BUILD)/obj/tests/api/%.o $(TEST_LIB) $(LINK_ALL)
	$(TEST_LINK) $(TEST_LIBS) $(SERVER_LIBS)

# ui: the page in Chromium, driven by WebDriver; and the tool tests/ui/screenshots
UI_TEST_SRC := $(sort $(wildcard tests/ui/test_*.c)) tests/ui/pictures.c tests/ui/times.c
UI_TEST_BIN := $(UI_TEST_SRC:tests/%.c=$(BUILD)/%)
$(UI_TEST_BIN): $(BUILD)/ui/%: $(BUILD)/obj/tests/ui/%.o $(TEST_LIB) $(LINK_ALL)
	$(TEST_LINK) $(TEST_LIBS) $(SERVER_LIBS)

# crashing: the daemon whose process ends when a job for one model starts, or whose disk fails, for
# tests of recovery
CRASHING := $(BUILD)/crashing/discernd
CRASHING_SRC := $(sort $(wildcard tests/crashing/*.c))
$(CRASHING): $(CRASHING_SRC:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/tests/lib/faulty_vfs.o $(MAIN_OBJ) $(LINK_ALL)
	$(TEST_LINK) -Wl,--wrap=training_run,--wrap=heap_share $(SERVER_LIBS)

# readers: programs that print how a reader parses a body. tests/readers/test_* compare this with
# other parsers.
READER_SRC := $(sort $(wildcard tests/readers/*.c))
READER_BIN := $(READER_SRC:tests/%.c=$(BUILD)/%)
$(READER_BIN): $(BUILD)/readers/%: $(BUILD)/obj/tests/readers/%.o $(LINK_formats)
	$(TEST_LINK) $(SERVER_LIBS)

# examples: a user's program, linked with the library alone
EXAMPLE_SRC := $(sort $(wildcard core/examples/*.c))
EXAMPLE_BIN := $(EXAMPLE_SRC:core/%.c=$(BUILD)/%)
$(EXAMPLE_BIN): $(BUILD)/examples/%: $(BUILD)/obj/core/examples/%.o $(LIBCORE)
	$(TEST_LINK) $(CORE_LIBS)

# fuzz: tests/fuzz/fuzz_x.c has an LLVMFuzzerTestOneInput. `make test` replays the corpus and the
# crashing inputs that were kept; `make fuzz` searches for more.
FUZZ_SRC   := $(sort $(wildcard tests/fuzz/fuzz_*.c))
REPLAY_BIN := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/replay/%)
$(REPLAY_BIN): $(BUILD)/replay/%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/obj/tests/fuzz/support.o $(BUILD)/obj/tests/fuzz/replay.o $(LINK_ALL)
	$(TEST_LINK) $(SERVER_LIBS)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/fuzz/%)
$(FUZZ_BIN): $(BUILD)/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/obj/tests/fuzz/support.o $(LINK_ALL)
	$(TEST_LINK) -fsanitize=fuzzer $(SERVER_LIBS)

.PHONY: unit programs objects test lint asan tsan fuzz fuzzers fuzz-requests request-fuzzer analyze reproducible valgrind bench soak
unit: $(UNIT_BIN) ## run the unit tests alone
	BUILD=$(BUILD) tests/suite unit
# The programs of each group of tests/suite; the other groups are scripts. SUITE: the groups that `programs` builds
# and that test, asan and tsan run. CLIENTS: another build whose programs of the group api are used.
PROGRAMS_unit     := $(UNIT_BIN)
PROGRAMS_api      := $(if $(CLIENTS),,$(API_BIN)) $(CRASHING)
PROGRAMS_ui       := $(UI_TEST_BIN)
PROGRAMS_readers  := $(READER_BIN)
PROGRAMS_examples := $(EXAMPLE_BIN)
PROGRAMS_replay   := $(REPLAY_BIN)
SUITE ?= unit examples replay readers api curl clients proxy ui tools
programs: all $(foreach g,$(SUITE),$(PROGRAMS_$(g)))
OBJECTS := $(CORE_OBJ) $(foreach m,$(MODULES),$($(m)_OBJ)) $(MAIN_OBJ) $(TRAIN_OBJ) \
           $(patsubst %.c,$(BUILD)/obj/%.o,$(TEST_SRC) $(EXAMPLE_SRC) $(READER_SRC) $(wildcard tests/fuzz/*.c) $(CRASHING_SRC))
objects: $(OBJECTS) ## compile all sources and link nothing
test: programs ## build and run the test suite, or the groups in SUITE
	BUILD=$(BUILD) tests/suite $(SUITE)
lint: all ## layout, format, includes, public headers, symbols, call graph, lengths, clang-tidy, shellcheck
	BUILD=$(BUILD) tests/lint/run

analyze: all ## gcc's static analyser; clang's is part of lint
	BUILD=$(BUILD) tests/lint/analyze
reproducible: ## build twice in different folders and compare discernd and the libraries
	REPRODUCIBLE=all BUILD=$(BUILD) tests/tools/test_reproducible

# Sanitizer builds do without _FORTIFY_SOURCE, whose wrappers hide calls from the sanitizers.
comma := ,
SANITIZE = $(MAKE) BUILD=$(BUILD)-$(1) HARDEN=-fPIE CFLAGS="-O1 -g1" EXTRA="-fsanitize=$(2) -fno-sanitize-recover=all -fno-omit-frame-pointer $(EXTRA)"
# They write reports to files and start programs, which the sandbox refuses.
SLOWER = TEST_TIMEOUT=900 REFUSAL_MB=12 DISCERN_NO_SANDBOX=true
asan: ## the suite (SUITE) under AddressSanitizer and UndefinedBehaviorSanitizer
	+WITHOUT_BROWSER="under a sanitizer" $(SLOWER) $(call SANITIZE,asan,address$(comma)undefined) test
tsan: ## the suite (SUITE) under ThreadSanitizer
	+WITHOUT_BROWSER="under a sanitizer" $(SLOWER) $(call SANITIZE,tsan,thread) test
FUZZ_SECONDS ?= $(if $(FUZZ_RUNS),0,60)
FUZZ_RUNS    ?=
fuzz: ## run every fuzzer for FUZZ_SECONDS (60), or for FUZZ_RUNS inputs, with clang's libFuzzer
	$(MAKE) CC=clang BUILD=$(BUILD)-fuzz HARDEN=-fPIE CFLAGS="-O2 -g" EXTRA="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" fuzzers
	BUILD=$(BUILD)-fuzz FUZZ_RUNS=$(FUZZ_RUNS) FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run
fuzzers: $(FUZZ_BIN)
FUZZ_REQUESTS ?= 100000
fuzz-requests: ## send FUZZ_REQUESTS (100000) generated requests to a daemon with AddressSanitizer and UBSan
	+$(call SANITIZE,asan,address$(comma)undefined) request-fuzzer
request-fuzzer: $(BUILD)/discernd $(BUILD)/api/test_request_fuzzer
	DISCERND=$(BUILD)/discernd DISCERN_NO_SANDBOX=true FUZZ_REQUESTS=$(FUZZ_REQUESTS) $(BUILD)/api/test_request_fuzzer
valgrind: programs ## the API suite with the daemon under valgrind
	BUILD=$(BUILD) tests/valgrind/run

# ---- benchmarks and endurance tests; not part of the test suite ------------------------------------
$(BUILD)/bench/%: tests/bench/%.c
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $(LDHARDEN) -o $@ $< $(SERVER_LIBS)
bench: all $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c)) ## speed beside a bare libmicrohttpd handler (needs wrk, curl)
	BUILD=$(BUILD) tests/bench/run
soak: programs ## kill -9 at random moments, faults of disk and memory, damaged databases, minutes of load, generated requests, all flows of the page behind nginx, daemons that are killed beside others (needs wrk, curl, jq, sqlite3, python3, openssl)
	BUILD=$(BUILD) tests/soak/kill9
	BUILD=$(BUILD) tests/soak/faults
	BUILD=$(BUILD) tests/soak/corrupt
	BUILD=$(BUILD) tests/soak/load
	BUILD=$(BUILD) tests/soak/daemons
	BUILD=$(BUILD) SECONDS_OF_LOAD=$${SECONDS_OF_LOAD:-60} tests/soak/mixed
	DISCERND=$(BUILD)/discernd FUZZ_REQUESTS=$(FUZZ_REQUESTS) $(BUILD)/api/test_request_fuzzer
	DISCERND=$(BUILD)/discernd WALK=all $(BUILD)/api/test_openapi_walk
	for t in flows shell; do \
	     DISCERND=$(BUILD)/discernd BUILD=$(BUILD) ALL_FLOWS=1 tests/ui/test_$${t}_behind_nginx || [ $$? -eq 77 ] || exit 1; done

# ---- installation --------------------------------------------------------------------------------------------------------------
.PHONY: install uninstall
bindir     = $(PREFIX)/bin
libdir     = $(PREFIX)/lib
includedir = $(PREFIX)/include
unitdir    = $(PREFIX)/lib/systemd/system
docdir     = $(PREFIX)/share/doc/discern
.PHONY: FORCE
$(BUILD)/discern.pc: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' 'Name: discern' \
	  'Description: discriminant functions: training, prediction, evaluation' 'Version: $(VERSION)' 'Requires.private: openblas lapacke' \
	  'Libs: -L$${libdir} -ldiscern' 'Libs.private: -lunistring -lm' 'Cflags: -I$${includedir}' > $@
install: all $(BUILD)/discern.pc ## install to $(DESTDIR)$(PREFIX): binaries, libraries, headers, discern.pc, systemd unit
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(includedir)/discern $(DESTDIR)$(unitdir)
	install -m 755 $(BUILD)/discernd $(if $(MPI),$(BUILD)/discern-train) $(DESTDIR)$(bindir)/
	install -m 644 $(LIBCORE) $(DESTDIR)$(libdir)/libdiscern.a
	install -m 644 $(SHARED) $(DESTDIR)$(libdir)/libdiscern.so.$(VERSION)
	ln -sf libdiscern.so.$(VERSION) $(DESTDIR)$(libdir)/libdiscern.so.$(SOVERSION)
	ln -sf libdiscern.so.$(SOVERSION) $(DESTDIR)$(libdir)/libdiscern.so
	install -m 644 core/include/discern/*.h $(DESTDIR)$(includedir)/discern/
	install -m 644 $(BUILD)/discern.pc $(DESTDIR)$(libdir)/pkgconfig/discern.pc
	install -d $(DESTDIR)$(docdir)
	install -m 644 $(BUILD)/gen/ui/licences.txt $(BUILD)/gen/embedded $(DESTDIR)$(docdir)/
	sed 's|/usr/local/bin/|$(bindir)/|' deploy/discernd.service > $(BUILD)/discernd.service
	install -m 644 $(BUILD)/discernd.service $(DESTDIR)$(unitdir)/discernd.service
uninstall: ## remove the installed files
	rm -f $(addprefix $(DESTDIR)$(bindir)/,discernd discern-train) $(DESTDIR)$(libdir)/libdiscern.a $(DESTDIR)$(libdir)/pkgconfig/discern.pc \
	  $(addprefix $(DESTDIR)$(libdir)/libdiscern.so,.$(VERSION) .$(SOVERSION)) $(DESTDIR)$(libdir)/libdiscern.so $(DESTDIR)$(unitdir)/discernd.service
	rm -rf $(DESTDIR)$(includedir)/discern
	rm -f $(DESTDIR)$(docdir)/licences.txt $(DESTDIR)$(docdir)/embedded
	-rmdir $(DESTDIR)$(docdir) 2>/dev/null

.PHONY: format
format: ## rewrite the sources with clang-format
	clang-format-16 -i $$(find core server tests -name '*.[ch]' -o -name '*.cpp')

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile

clean: ## remove everything built
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.SECONDARY:
