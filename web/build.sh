#!/bin/sh
# build.sh FOLDER - build the page that `volery view` fills with flights: FOLDER/page.html. Fetches what packages.lock
# names into FOLDER, once. Without a network the page is left empty and the reason told: the command works without it.
set -eu
web=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)

build() {
    machine=$("$web/machine.sh") || return 1
    modules=$out/node_modules
    "$web/fetch.sh" "$web/packages.lock" "$out" || return 1
    NODE_PATH=$modules "$modules/@esbuild/linux-$machine/bin/esbuild" "$web/src/main.ts" --bundle --minify \
        --format=iife --target=es2020 --legal-comments=none --log-level=warning --outfile="$out/page.js" || return 1
    cat "$modules/uplot/dist/uPlot.min.css" "$web/style.css" >"$out/page.css" || return 1
    sed -e "/<!-- style -->/{r $out/page.css" -e 'd}' -e "/<!-- script -->/{r $out/page.js" -e 'd}' \
        "$web/page.html" >"$out/page.html.part" || return 1
    mv "$out/page.html.part" "$out/page.html"
}

if ! why=$(build 2>&1); then
    printf '%s\n' "$why" | sed 's/^/  /' >&2
    echo "page: could not be built, see above; everything works but volery view, which says so" >&2
    : >"$out/page.html"
fi
