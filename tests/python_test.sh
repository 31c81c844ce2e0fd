#!/bin/sh
# python_test.sh BUILD [wheel] - the Python package: installed by pip into BUILD/python_test, then its tests, and the JSON Schema
# of scenarios before a validator. The library is that of BUILD; with `wheel` pip builds it itself, auditwheel puts the libraries that it
# needs into it, and build/wheel has the wheel that is tested. Where python3 or the packages of PyPI cannot be had it is skipped, and
# the last line says so.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
work=$build/python_test
mkdir -p "$work"

packages() {
    rm -rf "$work/venv"
    python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet --only-binary :all: --require-hashes -r python/tests/requirements.txt
}
if ! cmp -s python/tests/requirements.txt "$work/done"; then
    if ! packages >"$work/pip.log" 2>&1; then
        echo "python: skipped, no packages (see $work/pip.log)"
        exit 0
    fi
    cp python/tests/requirements.txt "$work/done"
fi

[ "${2:-}" = wheel ] || export VOLERY_LIBRARY="$build/libvolery_python.so"
# A copy, so that nothing is left in the source tree.
rm -rf "$work/source"
mkdir "$work/source"
tools/list_files.sh | tar -c -f - -T - | tar -x -f - -C "$work/source"
package=$work/source
portable_wheel() { # a wheel for every x86-64 or ARM64 Linux with glibc 2.34 or later: Debian 12, Ubuntu 22.04, RHEL 9
    rm -rf "$work/dist" build/wheel
    VOLERY_PORTABLE=1 "$work/venv/bin/pip" wheel --no-deps --no-build-isolation -w "$work/dist" "$work/source" &&
        PATH=$work/venv/bin:$PATH "$work/venv/bin/auditwheel" repair --plat "manylinux_2_34_$(uname -m)" -w build/wheel "$work"/dist/*.whl
}
if [ "${2:-}" = wheel ]; then
    portable_wheel >"$work/wheel.log" 2>&1 || {
        tail -20 "$work/wheel.log"
        exit 1
    }
    package=$(echo build/wheel/*.whl)
fi
"$work/venv/bin/pip" install --quiet --no-deps --no-build-isolation --force-reinstall "$package" >"$work/install.log" 2>&1 || {
    tail -20 "$work/install.log"
    exit 1
}
unset VOLERY_LIBRARY
if [ "${2:-}" = wheel ]; then # the types, as a user's checker sees them
    "$work/venv/bin/mypy" --strict --cache-dir "$work/mypy" "$work/source/python/volery"
fi
"$work/venv/bin/python" tests/schema_test.py
export VOLERY_COMMAND="$build/volery" # campaigns are flown by it
cd "$work"
"$work/venv/bin/python" "$work/source/python/tests/test_volery.py"
"$work/venv/bin/python" "$work/source/python/tests/test_bodies.py"
"$work/venv/bin/python" -W ignore "$work/source/python/tests/fuzz_arguments.py" 3000
"$work/venv/bin/python" "$work/source/python/tests/estimator_bound.py" --seeds 4
"$work/venv/bin/python" "$work/source/python/examples/train_hover.py" --seconds 2
[ "${2:-}" != wheel ] || echo "the wheel is in $package"
echo "python: ok"
