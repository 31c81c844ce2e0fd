#!/bin/bash
# gates_test.sh BUILD - each gate of tools/ must fail on a copy of the tree with one breach planted, for that breach.
# Also the packages: without root, one line to run and exit status 2.
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
failures=0

mkdir "$temp/clean"
tools/list_files.sh | tar -cf - -T - | tar -xf - -C "$temp/clean"
fresh_copy() { # an unspoilt copy of the tree in $temp/tree
    rm -rf "$temp/tree"
    cp -r "$temp/clean" "$temp/tree"
}

# must_fail WHAT EXPECTED COMMAND...: the command, run in the copy, fails and says EXPECTED.
must_fail() {
    local what=$1 expected=$2 text
    shift 2
    if text=$(cd "$temp/tree" && "$@" 2>&1); then
        echo "not caught: $what"
        failures=$((failures + 1))
    elif ! grep -qF -- "$expected" <<<"$text"; then
        printf 'caught for another reason: %s\n%s\n' "$what" "$text"
        failures=$((failures + 1))
    else
        echo "caught: $what"
    fi
}

# plant WHAT FILE LINE EXPECTED COMMAND...: append LINE to FILE of a fresh copy; then must_fail.
plant() {
    fresh_copy
    mkdir -p "$(dirname "$temp/tree/$2")"
    printf '%s\n' "$3" >>"$temp/tree/$2"
    must_fail "$1" "$4" "${@:5}"
}

plant "base includes world" src/base/status.c '#include "world/world.h"' \
    "base may not include world/world.h" tools/check_layers.sh
plant "control includes the public world" src/control/planted.c '#include "volery/world.h"' \
    "control may not include volery/world.h" tools/check_layers.sh
plant "control includes the truth" src/control/planted.c '#include "dynamics/body.h"' \
    "control may not include dynamics/body.h" tools/check_layers.sh
plant "a public header includes an internal one" include/volery/status.h '#include "base/fail.h"' \
    "a public header may not include base/fail.h" tools/check_layers.sh
plant "a public header without a home" include/volery/planted.h '#include "volery/types.h"' \
    "volery/planted.h has no home" tools/check_layers.sh
plant "a folder nobody declared" src/planted/planted.c '#include "base/real.h"' \
    "folder planted is not in" tools/check_layers.sh
plant "a public function in the caller's rounding" src/base/status.c 'double vy_shape_mass(double x) { return x * x; }' \
    "vy_shape_mass has no FPU_SCOPE" tools/check_fpu.sh
plant "a sensor by name elsewhere" src/world/world.c 'static vy_lidar_def planted;' \
    "src/world/world.c names the sensor lidar" tools/check_components.sh
plant "a sample by its member" src/world/world.c 'double planted(const vy_samples *m) { return m->airspeed.speed; }' \
    "src/world/world.c names the sensor airspeed" tools/check_components.sh
plant "a user that is none" tools/component_users.txt 'lidar src/world/world.c' \
    "src/world/world.c does not name the sensor lidar" tools/check_components.sh
plant "an estimator by name elsewhere" src/world/world.c 'static ekf_params planted;' \
    "src/world/world.c names the estimator ekf" tools/check_components.sh
plant "a part of a vehicle by name elsewhere" src/record/log.c 'static vy_battery_def planted;' \
    "src/record/log.c names the part battery" tools/check_components.sh
plant "a payload by name elsewhere" src/record/log.c 'static payload_block planted;' \
    "src/record/log.c names the component payload" tools/check_components.sh
plant "contacts by name elsewhere" src/record/log.c 'static contact_totals_block planted;' \
    "src/record/log.c names the component contact" tools/check_components.sh
plant "a kind of joint by name elsewhere" src/record/log.c 'static int planted = VY_JOINT_HINGE;' \
    "src/record/log.c names the joint hinge" tools/check_components.sh
plant "bad format" src/base/status.c 'int  planted( void );' "src/base/status.c" tools/check_format.sh
plant "a machine's path" README.md "see /""home/someone/notes" "README.md:" tools/check_words.sh
plant "a word of our own" src/dynamics/contacts.h 'int grip_11;' "src/dynamics/contacts.h:" tools/check_words.sh
plant "a name that has to be guessed" src/dynamics/contacts.h 'int weigh_row;' "src/dynamics/contacts.h:" tools/check_words.sh
plant "a registry" web/package-lock.json "https://registry.""npmjs.org/three" "package-lock.json:" tools/check_words.sh

plant "a package without its hash" tests/planted_test.sh 'venv/bin/pip install --quiet numpy' \
    "take packages without --require-hashes" tools/check_pins.sh
plant "a package that is built with others without a hash" tests/planted_test.sh 'venv/bin/pip install --require-hashes -r a.txt' \
    "or build with what has none" tools/check_pins.sh
plant "a list with a package that has no hash" tests/bridge/requirements.txt 'planted==1.0' \
    "without a version and a hash" tools/check_pins.sh

# A sensor gets as arguments what it declares to need: another declaration does not compile.
wrong_need() { # wrong_need SENSOR NEED OTHER
    fresh_copy
    sed -i "s/ $1, $2,/ $1, $3,/" "$temp/tree/src/sensors/sensors.h"
    must_fail "$1 declares $3" "$1_sample" gcc -std=c17 -Werror -fsyntax-only -Iinclude -Isrc src/world/sensor_suite.c
}
wrong_need baro STILL_AIR NOTHING
wrong_need gps NOTHING RAYS
wrong_need range RAYS ROTORS

# Symbols are seen in objects, so the copy has one planted object next to those of the build.
objects=$build/CMakeFiles/volery_objects.dir
plant_symbol() { # plant_symbol WHAT EXPECTED CODE: an object of src/base made of CODE
    fresh_copy
    printf '%s\n' "$3" >"$temp/tree/src/base/planted.c"
    rm -rf "$temp/build" && mkdir -p "$temp/build/CMakeFiles"
    cp -r "$objects" "$temp/build/CMakeFiles/"
    gcc -O0 -c "$temp/tree/src/base/planted.c" -o "$temp/build/CMakeFiles/volery_objects.dir/src/base/planted.c.o"
    must_fail "$1" "src/base/planted.c $2" tools/check_symbols.sh "$temp/build"
}
plant_symbol "libm" "needs sin" 'extern double sin(double); double vy_planted(double x) { return sin(x); }'
plant_symbol "rand" "needs rand" 'extern int rand(void); int vy_planted(void) { return rand(); }'
plant_symbol "the clock" "needs time" 'extern long time(long *); long vy_planted(void) { return time(0); }'
plant_symbol "memory outside its files" "needs malloc" \
    'extern void *malloc(unsigned long); void *vy_planted(void) { return malloc(1); }'
plant_symbol "a name without vy_" "gives planted" 'int planted(void) { return 1; }'

# A package nobody has; nobody is a user without root.
fresh_copy
chmod -R a+rX "$temp"
sed -i 's/^\[demo\]$/&\nvolery-planted-package/' "$temp/tree/packages.txt"
as_user=
[ "$(id -u)" -ne 0 ] || as_user="setpriv --reuid=65534 --clear-groups"
# shellcheck disable=SC2086 # none or several words
must_fail "missing package without root" "apt-get install -y --no-install-recommends volery-planted-package" \
    $as_user tools/install_packages.sh demo

[ $failures -eq 0 ] || { echo "gates: $failures failures"; exit 1; }
echo "gates: each can fail"
