#include "privacy/accounting/fourier.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TWO_PI 6.283185307179586476925

enum { SIDE = 16 };
#define LEAST_RATIO 2.0

static size_t grid_of(double n) {
    size_t size = 64;
    while ((double)size < LEAST_RATIO * n) size *= 2;
    return size;
}

double bb_fourier_work(double n, double count) {
    const double size = (double)grid_of(n);
    return 100.0 * count + size * (10.0 + 3.0 * log2(size));
}

bb_status bb_fourier_open(bb_fourier *fourier, size_t n) {
    bb_fourier f = {.n = n, .size = grid_of((double)n)};
    bb_status status = bb_allocate(&f.grid, f.size, sizeof *f.grid, "the accountant");
    if (!status)
        status = bb_allocate(&f.turn, f.size / 2, sizeof *f.turn, "the accountant");
    if (status) {
        free(f.grid);
        return status;
    }
    for (size_t k = 0; k < f.size / 2; k++) {
        const double angle = TWO_PI * (double)k / (double)f.size;
        f.turn[k] = cos(angle) + I * sin(angle);
    }
    *fourier = f;
    return BB_OK;
}

void bb_fourier_close(bb_fourier *fourier) {
    free(fourier->grid);
    free(fourier->turn);
    *fourier = (bb_fourier){0};
}

/* The place of each point with its bits in the other order. */
static void reorder(bb_fourier *f) {
    for (size_t i = 1, j = 0; i < f->size; i++) {
        size_t bit = f->size / 2;
        for (; j & bit; bit /= 2) j ^= bit;
        j ^= bit;
        if (i >= j) continue;
        const double complex swap = f->grid[i];
        f->grid[i] = f->grid[j];
        f->grid[j] = swap;
    }
}

/* grid[k] becomes sum_m grid[m] e^(2 pi i k m / size). */
static void transform(bb_fourier *f) {
    double *const at = (double *)f->grid;
    const double *const turn = (const double *)f->turn;
    reorder(f);
    for (size_t half = 1; half < f->size; half *= 2) {
        const size_t stride = f->size / (2 * half);
        for (size_t from = 0; from < f->size; from += 2 * half) {
            double *const low = at + 2 * from, *const high = low + 2 * half;
            for (size_t k = 0; k < half; k++) {
                const double c = turn[2 * k * stride], s = turn[2 * k * stride + 1];
                const double re = high[2 * k] * c - high[2 * k + 1] * s;
                const double im = high[2 * k] * s + high[2 * k + 1] * c;
                high[2 * k] = low[2 * k] - re;
                high[2 * k + 1] = low[2 * k + 1] - im;
                low[2 * k] += re;
                low[2 * k + 1] += im;
            }
        }
    }
}

/* The Gaussian e^(-x^2 / (4 width)); e^(-(d - m)^2 h) = e^(-d^2 h) (e^(2 d h))^m e^(-m^2
 * h) takes three exponentials for all points of a wave. */
static void spread(bb_fourier *f, double width, double x, double complex weight,
                   const double *falls) {
    const double spacing = TWO_PI / (double)f->size;
    const double turns = x / TWO_PI, place = (turns - floor(turns)) * (double)f->size;
    const double nearest = floor(place), d = (place - nearest) * spacing;
    const double h = 1.0 / (4.0 * width);
    const double up = exp(2.0 * d * spacing * h), down = 1.0 / up;
    const double complex middle = weight * exp(-d * d * h);
    const size_t mask = f->size - 1, at = (size_t)nearest & mask;
    double right = 1.0, left = down;
    for (size_t m = 0; m < SIDE; m++) {
        f->grid[(at + m) & mask] += middle * (right * falls[m]);
        f->grid[(at - m - 1) & mask] += middle * (left * falls[m + 1]);
        right *= up;
        left *= down;
    }
}

void bb_fourier_sum(bb_fourier *f, size_t count, const double *place, double scale,
                    const double *weight, double *re, double *im) {
    const double ratio = (double)f->size / (double)f->n,
                 spacing = TWO_PI / (double)f->size;
    const double width =
        TWO_PI / 2.0 * SIDE / ((double)f->n * (double)f->n * ratio * (ratio - 0.5));
    const double middle = floor((double)f->n / 2.0);
    double falls[SIDE + 1];
    for (int m = 0; m <= SIDE; m++)
        falls[m] = exp(-(m * spacing) * (m * spacing) / (4.0 * width));
    memset(f->grid, 0, f->size * sizeof *f->grid);
    for (size_t j = 0; j < count; j++) {
        const double x = remainder(scale * place[j], TWO_PI), angle = middle * x;
        spread(f, width, x, weight[j] * (cos(angle) + I * sin(angle)), falls);
    }
    transform(f);
    const double norm = sqrt(TWO_PI / 2.0 / width) / (double)f->size;
    for (size_t k = 0; k < f->n; k++) {
        const double away = (double)k - middle;
        const size_t at = ((size_t)(away + (double)f->size)) & (f->size - 1);
        const double complex sum = f->grid[at] * (norm * exp(width * away * away));
        re[k] = creal(sum);
        im[k] = cimag(sum);
    }
}
