/* naive.h - the plain twins of src/linalg, as their definitions say. */
#ifndef BB_TESTS_NAIVE_H
#define BB_TESTS_NAIVE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Uniform on (-1, 1), from a counter: the same numbers in every run. */
static inline double naive_random(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

static inline double *naive_vector(size_t n, uint64_t seed) {
    double *v = calloc(n ? n : 1, sizeof *v);
    if (!v) abort();
    for (size_t k = 0; k < n; k++) v[k] = naive_random(&seed);
    return v;
}

static inline double naive_dot(size_t n, const double *x, const double *y) {
    long double sum = 0;
    for (size_t k = 0; k < n; k++) sum += (long double)x[k] * y[k];
    return (double)sum;
}

/* C (rows x columns) <- A (rows x depth) B (depth x columns). */
static inline void naive_product(size_t rows, size_t depth, size_t columns,
                                 const double *A, const double *B, double *C) {
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++) {
            long double sum = 0;
            for (size_t j = 0; j < depth; j++)
                sum += (long double)A[i * depth + j] * B[j * columns + k];
            C[i * columns + k] = (double)sum;
        }
}

static inline double *naive_transpose(size_t rows, size_t columns, const double *A) {
    double *T = naive_vector(rows * columns, 0);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++) T[k * rows + i] = A[i * columns + k];
    return T;
}

static inline double naive_largest_difference(size_t n, const double *a,
                                              const double *b) {
    double largest = 0;
    for (size_t k = 0; k < n; k++) {
        const double e = fabs(a[k] - b[k]);
        if (!(e <= largest)) largest = e;
    }
    return largest;
}

/* Eigenvalues of a symmetric matrix, unordered, by Jacobi rotations; A is destroyed. */
static inline void naive_eigenvalues(size_t n, double *A, double *value) {
    for (int round = 0; round < 60; round++)
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                if (A[p * n + q] == 0) continue;
                const double theta = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
                const double t =
                    (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                for (size_t k = 0; k < n; k++) {
                    const double x = A[k * n + p], y = A[k * n + q];
                    A[k * n + p] = c * x - s * y;
                    A[k * n + q] = s * x + c * y;
                }
                for (size_t k = 0; k < n; k++) {
                    const double x = A[p * n + k], y = A[q * n + k];
                    A[p * n + k] = c * x - s * y;
                    A[q * n + k] = s * x + c * y;
                }
            }
    for (size_t k = 0; k < n; k++) value[k] = A[k * n + k];
}

/* Singular values of A (rows x columns), unordered; out has `columns` entries. */
static inline void naive_singular_values(size_t rows, size_t columns, const double *A,
                                         double *out) {
    double *T = naive_transpose(rows, columns, A);
    double *G = naive_vector(columns * columns, 0);
    naive_product(columns, rows, columns, T, A, G);
    naive_eigenvalues(columns, G, out);
    for (size_t k = 0; k < columns; k++) out[k] = sqrt(fmax(0, out[k]));
    free(T);
    free(G);
}

#endif
