#!/bin/sh
# thread.sh BUILD VENV - what shares work among threads, under the thread sanitizer: the tests of pools, contacts and batches on
# threads, then Python's threads that share worlds, batches and sets of bodies, with the packages of VENV. First a race is planted,
# in Python as well, and must be found. BUILD is that of the preset `thread`; without VENV Python is skipped, and the last line says so.
set -eu
build=$(cd "$1" && pwd)
venv=$2
cd "$(dirname "$0")/.."
# Where addresses are too random the sanitizer does not start.
fixed_addresses=
setarch -R true 2>/dev/null && fixed_addresses="setarch -R"
export TSAN_OPTIONS="exitcode=66 halt_on_error=1" VOLERY_CONTACT_THREADS=3

check() { # TEST [PATTERN]
    $fixed_addresses "$build/tests/$1" ${2:+"$2"} >"$build/$1.log" 2>&1 || { tail -n 60 "$build/$1.log"; echo "thread: $* FAILED"; exit 1; }
    grep -q 'PASSED.* [1-9][0-9]* test' "$build/$1.log" || { echo "thread: $* ran no test"; exit 1; }
    echo "thread: $* ok"
}
check test_pool
check test_contact_threads
check test_batch worlds_fly_as_alone # of the batch those that share work among several threads
check test_batch lone_worlds_are_a_batch

if [ ! -x "$venv/bin/python" ]; then
    echo "thread: Python skipped, no packages in $venv (make test installs them)"
    exit 0
fi
# The sanitizer's library comes first, before the interpreter that knows nothing of it.
python() { LD_PRELOAD=$(gcc -print-file-name=libtsan.so) TSAN_OPTIONS="$TSAN_OPTIONS suppressions=$PWD/tests/thread/suppressions.txt" PYTHONPATH=python VOLERY_LIBRARY=$build/libvolery_python.so $fixed_addresses "$venv/bin/python" "$@"; }
gcc -O1 -g -fsanitize=thread -fPIC -shared tests/thread/race.c -o "$build/race.so"
status=0
python -c '
import ctypes, sys, threading
race = ctypes.CDLL(sys.argv[1]).race
both = [threading.Thread(target=lambda: [race() for _ in range(10)]) for _ in range(2)]
[t.start() for t in both]
[t.join() for t in both]' "$build/race.so" >"$build/race.log" 2>&1 || status=$?
[ $status -eq 66 ] || { cat "$build/race.log"; echo "thread: a planted race is not found (status $status)"; exit 1; }
python python/tests/test_volery.py test_threads_share_a_world test_worlds_of_one_scenario_in_threads test_threads_share_a_batch \
    test_a_batch_is_closed_while_others_step_it >"$build/python.log" 2>&1 || { tail -n 60 "$build/python.log"; echo "thread: Python FAILED"; exit 1; }
python python/tests/test_bodies.py test_threads_share_a_set >>"$build/python.log" 2>&1 || { tail -n 60 "$build/python.log"; echo "thread: Python FAILED"; exit 1; }
grep -c '^ok' "$build/python.log" | sed 's/.*/thread: Python ok, & tests; a planted race was found/'
