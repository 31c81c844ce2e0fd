#!/usr/bin/env python3
# make_log_table.py - writes src/base/log_table.inl, the table of math_log and math_pow.
#
# For i = 91 ... 181 a row holds r, close to 128 / i with 12 bits, and -log(r) as high + low. The high part is
# a multiple of 2^-42, so adding a multiple of log 2 with the same grain to it is exact. Needs mpmath.
#
# usage: tools/make_log_table.py > src/base/log_table.inl
from mpmath import floor, log, mp, mpf

mp.dps = 60

print("// log_table.inl - reciprocals and their logarithms, included by math.h.")
print("// Written by tools/make_log_table.py; do not edit.")
print("// clang-format off")
for i in range(91, 182):
    reciprocal = floor(mpf(128) / i * 2048 + mpf(1) / 2) / 2048
    high = floor(-log(reciprocal) * 2**42 + mpf(1) / 2) / 2**42
    low = -log(reciprocal) - high
    print(f"{float(reciprocal).hex()}, {float(high).hex()}, {float(low).hex()},")
print("// clang-format on")
