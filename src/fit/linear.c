// linear.c - the small linear algebra of a fit: symmetric matrices, row by row.
#include "fit/linear.h"
#include "base/assert.h"
#include "base/real.h"

int vy_linear_cholesky(double *a, int n)
{
    VY_ASSERT(n > 0);
    for (int j = 0; j < n; ++j) {
        double pivot = a[j * n + j];
        for (int k = 0; k < j; ++k) pivot -= a[j * n + k] * a[j * n + k];
        if (!(pivot > 0.0) || !real_is_finite(pivot)) return 0;
        a[j * n + j] = real_sqrt(pivot);
        for (int i = j + 1; i < n; ++i) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = sum / a[j * n + j];
        }
    }
    return 1;
}

void vy_linear_whiten(const double *factor, int n, double *x)
{
    VY_ASSERT(n > 0);
    for (int i = 0; i < n; ++i) {
        VY_ASSERT(factor[i * n + i] > 0.0);
        for (int k = 0; k < i; ++k) x[i] -= factor[i * n + k] * x[k];
        x[i] /= factor[i * n + i];
    }
}

void vy_linear_solve(const double *factor, int n, double *x)
{
    vy_linear_whiten(factor, n, x);
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) x[i] -= factor[k * n + i] * x[k];
        x[i] /= factor[i * n + i];
    }
}

void vy_linear_inverse(const double *factor, int n, double *out)
{
    for (int c = 0; c < n; ++c) { // it is symmetric: its columns are its rows
        double *column = out + c * n;
        for (int i = 0; i < n; ++i) column[i] = i == c ? 1.0 : 0.0;
        vy_linear_solve(factor, n, column);
    }
}

// Turn rows and columns p and q so that a[p][q] becomes 0 (Golub and Van Loan, 8.5).
static void rotate(double *a, double *vectors, int n, int p, int q)
{
    VY_ASSERT(0 <= p && p < q && q < n);
    const double off_diagonal = a[p * n + q];
    if (off_diagonal == 0.0) return;
    const double tau = 0.5 * (a[q * n + q] - a[p * n + p]) / off_diagonal;
    const double root = real_sqrt(1.0 + tau * tau);
    const double t = tau >= 0.0 ? 1.0 / (tau + root) : 1.0 / (tau - root);
    const double c = 1.0 / real_sqrt(1.0 + t * t), s = t * c;
    for (int k = 0; k < n; ++k) {
        const double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (int k = 0; k < n; ++k) {
        const double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
    }
    for (int k = 0; k < n; ++k) {
        const double x = vectors[p * n + k], y = vectors[q * n + k];
        vectors[p * n + k] = c * x - s * y;
        vectors[q * n + k] = s * x + c * y;
    }
}

void vy_linear_eigen(double *a, int n, double *values, double *vectors)
{
    enum { SWEEPS = 60 };
    for (int i = 0; i < n * n; ++i) vectors[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        double off_diagonal_sum = 0.0, total_sum = 0.0;
        for (int i = 0; i < n; ++i) {
            for (int k = 0; k < n; ++k) {
                total_sum += a[i * n + k] * a[i * n + k];
                if (i != k) off_diagonal_sum += a[i * n + k] * a[i * n + k];
            }
        }
        if (!(off_diagonal_sum > 1e-30 * total_sum)) break;
        for (int p = 0; p < n; ++p) {
            for (int q = p + 1; q < n; ++q) rotate(a, vectors, n, p, q);
        }
    }
    for (int i = 0; i < n; ++i) values[i] = a[i * n + i];
    for (int i = 1; i < n; ++i) { // ascending
        for (int k = i; k > 0 && values[k] < values[k - 1]; --k) {
            const double value = values[k];
            values[k] = values[k - 1];
            values[k - 1] = value;
            for (int c = 0; c < n; ++c) {
                const double v = vectors[k * n + c];
                vectors[k * n + c] = vectors[(k - 1) * n + c];
                vectors[(k - 1) * n + c] = v;
            }
        }
    }
}
