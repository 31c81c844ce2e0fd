#!/bin/bash
# types_test.sh BUILD - the page's TypeScript is checked strictly, without node. Where the compiler cannot be fetched the
# test is skipped and says so.
set -euo pipefail
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
work=$build/types
packages=$root/build/page # where the build keeps what the page is bundled from
mkdir -p "$work" "$packages"

skip() {
    echo "types: SKIPPED: $*"
    exit 0
}
for lock in web/packages.lock web/playground/packages.lock tests/view/types.lock; do
    "$root/web/fetch.sh" "$root/$lock" "$packages" >"$work/fetch.log" 2>&1 ||
        skip "what $lock names cannot be fetched, see $work/fetch.log"
done
modules=$packages/node_modules
tsc=$modules/@typescript/typescript-linux-$("$root/web/machine.sh")/lib/tsc

# check SOURCES - types of a folder, by the page's own settings; modules are found beside the compiler.
check() {
    cat >"$work/tsconfig.json" <<-CONFIG
	{
	  "extends": "$root/web/tsconfig.json",
	  "compilerOptions": {
	    "types": [],
	    "paths": {
	      "three": ["$modules/@types/three"],
	      "three/addons/*": ["$modules/@types/three/examples/jsm/*"],
	      "*": ["$modules/*"]
	    }
	  },
	  "include": ["$1"]
	}
	CONFIG
    "$tsc" -p "$work/tsconfig.json"
}

check "$root/web/src"

# The check sees a mistake, also one in how a library is used.
mkdir -p "$work/wrong"
for mistake in 'export const size: number = "three";' \
    'import { Vector3 } from "three"; export const v = new Vector3().lenght();' \
    'import uPlot from "uplot"; export const p = new uPlot({ width: 1 }, []);' \
    'export function first(list: string[] | undefined) { return list[0]; }'; do
    echo "$mistake" >"$work/wrong/mistake.ts"
    if check "$work/wrong" >/dev/null; then
        echo "types: FAILED: this was not found: $mistake"
        exit 1
    fi
done
echo "types: ok"
