#!/bin/sh
# python_test.sh BUILD [wheel] - the Python package: installed by pip into BUILD/python_test, then its tests, and the JSON Schema
# of scenarios before a validator. The library is that of BUILD; with `wheel` pip builds it itself, as a user's `pip install .` does. Where python3 or the packages of PyPI
# cannot be had it is skipped, and the last line says so.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
work=$build/python_test
mkdir -p "$work"

packages() {
    rm -rf "$work/venv"
    python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet --require-hashes -r python/tests/requirements.txt
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
"$work/venv/bin/pip" install --quiet --no-deps --no-build-isolation --force-reinstall "$work/source" >"$work/install.log" 2>&1 || {
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
"$work/venv/bin/python" "$work/source/python/tests/estimator_bound.py" --seeds 4
"$work/venv/bin/python" "$work/source/python/examples/train_hover.py" --seconds 2
echo "python: ok"
