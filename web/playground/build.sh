#!/bin/bash
# build.sh FOLDER - the playground: FOLDER/playground.html, all in one file, and FOLDER/site, the same as a folder for a web server.
# Needs Debian's emscripten, and once a network: for npm's packages (packages.lock) and the sources of three libraries (sources.lock),
# which FOLDER keeps. docs/playground.md says more.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
mkdir -p "$1"
out=$(cd "$1" && pwd)
modules=$out/node_modules

fail() {
    echo "playground: $*" >&2
    exit 2
}
command -v emcc >/dev/null || fail "emcc is missing: packages.txt names what is needed, section playground"
machine=$(web/machine.sh) || exit 2
for lock in web/packages.lock web/playground/packages.lock; do
    web/fetch.sh "$lock" "$out" || fail "what $lock names cannot be fetched; with a network, once, it can: see above"
done
web/playground/sources.sh "$out/sources" || fail "Debian's sources of sources.lock cannot be fetched; with a network, once, they can: see above"
echo "playground: the simulator as WebAssembly; a few minutes the first time"
make -s -j "${JOBS:-$(nproc)}" --no-print-directory -f web/playground/wasm.mk OUT="$out"

bundle() { # IN OUT OPTION...
    NODE_PATH=$modules "$modules/@esbuild/linux-$machine/bin/esbuild" "$1" --bundle --minify --format=iife --target=es2020 \
        --legal-comments=none --log-level=warning --outfile="$2" "${@:3}"
}

# engine.js: the worker, the simulator, and every shipped scenario that needs no program, with what they refer to.
work=$out/parts
mkdir -p "$work"
bundle web/src/playground/worker.ts "$work/worker_own.js"
cat "$out/volery.js" "$work/worker_own.js" >"$work/worker.txt"
gzip -9 -n -c "$out/volery.wasm" >"$work/volery.gz"
{
    echo "import wasm from '$work/volery.gz'; import worker from '$work/worker.txt';"
    programs='kind: *(pilot|plugin|process|callback|px4|ardupilot|crazyflie|betaflight)'
    mapfile -t files < <(find scenarios vehicles -name '*.yaml' -o -name '*.csv' | LC_ALL=C sort | xargs grep -LE "$programs")
    for i in "${!files[@]}"; do echo "import f$i from '$PWD/${files[i]}';"; done
    echo "globalThis.voleryShipped = { wasm, worker, files: {"
    for i in "${!files[@]}"; do echo "  '${files[i]}': f$i,"; done
    echo "} };"
} >"$work/engine_in.js"
bundle "$work/engine_in.js" "$work/engine.js" --loader:.gz=base64 --loader:.txt=text --loader:.yaml=text --loader:.csv=text
bundle web/src/playground/main.ts "$work/playground.js"
cat "$modules/uplot/dist/uPlot.min.css" web/style.css web/playground/style.css >"$work/playground.css"

# page POLICY STYLE SCRIPT >FILE: page.html with these in it, the latter two from files.
page() {
    sed -e "s|<!-- policy -->|$1|" -e "/<!-- style -->/{r $2" -e 'd}' -e "/<!-- script -->/{r $3" -e 'd}' web/playground/page.html
}
rest="worker-src blob:; img-src data: blob:; base-uri 'none'; form-action 'none'"
{ echo "<style>" && cat "$work/playground.css" && echo "</style>"; } >"$work/style.part"
{ echo "<script>" && cat "$work/engine.js" && echo "</script><script>" && cat "$work/playground.js" && echo "</script>"; } >"$work/script.part"
page "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; style-src 'unsafe-inline'; $rest" "$work/style.part" \
    "$work/script.part" >"$out/playground.html.part"
mkdir -p "$out/site"
cp "$work/engine.js" "$work/playground.js" "$work/playground.css" "$out/site/"
echo '<link rel="stylesheet" href="playground.css">' >"$work/style.part"
echo '<script src="engine.js"></script><script src="playground.js"></script>' >"$work/script.part"
page "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; $rest" "$work/style.part" \
    "$work/script.part" >"$out/site/index.html"
mv "$out/playground.html.part" "$out/playground.html"

size=$(gzip -9 -n -c "$out/playground.html" | wc -c)
echo "playground: $out/playground.html, $((size / 1000)) kB by gzip; as a folder: $out/site"
