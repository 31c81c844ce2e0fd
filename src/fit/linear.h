// linear.h - the small linear algebra of a fit: symmetric matrices, row by row.
#pragma once

/// Factor the symmetric positive matrix `a` of n x n into L L^T, in its lower half.
/// @return 0 when it is not positive
int vy_linear_cholesky(double *a, int n);

/// With that factor: x = (L L^T)^-1 x.
void vy_linear_solve(const double *factor, int n, double *x);

/// With that factor: x = L^-1 x, which makes residuals of covariance L L^T white.
void vy_linear_whiten(const double *factor, int n, double *x);

/// With that factor: the inverse (L L^T)^-1.
void vy_linear_inverse(const double *factor, int n, double *out);

/// Eigenvalues of a symmetric matrix, ascending, by Jacobi's rotations; `vectors` has them as rows. `a` is
/// lost.
void vy_linear_eigen(double *a, int n, double *values, double *vectors);
