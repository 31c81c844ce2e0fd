// rng_single.inl - the parts of rng.h that depend on how a real is made, for a float: the same words, so the
// same numbers rounded. A normal deviate is within 8e-7 of the double's.

/// A number of the open interval (0, 1): the middle of one of 2^23 equal cells.
VY_FN real rng_uniform(bits high, bits) { return (real_from_uint(high >> 9) + 0.5) * 0x1p-23; }

/// As in rng.h: the segment of the table, and the place in it.
VY_FN bits rng_segment(bits word, real *segment_position)
{
    const uint32_t n = (static_cast<uint32_t>(word) << 1) | 1u;
    const uint32_t exponent = 31u - single_leading_zeros(n);
    const uint32_t fraction = static_cast<uint32_t>(static_cast<uint64_t>(n) << (32u - exponent));
    *segment_position = single_of(((fraction & 0x1fffffffu) >> 9) | 0x3f800000u);
    return (exponent << 3) | (fraction >> 29);
}

VY_FN real rng_apply_sign(real x, bits word) { return real_select((word & 0x80000000u) != 0u, -x, x); }
