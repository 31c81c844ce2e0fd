#!/bin/bash
# run.sh BUILD PLAYGROUND - the playground from disk, in headless Chromium: its hashes, mistakes, numbers and logs against
# those of the command. Pictures are left in BUILD/playground.
set -euo pipefail
build=$(cd "$1" && pwd)
playground=$(cd "$2" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
volery=$build/volery
work=$build/playground
mkdir -p "$work"

skip() {
    echo "playground: SKIPPED: $*"
    exit 0
}
command -v node >/dev/null || skip "no node"
command -v chromium >/dev/null || skip "no chromium"
"$root/web/fetch.sh" "$root/tests/view/packages.lock" "$work" 2>"$work/fetch.log" ||
    skip "playwright-core cannot be fetched, see $work/fetch.log"

# All in one file, and the folder: what a visitor fetches.
size=$(gzip -9 -n -c "$playground/playground.html" | wc -c)
folder=$(for file in "$playground"/site/*; do gzip -9 -n -c "$file"; done | wc -c)
echo "playground: $size bytes by gzip, as a folder $folder"
if [ "$size" -ge 1500000 ] || [ "$folder" -ge 1500000 ]; then
    echo "playground: FAILED: more than 1.5 MB by gzip"
    exit 1
fi

# What the command says of the same scenarios: name and hash, or "program" where a page cannot fly it.
cd "$root"
if [ ! -s "$work/hashes.txt" ] || [ "$volery" -nt "$work/hashes.txt" ]; then
    # grep reads to the end: with -q a command that still writes would fail, and with it the pipe.
    find scenarios -name '*.yaml' | LC_ALL=C sort | while read -r file; do
        name=${file#scenarios/} hash=program
        if "$volery" check "$file" 2>/dev/null | grep -E '^ *kind: (pilot|plugin|process|callback|px4|ardupilot|crazyflie|betaflight)' >/dev/null ||
            ! "$volery" check "$file" >/dev/null 2>&1; then :
        else hash=$("$volery" run "$file" --no-log --json 2>/dev/null </dev/null | grep -o '"final_hash": "[0-9a-f]*' | cut -d'"' -f4); fi
        echo "${name%.yaml} $hash"
    done >"$work/hashes.part"
    mv "$work/hashes.part" "$work/hashes.txt"
fi

node "$root/tests/playground/page.mjs" "$work" "$playground" "$volery"
if command -v firefox-esr >/dev/null && command -v xvfb-run >/dev/null && "$root/web/fetch.sh" "$root/tests/view/firefox.lock" "$work/firefox" 2>"$work/fetch.log"; then
    node "$root/tests/playground/firefox.mjs" "$work" "$playground" "$volery" "$work/firefox"
else
    echo "firefox: SKIPPED: no firefox-esr, no xvfb-run, or puppeteer-core cannot be fetched"
fi
