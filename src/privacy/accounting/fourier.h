/* fourier.h - sums of many waves at many frequencies at once; private to this room. */
#ifndef BB_PRIVACY_FOURIER_H
#define BB_PRIVACY_FOURIER_H

#include "base/status.h"

#include <complex.h>
#include <stddef.h>

/* Each wave is spread over a grid as a Gaussian, the grid is transformed by an FFT of at
 * least 2 n points, and the Gaussian's own transform is divided out (Greengard, Lee
 * 2004, section 2; 16 points to either side of a wave). */
typedef struct bb_fourier {
    size_t n, size; /* frequencies, and points of the grid */
    double complex *grid, *turn;
} bb_fourier;

/* The error of a sum, relative to the sum of all |weight|. */
#define BB_FOURIER_ERROR 4e-14

BB_MUST_CHECK bb_status bb_fourier_open(bb_fourier *fourier, size_t n);
void bb_fourier_close(bb_fourier *fourier);
/* re[k] + i im[k] = sum_j weight[j] e^(i k place[j]), k < n. */
void bb_fourier_sum(bb_fourier *fourier, size_t count, const double *place,
                    double scale, const double *weight, double *re, double *im);
/* What that costs for so many waves, in multiplications or so. */
double bb_fourier_work(double n, double count);

#endif
