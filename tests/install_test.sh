#!/bin/bash
# install_test.sh BUILD - install a build into a temporary prefix and use it as a stranger would: the headers alone
# in C17 and C++17, the example by pkg-config (shared and static) and by CMake, all three giving the same flight.
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
prefix=$temp/prefix

fail() { echo "install: $*"; exit 1; }
cmake --install "$build" --prefix "$prefix" >/dev/null
for file in bin/volery lib/libvolery.a lib/libvolery.so include/volery/world.h lib/pkgconfig/volery.pc \
    lib/cmake/volery/volery-config.cmake share/man/man1/volery.1 share/zsh/site-functions/_volery \
    share/bash-completion/completions/volery share/volery/scenarios/hover.yaml share/volery/vehicles/crazyflie2x.yaml; do
    [ -e "$prefix/$file" ] || fail "$file is not installed"
done

"$prefix/bin/volery" run hover --no-log --quiet --duration 1 --set 'expect=[]' || fail "the installed command does not fly"

exported=$(nm -D --defined-only "$prefix/lib/libvolery.so" | awk '{ print $3 }')
# shellcheck disable=SC2086 # a list of words
strangers=$(printf '%s\n' $exported | grep -v '^vy_' || true)
[ -z "$strangers" ] || fail "libvolery.so exports $strangers"
grep -qx vy_world_step <<<"$exported" || fail "libvolery.so does not export vy_world_step"
objdump -p "$prefix/lib/libvolery.so" | grep -q 'SONAME *libvolery\.so\.[0-9]' || fail "libvolery.so has no soname"

for header in "$prefix"/include/volery/*.h; do
    name=volery/$(basename "$header")
    for language in "c gcc -std=c17" "c++ g++ -std=c++17"; do
        # shellcheck disable=SC2086 # a compiler and its flags
        printf '#include <%s>\nextern int one_declaration;\n' "$name" |
            ${language#* } -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" -x ${language%% *} -
    done
done

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# shellcheck disable=SC2046 # flags are words
gcc -o "$temp/shared" examples/first_flight.c $(pkg-config --cflags --libs volery)
cmake -S examples -B "$temp/cmake" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$temp/cmake" >/dev/null
shared=$(LD_LIBRARY_PATH=$prefix/lib "$temp/shared")
by_cmake=$("$temp/cmake/first_flight")
"$temp/cmake/own_constraint" || fail "the example with a constraint of its own does not hold"
"$temp/cmake/wrecking_ball" || fail "the example with contacts leaves its tower standing, or lets it sink"

# C++ may use everything, the null handles and a plug-in too, without a word from a strict compiler.
cat >"$temp/plug.cpp" <<'TEXT'
#include <volery/joint.h>
#include <volery/plugin.h>
#include <volery/world.h>
static void *init(const vy_plugin_start *start, char *, size_t) { return new double(start->mass); }
static void step(void *self, const vy_samples *, vy_intent *intent)
{
    intent->rung = VY_RUNG_WRENCH;
    intent->thrust = 9.80665 * *static_cast<double *>(self);
}
static void done(void *self) { delete static_cast<double *>(self); }
VY_PLUGIN(init, step, done)
bool nobody(vy_body_id b, vy_joint_id j, vy_drone_id d)
{
    const vy_body_id body = VY_NULL_BODY;
    const vy_joint_id joint = VY_NULL_JOINT;
    const vy_drone_id drone = VY_ALL_DRONES;
    return b.bits == body.bits && j.bits == joint.bits && d.bits == drone.bits;
}
TEXT
g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fPIC -shared -I"$prefix/include" "$temp/plug.cpp" -o "$temp/plug.so"
"$prefix/bin/volery" run hover --no-log --quiet --duration 1 --set 'expect=[]' \
    --set "drones.alpha.controller={kind: plugin, library: $temp/plug.so}" || fail "a plug-in in C++ does not fly"

rm "$prefix"/lib/libvolery.so* # now -lvolery is libvolery.a
# shellcheck disable=SC2046
gcc -o "$temp/static" examples/first_flight.c $(pkg-config --static --cflags --libs volery)
static=$("$temp/static")
echo "$shared"
[ -n "$shared" ] || fail "the example printed nothing"
if [ "$shared" != "$static" ] || [ "$shared" != "$by_cmake" ]; then fail "static: $static, CMake: $by_cmake"; fi
echo "install: ok"
