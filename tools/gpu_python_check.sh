#!/bin/sh
# gpu_python_check.sh BUILD [NVCC] - on a machine with a GPU: build the Python package's library with CUDA against the library of
# BUILD and run tests/gpu/gpu_check.py with it. The parts of VOLERY_LIBS must be fit for a shared library.
set -eu
build=$(cd "$1" && pwd)
nvcc=${2:-nvcc}
cd "$(dirname "$0")/.."
work=$build/gpu
mkdir -p "$work"
rm -f "$work"/python_*.o
arch=${VOLERY_CUDA_ARCH:-sm_90}
for source in src/batch/*.cu; do
    part=$(basename "$source" .cu)
    exact=-fmad=false # double precision has the bits of the CPU
    case $part in *_single) exact= ;; esac
    # shellcheck disable=SC2086 # none or one word
    "$nvcc" -std=c++17 -O3 "-arch=$arch" $exact -Xcompiler -fPIC -Iinclude -Isrc -I. -c "$source" -o "$work/python_$part.o" &
done
for source in python/*.c; do
    "${CC:-cc}" -std=c17 -O2 -fPIC -ffp-contract=off -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -Ipython -c "$source" \
        -o "$work/python_$(basename "$source" .c).o"
done
wait
# shellcheck disable=SC2086 # words
"$nvcc" -shared "-arch=$arch" "$work"/python_*.o "$build/libvolery.a" ${VOLERY_LIBS:--lfyaml -lqhull_r -lzstd -lz -lcrypto} -lm -lpthread \
    -o "$work/libvolery_python.so"
VOLERY_LIBRARY=$work/libvolery_python.so PYTHONPATH=python "${PYTHON:-python3}" tests/gpu/gpu_check.py
