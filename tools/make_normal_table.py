#!/usr/bin/env python3
# make_normal_table.py - writes src/base/normal_table.inl, the inverse normal distribution by pieces.
#
# rng.h turns an odd number d = 1, 3 ... 2^32 - 1 into the deviate x > 0 whose upper tail has the probability
# p = d / 2^33. The exponent of d and the top three bits of its fraction choose one of 256 segments, each
# 1/8 of an octave wide; the rest of the fraction, put behind a leading 1, is u in [1, 1 + 1/8) and x is a
# quartic in u. Each quartic passes through x at the five Chebyshev points of its segment, which is within a hair of the best
# quartic there is. Needs mpmath; the output does not depend on the machine.
#
# usage: tools/make_normal_table.py > src/base/normal_table.inl
from statistics import NormalDist

from mpmath import cos, erfc, exp, lu_solve, matrix, mp, mpf, pi, sqrt

OCTAVES = 32
PIECES = 8
DEGREE = 4
mp.dps = 40


def deviate(p):
    """x with P(X > x) = p, to about 40 digits: three Newton steps from a double."""
    x = mpf(-NormalDist().inv_cdf(float(p)))
    for _ in range(3):
        x += (erfc(x / sqrt(mpf(2))) / 2 - p) * sqrt(2 * pi) * exp(x * x / 2)
    return x


def tail(octave, piece, u):
    """The tail probability at u in [1, 1 + 1/8] of a segment."""
    return (u + mpf(piece) / PIECES) * mpf(2) ** (octave - 33)


def fit(octave, piece):
    """Coefficients of u^0 ... u^4, rounded to doubles."""
    size = DEGREE + 1
    nodes = [1 + (1 + cos(pi * (2 * i + 1) / (2 * size))) / (2 * PIECES) for i in range(size)]
    powers = matrix(size, size)
    values = matrix(size, 1)
    for i, node in enumerate(nodes):
        values[i] = deviate(tail(octave, piece, node))
        for j in range(size):
            powers[i, j] = node**j
    return [float(c) for c in lu_solve(powers, values)]


def largest_error(octave, piece, coefficients, points=33):
    """Largest error of a segment over evenly spaced points, both ends included."""
    largest = mpf(0)
    for i in range(points):
        u = 1 + mpf(i) / (PIECES * (points - 1))
        x = sum(mpf(c) * u**j for j, c in enumerate(coefficients))
        largest = max(largest, abs(x - deviate(tail(octave, piece, u))))
    return float(largest)


def main():
    rows, error = [], 0.0
    for octave in range(OCTAVES):
        for piece in range(PIECES):
            coefficients = fit(octave, piece)
            error = max(error, largest_error(octave, piece, coefficients))
            rows.append(coefficients)
    print("// normal_table.inl - quartics of the inverse normal distribution, included by rng.h.")
    print("// Written by tools/make_normal_table.py; do not edit.")
    print(f"// {len(rows)} segments, coefficients of u^0 ... u^{DEGREE}; largest absolute error {error:.2e}.")
    print("// clang-format off")
    for c in rows:
        print("{" + ", ".join(x.hex() for x in c) + "},")
    print("// clang-format on")


main()
