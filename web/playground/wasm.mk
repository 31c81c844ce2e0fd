# wasm.mk - the simulator as WebAssembly: OUT/volery.js and OUT/volery.wasm, from the project's sources and those of sources.lock in
# OUT/sources. Run from the top: make -f web/playground/wasm.mk OUT=build/playground. Same flags of arithmetic as every other build,
# so the same bits: tools/matrix.sh proves it for the golden scenes, tests/playground for the shipped scenarios.
OUT ?= build/playground
EMCC ?= emcc
export NODE_PATH := /usr/share/nodejs# where Debian's emscripten finds its parser
objects := $(OUT)/objects
library := $(OUT)/sources

# Of src/ what parses, flies and logs; batches, programs, bridges and campaigns are not for a page. Of these files the linker takes
# what is asked for.
folders := base equations geometry environment dynamics vehicle sensors estimators control world record scenario
own := $(filter-out %/step_avx2.c %/step_avx512.c %/digest_openssl.c, $(wildcard $(folders:%=src/%/*.c)))
app := $(wildcard app/playground/*.c) $(patsubst %,app/%.c,files flight json load message page_info progress shipped signals)
yaml := $(wildcard $(library)/libfyaml/src/lib/*.c) $(library)/libfyaml/src/xxhash/xxhash.c
hull := $(filter-out %/rboxlib_r.c %/userprintf_rbox_r.c, $(wildcard $(library)/qhull/src/libqhull_r/*.c))
sums := $(library)/zlib/crc32.c $(library)/zlib/zutil.c

exact := -std=c17 -ffp-contract=off -fno-math-errno -fno-vectorize -fno-slp-vectorize -DNDEBUG
include := -Iinclude -Isrc -Iapp -Iapp/playground -isystem $(OUT)/include -isystem $(library)/libfyaml/include -isystem $(library)/qhull/src -isystem $(library)/zlib
# What a step is made of is made fast, the rest small: a page is fetched.
flags = $(exact) $(include) -O3
small := $(filter-out %/step.c %/state.c %/filter.c %/sensor_suite.c %/controller_stage.c, $(wildcard src/world/*.c)) $(wildcard src/scenario/*.c src/record/*.c) \
    src/dynamics/contact_kernel_2.c
$(small:%.c=$(objects)/%.o): flags = $(exact) $(include) -Os
$(objects)/src/record/file.o: flags = $(exact) $(include) -Os -include app/playground/system.h
$(objects)/app/%.o: flags = $(exact) $(include) -Os -D_POSIX_C_SOURCE=200809L
$(yaml:$(library)/%.c=$(objects)/%.o): flags = -Os -w -DNDEBUG -DVERSION='"0.7.12"' -D_GNU_SOURCE -I$(library)/libfyaml/include \
    -I$(library)/libfyaml/src -I$(library)/libfyaml/src/lib -I$(library)/libfyaml/src/xxhash
$(hull:$(library)/%.c=$(objects)/%.o): flags = -Os -w -ffp-contract=off -I$(library)/qhull/src
$(sums:$(library)/%.c=$(objects)/%.o): flags = -O2 -w -DZ_SOLO -I$(library)/zlib

program := $(patsubst %.c,$(objects)/%.o,$(app))
libraries := $(patsubst %.c,$(objects)/%.o,$(own)) $(patsubst $(library)/%.c,$(objects)/%.o,$(yaml) $(hull) $(sums))
LEVEL ?= -Os# of what is done to the whole at the end, which takes longest
link := $(LEVEL) -sMODULARIZE=1 -sEXPORT_NAME=createVolery -sENVIRONMENT=worker,node -sALLOW_MEMORY_GROWTH=1 -sTOTAL_STACK=8MB -sFORCE_FILESYSTEM=1 \
    -sEXPORTED_FUNCTIONS=_vy_playground_fly,_vy_playground_schema -sEXPORTED_RUNTIME_METHODS=ccall,FS --no-entry

$(OUT)/volery.js: $(program) $(OUT)/libraries.a $(OUT)/flags
	@$(EMCC) $(link) $(program) $(OUT)/libraries.a -o $@

$(OUT)/libraries.a: $(libraries)
	@rm -f $@ && emar qc $@ $^

$(objects)/%.o: %.c $(OUT)/flags | $(OUT)/include
	@mkdir -p $(@D)
	@$(EMCC) $(flags) -MMD -MP -c $< -o $@

$(objects)/%.o: $(library)/%.c $(OUT)/flags
	@mkdir -p $(@D)
	@$(EMCC) $(flags) -MMD -MP -c $< -o $@

# An object is made anew when a flag or the compiler has changed.
$(OUT)/flags: web/playground/wasm.mk
	@mkdir -p $(@D) && { echo '$(exact)'; $(EMCC) --version | sed -n 1p; } >$@.new && { cmp -s $@.new $@ || cp $@.new $@; }

# A cross compiler must not see this machine's /usr/include, so these headers come from copies.
$(OUT)/include:
	@mkdir -p $@.part && for header in xxhash.h zstd.h zstd_errors.h; do \
	    cp "$$(echo "#include <$$header>" | cc -M -x c - | tr ' ' '\n' | grep "/$$header$$")" $@.part/ || exit 1; done && mv $@.part $@

-include $(shell find $(objects) -name '*.d' 2>/dev/null)
