#!/bin/sh
# check_gpu.sh [NVCC] - compile the GPU's kernels of basic drones and hold them to the memory that they may have beside
# registers: 256 bytes of stack a thread. Whole worlds fly twenty times slower from local memory. Exit status 77: no nvcc.
set -eu
nvcc=${1:-${NVCC:-nvcc}}
cd "$(dirname "$0")/.."
command -v "$nvcc" >/dev/null 2>&1 || {
    echo "check_gpu: no nvcc"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
for part in double single; do
    exact=-fmad=false
    [ $part = single ] && exact=
    # shellcheck disable=SC2086 # none or one word
    "$nvcc" -std=c++17 -O3 "-arch=${VOLERY_CUDA_ARCH:-sm_90}" $exact -Iinclude -Isrc -I. -Xptxas -v -cubin \
        "src/batch/gpu_basic_$part.cu" -o "$work/$part.cubin" 2>"$work/$part.txt" || {
        cat "$work/$part.txt"
        exit 1
    }
    kernels=$(grep -c 'Compiling entry function' "$work/$part.txt" || true)
    stack_sizes=$(sed -n 's/.* \([0-9]*\) bytes cumulative stack size.*/\1/p; s/^ *\([0-9]*\) bytes stack frame.*/\1/p' "$work/$part.txt")
    stack_max=$(printf '%s\n' "$stack_sizes" | sort -n | tail -1)
    echo "check_gpu: $part: $kernels kernels, at most $stack_max bytes of stack"
    if [ "$kernels" -lt 2 ] || [ -z "$stack_max" ] || [ "$stack_max" -gt 256 ]; then status=1; fi
done
exit $status
