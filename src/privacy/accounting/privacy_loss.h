/* privacy_loss.h - the privacy loss of one event as a random variable, through its moments;
 * private to this room.
 *
 * P and Q are the losses of what is published in the two worlds (the dominating pair of
 * docs/privacy.md), loss = log(dP/dQ), and
 *     M(s) = E_P[e^(s loss); loss < infinity],   s = c + i omega.
 * Composition multiplies M. A loss is *tilted* to one c; what is read from it then is
 * phi(omega) = M(c + i omega) / M(c), the characteristic function of the tilted loss.
 */
#ifndef BB_PRIVACY_PRIVACY_LOSS_H
#define BB_PRIVACY_PRIVACY_LOSS_H

#include "privacy/accounting/event.h"
#include "privacy/accounting/fourier.h"

#include <stdbool.h>

/* Which world P is: the one with the task's data, or the one without. */
typedef enum bb_direction { BB_WITH, BB_WITHOUT } bb_direction;

typedef enum bb_privacy_loss_kind {
    BB_PRIVACY_LOSS_GAUSSIAN,  /* (1 - rate) + rate e^(mu^2 s (s + 1) / 2) */
    BB_PRIVACY_LOSS_SELECTION, /* sinh((s + 1/2) e) / ((s + 1/2) 2 sinh(e / 2)) */
    BB_PRIVACY_LOSS_STEP,      /* two losses, +epsilon and -epsilon */
    BB_PRIVACY_LOSS_CURVES /* quadrature nodes along one or two curves, and an atom at 0 */
} bb_privacy_loss_kind;

/* A one-dimensional family t -> (loss, density); privacy_loss_curve.c. */
typedef enum bb_curve_kind {
    BB_CURVE_MIXTURE,      /* P = (1-q) N(0,1) + q N(mu,1), Q = N(0,1) */
    BB_CURVE_PLAIN,        /* P = N(0,1), Q = the mixture */
    BB_CURVE_MIRROR,       /* P = the mixture, Q = the mixture with -mu */
    BB_CURVE_HIDDEN,       /* P = q N(mu,1) + (1-q) N(-back,1), Q = q N(0,1) + (1-q)
                         N(-back,1), on t >= mu/2, where the loss rises from 0 */
    BB_CURVE_HIDDEN_PLAIN, /* the same with P and Q exchanged: it falls from 0 */
    BB_CURVE_WISHART,      /* P = ratio + chi^2, Q = chi^2; t = log of chi^2 */
    BB_CURVE_CENTRAL,      /* P = chi^2, Q = ratio + chi^2, on chi^2 > ratio;
                         t = log(chi^2 - ratio) */
    BB_CURVE_EVEN          /* a selection's: loss t in [-mu, mu], density ~ e^(t/2) */
} bb_curve_kind;

typedef struct bb_curve {
    bb_curve_kind kind;
    double q, mu, back; /* back: of hidden cohorts, else 0 */
    double freedom, ratio, log_norm;
    double from, to; /* it is cut there; infinite: as far as there is density */
} bb_curve;

/* What a node on the curve costs, in multiplications or so. */
double bb_curve_work(const bb_curve *curve);
/* The error of a coarse spectrum. */
#define BB_PRIVACY_LOSS_BLUR 2e-11

enum {
    BB_PRIVACY_LOSS_CURVES_MOST = 2,
    BB_PRIVACY_LOSS_ENVELOPES = 40,
    BB_PRIVACY_LOSS_NODES_MOST = 1 << 17
};

/* |phi(omega)| <= atom + variation / omega; the density of the loss has that variation.
 */
typedef struct bb_envelope {
    double atom, variation;
} bb_envelope;

typedef struct bb_privacy_loss {
    bb_privacy_loss_kind kind;
    double rate, mu, epsilon; /* of the closed forms */
    bb_curve curve[BB_PRIVACY_LOSS_CURVES_MOST];
    size_t curves;
    double loss_atom;          /* untilted mass at loss 0 */
    double infinite;           /* mass of P at infinite loss */
    double lost;               /* mass of P at large losses that is left out */
    double beyond_p, beyond_q; /* both masses of what bb_privacy_loss_cut left out */
    bool coarse;               /* a spectrum may be wrong by `blur`, and is less work */
    /* after bb_privacy_loss_tilt: */
    double tilt, log_moment; /* c, log M(c) */
    double error;            /* relative, of M(c) */
    double slip, blur;       /* phi(omega) - 1 has the error omega slip + blur */
    double atom;             /* share of loss 0 */
    size_t envelopes;        /* all of them hold */
    bb_envelope envelope[BB_PRIVACY_LOSS_ENVELOPES];
    double counted_reach; /* for which `counted` nodes are needed; 0: not known */
    size_t counted;
    double done;           /* the work of all tilts and spectra, as it was done */
    size_t count, room;    /* nodes */
    double *loss, *weight; /* the weights and the atom add up to 1 */
} bb_privacy_loss;

/* The loss of the event; adjacency as in account.h. Of rare large losses a mass of up to
 * `lose` >= 0 is left out: M no longer grows with them. No memory is taken. */
void bb_privacy_loss_open(bb_privacy_loss *loss, const bb_event *event,
                          bb_adjacency adjacency, bb_direction direction, double lose);
/* Leaves out all losses of sampled rounds above `most` > 0, whatever was left out before;
 * where losses cannot be as large, or are not those of curves, nothing. */
void bb_privacy_loss_cut(bb_privacy_loss *loss, double most);
/* Whether BB_WITH and BB_WITHOUT have the same loss. */
bool bb_privacy_loss_is_symmetric(const bb_event *event, bb_adjacency adjacency);
void bb_privacy_loss_close(bb_privacy_loss *loss);

/* Fails: such losses need too many nodes. */
BB_MUST_CHECK bb_status bb_privacy_loss_too_large(void);

/* log M(c), c > 0, as a tilt would find it; INFINITY where that needs too many nodes.
 * *work: += what it costs, in multiplications or so. */
double bb_privacy_loss_moment(const bb_privacy_loss *loss, double c, double *work);
/* What a tilt does for closed forms, and for a moment near 1 that has been read off the
 * nodes: better than to a rounding error of 1. */
void bb_privacy_loss_tilt_closed(bb_privacy_loss *loss);
void bb_privacy_loss_settle_moment(bb_privacy_loss *loss);
/* Tilts to c > 0, good for frequencies up to `reach`. */
BB_MUST_CHECK bb_status bb_privacy_loss_tilt(bb_privacy_loss *loss, double c,
                                             double reach);
/* The nodes that frequencies up to reach would need, after bb_privacy_loss_tilt; if they are
 * more than `most`, some number above that. */
size_t bb_privacy_loss_nodes(bb_privacy_loss *loss, double reach, size_t most);
/* What the spectrum at n frequencies up to reach costs, after bb_privacy_loss_tilt, in
 * multiplications or so, `fast` with an FFT; if that is more than `most`, some number above it. */
double bb_privacy_loss_work(bb_privacy_loss *loss, double reach, double n, bool fast,
                            double most);
/* re[k] + i im[k] = phi(from + k step) - 1, k < n: many rounds make much of little
 * differences from 1. `fourier`, of n frequencies, or NULL: there may be errors beside
 * the relative ones, `blur`; then from = 0. */
void bb_privacy_loss_spectrum(bb_privacy_loss *loss, double from, double step, size_t n,
                              bb_fourier *fourier, double *re, double *im);
/* An upper bound of |phi| at every frequency from omega > 0 on. */
double bb_privacy_loss_envelope(const bb_privacy_loss *loss, double omega);

/* The points in (0, 1), and the weights, of the rule of 16 points for [-1, 1] that all
 * integrals along a curve use, and the longest panel that it is good for. */
enum { BB_GAUSS_HALF = 8 };
extern const double bb_gauss_at[BB_GAUSS_HALF], bb_gauss_weight[BB_GAUSS_HALF];
double bb_privacy_loss_panel(const bb_curve *curve, double c);

/* One point of a curve: the loss, the log density of P times e^(c loss), |d loss / dt|,
 * and the size of the numbers that were added up for the density. */
typedef struct bb_point {
    double loss, log_weight, slope, size;
} bb_point;
bb_point bb_curve_point(const bb_curve *curve, double c, double t);
/* Its log_weight alone. */
double bb_curve_weight(const bb_curve *curve, double c, double t);
/* Of rounds, as functions of t: the factors 1 + *ahead and 1 + *back of which dP/dQ is the
 * ratio (P the mixture), and the log density of that under which both have mean 1. */
void bb_curve_gains(const bb_curve *curve, double t, double *ahead, double *back);
double bb_curve_log_base(const bb_curve *curve, double t);
/* P and Q beyond t, P being the mixture. */
void bb_curve_tails(const bb_curve *curve, double t, double *p, double *q);
/* Where the tilted density is not negligible. */
void bb_curve_range(const bb_curve *curve, double c, double *from, double *to);
/* The log of the tilted density somewhere near its maximum: not above it. */
double bb_curve_top(const bb_curve *curve, double c);
/* A bound of |d loss / dt| in [from, to]. */
double bb_curve_slope(const bb_curve *curve, double from, double to);
/* The half width of a strip around the real line in which the tilted density grows at
 * most by e^growth. */
double bb_curve_strip(const bb_curve *curve, double c, double growth);

#endif
