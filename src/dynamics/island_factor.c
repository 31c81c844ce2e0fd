// island_factor.c - the linear algebra of an island: LDL^T in blocks of 3x3, in the order of elimination.
//
// Columns are eliminated leaves first, so a chain or a tree has no fill-in; a loop fills in along itself
// (island_structure.c). A pivot that is negligible compared to the row's diagonal means that the row depends
// on earlier ones: it is redundant, and its multiplier is zero.
#include "base/assert.h"
#include "dynamics/joint.h"

#define NO_PIVOT   1e-12  // of a row's diagonal, below which it is redundant
#define NEGLIGIBLE 1e-150 // a multiplier below this is zero

/// m -= a b^T
VY_FN void subtract_product(mat3 *m, const mat3 *a, const mat3 *b)
{
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            m->m[i][j] -= (a->m[i][0] * b->m[j][0] + a->m[i][1] * b->m[j][1]) + a->m[i][2] * b->m[j][2];
        }
    }
}

/// The inverse of a symmetric block by its own LDL^T; rows without a pivot get zeros. `scale` is the diagonal
/// before elimination. Returns the rows left out, one bit each.
VY_FN int invert_block(const mat3 *a, const double scale[3], mat3 *inverse)
{
    int redundant_rows = 0; // of a state about to fail a diagonal may be anything: such rows have no pivot
    const double d0 = a->m[0][0];
    const double i0 = d0 > NO_PIVOT * scale[0] ? 1.0 / d0 : 0.0;
    const double l10 = a->m[1][0] * i0, l20 = a->m[2][0] * i0;
    const double d1 = a->m[1][1] - l10 * a->m[1][0];
    const double i1 = d1 > NO_PIVOT * scale[1] ? 1.0 / d1 : 0.0;
    const double e21 = a->m[2][1] - l20 * a->m[1][0];
    const double l21 = e21 * i1;
    const double d2 = (a->m[2][2] - l20 * a->m[2][0]) - l21 * e21;
    const double i2 = d2 > NO_PIVOT * scale[2] ? 1.0 / d2 : 0.0;
    redundant_rows |= (i0 == 0.0) | (i1 == 0.0) << 1 | (i2 == 0.0) << 2;
    // Rows of L^-1: (1), (-l10, 1), (m20, -l21, 1).
    const double m20 = l10 * l21 - l20;
    const double n22 = i2, n21 = -l21 * i2, n20 = m20 * i2;
    const double n11 = i1 - l21 * n21, n10 = -l10 * i1 - l21 * n20;
    inverse->m[0][0] = (i0 + l10 * l10 * i1) + m20 * n20;
    inverse->m[1][0] = inverse->m[0][1] = n10;
    inverse->m[1][1] = n11;
    inverse->m[2][0] = inverse->m[0][2] = n20;
    inverse->m[2][1] = inverse->m[1][2] = n21;
    inverse->m[2][2] = n22;
    return redundant_rows;
}

int vy_island_factor(joint_system *s, const island *is)
{
    int redundant_count = 0;
    for (uint32_t k = is->block_first; k < is->block_last; ++k) {
        const int redundant_rows = invert_block(&s->diagonal[k], s->scale[k], &s->inverse[k]);
        s->redundant_rows[k] = redundant_rows;
        redundant_count += (redundant_rows & 1) + ((redundant_rows >> 1) & 1) + ((redundant_rows >> 2) & 1);
        const uint32_t first = s->column[k], last = s->column[k + 1];
        VY_ASSERT(first <= last && last <= s->entry_count);
        uint32_t next = s->update_first[k];
        for (uint32_t e = first; e < last; ++e) {
            VY_ASSERT(s->row[e] > k && s->row[e] < is->block_last);
            s->lower_scaled[e] = mat3_mul(s->lower[e], s->inverse[k]);
            for (uint32_t f = first; f < e; ++f) {
                const uint32_t target = s->update[next++];
                VY_ASSERT(target >= last && target < s->entry_count);
                subtract_product(&s->lower[target], &s->lower_scaled[e], &s->lower[f]);
            }
            subtract_product(&s->diagonal[s->row[e]], &s->lower_scaled[e], &s->lower[e]);
        }
    }
    return redundant_count;
}

/// Multipliers decay along a long chain by a factor per link. The smallest would be subnormal numbers, or
/// have subnormal products, which are several times slower: they are set to zero.
VY_FN vec3 flush_small(vec3 v)
{
    v.x = real_select(real_abs(v.x) < NEGLIGIBLE, 0.0, v.x);
    v.y = real_select(real_abs(v.y) < NEGLIGIBLE, 0.0, v.y);
    v.z = real_select(real_abs(v.z) < NEGLIGIBLE, 0.0, v.z);
    return v;
}

void vy_island_solve(joint_system *s, const island *is)
{
    VY_ASSERT(is->block_first <= is->block_last && is->block_last <= s->block_count);
    for (uint32_t k = is->block_first; k < is->block_last; ++k) {
        for (uint32_t e = s->column[k]; e < s->column[k + 1]; ++e) {
            const uint32_t i = s->row[e];
            s->rhs[i] = vec3_sub(s->rhs[i], mat3_mul_vec(s->lower_scaled[e], s->rhs[k]));
        }
    }
    for (uint32_t k = is->block_last; k-- > is->block_first;) {
        vec3 x = mat3_mul_vec(s->inverse[k], s->rhs[k]);
        for (uint32_t e = s->column[k]; e < s->column[k + 1]; ++e) {
            x = vec3_sub(x, mat3_tmul_vec(s->lower_scaled[e], s->rhs[s->row[e]]));
        }
        s->rhs[k] = flush_small(x);
    }
}

void vy_island_multiply(const joint_system *s, const island *is, const vec3 *x, vec3 *y)
{
    VY_ASSERT(x != y);
    for (uint32_t k = is->block_first; k < is->block_last; ++k) y[k] = mat3_mul_vec(s->diagonal[k], x[k]);
    for (uint32_t k = is->block_first; k < is->block_last; ++k) {
        for (uint32_t e = s->column[k]; e < s->column[k + 1]; ++e) {
            const uint32_t i = s->row[e];
            y[i] = vec3_add(y[i], mat3_mul_vec(s->lower[e], x[k]));
            y[k] = vec3_add(y[k], mat3_tmul_vec(s->lower[e], x[i]));
        }
    }
}
