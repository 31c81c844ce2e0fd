// joint_solve.c - the multipliers of a set without a step: dense Cholesky or blocks in tree order, with a
// report.
#include "base/assert.h"
#include "dynamics/joint.h"
#include "base/real.h"
#include <math.h>

enum { POWER_ITERATIONS = 400 }; // for an eigenvalue

/// Rows in use, numbered over all islands.
typedef struct dense_system {
    double a[VY_DENSE_ROWS][VY_DENSE_ROWS]; // lower triangle
    double x[VY_DENSE_ROWS];                // right-hand side, then solution
    int count;
} dense_system;

static int count_rows(const joint_system *s)
{
    int n = 0;
    for (uint32_t k = 0; k < s->block_count; ++k) {
        for (int r = 0; r < BLOCK_ROWS; ++r) n += (s->rows[k].row_mask >> r) & 1;
    }
    return n;
}

static double component(vec3 v, int r) { return r == 0 ? v.x : r == 1 ? v.y : v.z; }

// Copy a block, of blocks p and q, without unused rows to the dense matrix from an element on.
static void copy_block(dense_system *d, const joint_system *s, uint32_t p, uint32_t q, int dense_row,
                       int dense_column, const mat3 *m)
{
    VY_ASSERT(p >= q && dense_row + BLOCK_ROWS <= VY_DENSE_ROWS + BLOCK_ROWS && dense_row >= dense_column &&
              dense_column >= 0);
    for (int i = 0, row = dense_row; i < BLOCK_ROWS; ++i) {
        if (((s->rows[p].row_mask >> i) & 1) == 0) continue;
        for (int j = 0, column = dense_column; j < BLOCK_ROWS; ++j) {
            if (((s->rows[q].row_mask >> j) & 1) != 0) d->a[row][column++] = m->m[i][j];
        }
        ++row;
    }
}

/// The blocks as one matrix, without unused rows.
static void gather_dense(dense_system *d, const joint_system *s)
{
    VY_ASSERT(s->block_count <= (JOINT_BLOCKS + 1) * VY_DENSE_ROWS);
    static const int bit_count[8] = {0, 1, 1, 2, 1, 2, 2, 3};
    memset(d, 0, sizeof *d);
    int first_row[VY_DENSE_ROWS + JOINT_BLOCKS * VY_DENSE_ROWS];
    int n = 0;
    for (uint32_t k = 0; k < s->block_count; ++k) {
        first_row[k] = n;
        n += bit_count[s->rows[k].row_mask];
    }
    d->count = n;
    VY_ASSERT(n <= VY_DENSE_ROWS);
    for (uint32_t k = 0; k < s->block_count; ++k) {
        copy_block(d, s, k, k, first_row[k], first_row[k], &s->diagonal[k]);
        for (uint32_t e = s->column[k]; e < s->column[k + 1]; ++e) {
            copy_block(d, s, s->row[e], k, first_row[s->row[e]], first_row[k], &s->lower[e]);
        }
        for (int r = 0, row = first_row[k]; r < BLOCK_ROWS; ++r) {
            if ((s->rows[k].row_mask >> r) & 1) d->x[row++] = component(s->rhs[k], r);
        }
    }
}

/// Cholesky's A = L L^T in place, then x = A^-1 x. 0 when a pivot is not positive.
static int cholesky(dense_system *d)
{
    const int n = d->count;
    for (int j = 0; j < n; ++j) {
        const double diagonal = d->a[j][j];
        double pivot = diagonal;
        for (int k = 0; k < j; ++k) pivot -= d->a[j][k] * d->a[j][k];
        if (!(pivot > 1e-12 * diagonal)) return 0;
        d->a[j][j] = real_sqrt(pivot);
        for (int i = j + 1; i < n; ++i) {
            double sum = d->a[i][j];
            for (int k = 0; k < j; ++k) sum -= d->a[i][k] * d->a[j][k];
            d->a[i][j] = sum / d->a[j][j];
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < i; ++k) d->x[i] -= d->a[i][k] * d->x[k];
        d->x[i] /= d->a[i][i];
    }
    for (int i = n; i-- > 0;) {
        for (int k = i + 1; k < n; ++k) d->x[i] -= d->a[k][i] * d->x[k];
        d->x[i] /= d->a[i][i];
    }
    return 1;
}

static void scatter_dense(const dense_system *d, joint_system *s)
{
    int row = 0;
    for (uint32_t k = 0; k < s->block_count; ++k) {
        double x[BLOCK_ROWS] = {0};
        for (int r = 0; r < BLOCK_ROWS; ++r) {
            if ((s->rows[k].row_mask >> r) & 1) x[r] = d->x[row++];
        }
        VY_ASSERT(row <= d->count);
        s->rhs[k] = vec3_make(x[0], x[1], x[2]);
    }
}

// ---- the condition number: power iteration with A, then with its inverse

/// Rows that are in use and not redundant get numbers that favour no eigenvector, the others zero.
static void fill_start_vector(const joint_system *s, const island *is, vec3 *x, int without_redundant)
{
    double fraction = 0.5;
    for (uint32_t k = is->block_first; k < is->block_last; ++k) {
        double components[BLOCK_ROWS];
        const int row_mask = s->rows[k].row_mask & ~(without_redundant ? s->redundant_rows[k] : 0);
        for (int r = 0; r < BLOCK_ROWS; ++r) {
            fraction = fraction * 0.6180339887498949 + 0.7548776662466927;
            fraction -= floor(fraction);
            components[r] = (row_mask >> r) & 1 ? 0.5 + fraction : 0.0;
        }
        x[k] = vec3_make(components[0], components[1], components[2]);
    }
}

static double normalise(const island *is, vec3 *x)
{
    double square = 0.0;
    for (uint32_t k = is->block_first; k < is->block_last; ++k) square += vec3_dot(x[k], x[k]);
    const double length = real_sqrt(square);
    for (uint32_t k = is->block_first; k < is->block_last && length > 0.0; ++k)
        x[k] = vec3_scale(1.0 / length, x[k]);
    return length;
}

static double largest_eigenvalue(joint_system *s, const island *is)
{
    VY_ASSERT(is->block_last <= s->block_count);
    vec3 *x = s->rhs + s->block_count, *y = s->rhs;
    double value = 0.0;
    fill_start_vector(s, is, x, 0);
    (void)normalise(is, x);
    for (int n = 0; n < POWER_ITERATIONS; ++n) {
        vy_island_multiply(s, is, x, y);
        value = normalise(is, y);
        for (uint32_t k = is->block_first; k < is->block_last; ++k) x[k] = y[k];
    }
    return value;
}

static double smallest_eigenvalue(joint_system *s, const island *is)
{
    double value = 0.0;
    fill_start_vector(s, is, s->rhs, 1);
    (void)normalise(is, s->rhs);
    for (int n = 0; n < POWER_ITERATIONS; ++n) {
        vy_island_solve(s, is);
        value = normalise(is, s->rhs);
    }
    return value > 0.0 ? 1.0 / value : 0.0;
}

// ---- all islands

static void assemble_all(vy_bodies *b)
{
    joint_system *s = b->joints;
    s->integrator = b->def.integrator;
    for (uint32_t n = 0; n < s->island_count; ++n) {
        const island *is = &s->islands[n];
        for (uint32_t k = is->body_first; k < is->body_last; ++k)
            s->stage[s->members[k]] = b->state[s->members[k]];
        vy_island_assemble(b, is, vy_bodies_time(b));
    }
}

/// Largest error of J a + bias with the multipliers applied; counts redundant rows that conflict.
static void check_residual(const joint_system *s, vy_joint_solution *out)
{
    double scale = 0.0;
    for (uint32_t k = 0; k < s->block_count; ++k) {
        const vec3 e = vy_block_acceleration(s, k), c = s->rows[k].bias;
        scale = real_max(scale, vec3_length(c));
        for (int r = 0; r < BLOCK_ROWS; ++r) {
            const double error = real_abs(component(e, r));
            if (((s->rows[k].row_mask >> r) & 1) == 0) continue;
            out->residual = real_max(out->residual, error);
            if (((s->redundant_rows[k] >> r) & 1) && !(error <= 1e-6 * (1.0 + scale))) out->conflicting += 1;
        }
    }
}

vy_status vy_bodies_solve_joints(vy_bodies *b, vy_joint_solver solver, double *lambda, vy_joint_solution *out)
{
    FPU_SCOPE;
    joint_system *s = b->joints;
    const vy_status status = vy_bodies_prepare(b);
    if (status != VY_OK) return status;
    assemble_all(b);
    const int rows = count_rows(s);
    int use_dense =
        solver == VY_JOINT_SOLVER_DENSE || (solver == VY_JOINT_SOLVER_AUTO && rows <= VY_DENSE_ROWS);
    if (use_dense && (rows > VY_DENSE_ROWS || s->block_count > (JOINT_BLOCKS + 1) * VY_DENSE_ROWS))
        return VY_FULL;
    *out = (vy_joint_solution){.converged = 1, .rows = rows, .condition = 1.0};

    double max_eigenvalue = 0.0, min_eigenvalue = DBL_MAX;
    for (uint32_t n = 0; n < s->island_count && rows > 0; ++n) {
        const double value = largest_eigenvalue(s, &s->islands[n]);
        max_eigenvalue = real_max(max_eigenvalue, value);
    }
    assemble_all(b); // the right-hand side served as scratch
    dense_system dense;
    int is_solved = 0;
    if (use_dense) {
        gather_dense(&dense, s);
        is_solved = cholesky(&dense);
        if (!is_solved && solver == VY_JOINT_SOLVER_AUTO)
            use_dense = 0; // redundant rows: blocks leave them out
    }
    for (uint32_t n = 0; n < s->island_count; ++n) {
        out->redundant += vy_island_factor(s, &s->islands[n]);
        if (!use_dense) vy_island_solve(s, &s->islands[n]);
    }
    if (use_dense && is_solved) scatter_dense(&dense, s);
    if (use_dense && !is_solved) memset(s->rhs, 0, s->block_count * sizeof *s->rhs); // no forces
    for (uint32_t n = 0; n < s->island_count; ++n) vy_island_apply_multipliers(s, &s->islands[n]);
    check_residual(s, out);
    if ((use_dense && !is_solved) || out->conflicting > 0) out->converged = 0;
    for (uint32_t i = 0; i < s->slot_count && lambda != NULL; ++i) {
        const joint_slot *j = &s->slots[i];
        for (int r = 0; r < VY_CONSTRAINT_ROWS; ++r) {
            const int has_row = j->used && r / BLOCK_ROWS < j->block_count;
            lambda[VY_CONSTRAINT_ROWS * i + (uint32_t)r] =
                has_row ? component(s->rhs[j->first_block + (uint32_t)(r / BLOCK_ROWS)], r % BLOCK_ROWS)
                        : 0.0;
        }
    }
    for (uint32_t n = 0; n < s->island_count && rows > 0; ++n) {
        min_eigenvalue = real_min(min_eigenvalue, smallest_eigenvalue(s, &s->islands[n]));
    }
    if (rows > 0) out->condition = min_eigenvalue > 0.0 ? max_eigenvalue / min_eigenvalue : DBL_MAX;
    return VY_OK;
}
