/* chi_square.h - the chi^2 distribution. */
#ifndef BB_PRIVACY_CHI_SQUARE_H
#define BB_PRIVACY_CHI_SQUARE_H

/* P(chi^2 <= x) and P(chi^2 > x) with `freedom` > 0 degrees of freedom, each relatively
 * exact (1e-11) where it is small: the series and the continued fraction (Lentz) of the
 * incomplete gamma function. */
void bb_chi_square(double freedom, double x, double *below, double *above);
/* The x with P(chi^2 > x) = above, 0 < above < 1. */
double bb_chi_square_quantile(double freedom, double above);

#endif
