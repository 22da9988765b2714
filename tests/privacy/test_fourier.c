/* Sums of waves by an FFT against the sums themselves. */
#include "privacy/accounting/fourier.h"
#include "test.h"

#include <math.h>

enum { WAVES = 300 };

static void sums(void **state) {
    (void)state;
    static const size_t counts[] = {1, 5, 42, 43, 170, 1000};
    double place[WAVES], weight[WAVES], re[1000], im[1000];
    for (size_t j = 0; j < WAVES; j++) {
        place[j] = 40.0 * sin(12.9898 * (double)j);
        weight[j] = (1.5 + cos(78.233 * (double)j)) / (2.0 * WAVES);
    }
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (double scale = 1e-4; scale < 3.0; scale *= 7.0) {
            bb_fourier fourier;
            assert_ok(bb_fourier_open(&fourier, counts[c]));
            bb_fourier_sum(&fourier, WAVES, place, scale, weight, re, im);
            for (size_t k = 0; k < counts[c]; k++) {
                double a = 0.0, b = 0.0;
                for (size_t j = 0; j < WAVES; j++) {
                    a += weight[j] * cos((double)k * scale * place[j]);
                    b += weight[j] * sin((double)k * scale * place[j]);
                }
                const double turned = 1e-15 * (double)k * scale * 40.0;
                assert_close(re[k], a, BB_FOURIER_ERROR + turned);
                assert_close(im[k], b, BB_FOURIER_ERROR + turned);
            }
            bb_fourier_close(&fourier);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
