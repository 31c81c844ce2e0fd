#!/bin/sh
# gpu_check.sh BUILD [NVCC] - on a machine with a GPU: build the CUDA part and tests/gpu/gpu_check.c against the library of
# BUILD, compare thousands of worlds bit for bit with the CPU, and print how fast the GPU is. Exit status 77: no GPU.
set -eu
build=$(cd "$1" && pwd)
nvcc=${2:-nvcc}
cd "$(dirname "$0")/.."
work=$build/gpu
mkdir -p "$work"
flags="-std=c++17 -O3 -arch=${VOLERY_CUDA_ARCH:-sm_90} -fmad=false -Iinclude -Isrc -I."
for part in src/batch bench; do
    # shellcheck disable=SC2086 # words
    "$nvcc" $flags -c "$part/gpu.cu" -o "$work/$(basename "$part")_gpu.o" &
done
wait
"${CC:-cc}" -std=c17 -O2 -ffp-contract=off -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -I. -c tests/gpu/gpu_check.c \
    -o "$work/gpu_check.o"
# shellcheck disable=SC2086 # words
"$nvcc" -arch="${VOLERY_CUDA_ARCH:-sm_90}" "$work/gpu_check.o" "$work/batch_gpu.o" "$work/bench_gpu.o" "$build/libvolery.a" \
    ${VOLERY_LIBS:--lfyaml -lqhull_r -lzstd -lz} -lm -lpthread -o "$work/gpu_check"
"$work/gpu_check"
