#!/bin/sh
# gpu_check.sh BUILD [NVCC] - on a machine with a GPU: build the CUDA part and tests/gpu/gpu_check.c against the library of
# BUILD, compare thousands of worlds bit for bit with the CPU and those in single precision within tolerances, and print
# how fast the GPU is. Exit status 77: no GPU.
set -eu
build=$(cd "$1" && pwd)
nvcc=${2:-nvcc}
cd "$(dirname "$0")/.."
work=$build/gpu
mkdir -p "$work"
arch=-arch=${VOLERY_CUDA_ARCH:-sm_90}
flags="-std=c++17 -O3 $arch -Iinclude -Isrc -I."
for part in src/batch/gpu src/batch/gpu_double src/batch/gpu_single src/batch/gpu_basic_double src/batch/gpu_basic_single bench/gpu bench/gpu_single; do
    exact=-fmad=false # double precision has the bits of the CPU
    case $part in *_single) exact= ;; esac
    # shellcheck disable=SC2086 # words
    "$nvcc" $flags $exact -c $part.cu -o "$work/$(echo $part | tr / _).o" &
done
wait
"${CC:-cc}" -std=c17 -O2 -ffp-contract=off -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -I. -c tests/gpu/gpu_check.c \
    -o "$work/gpu_check.o"
# shellcheck disable=SC2086 # words
"$nvcc" $arch "$work/gpu_check.o" "$work"/*_gpu*.o "$build/libvolery.a" \
    ${VOLERY_LIBS:--lfyaml -lqhull_r -lzstd -lz -lcrypto} -lm -lpthread -o "$work/gpu_check"
"$work/gpu_check"
