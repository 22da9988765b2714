/* account.h - what a list of events costs, by whichever accountant is asked for, and
 * the same solved for the noise or for the number of rounds. Nothing here depends on
 * data, and the events must be fixed beforehand (bb_account_adaptive is the other
 * case).
 *
 * Every answer is on the safe side: epsilon and delta are upper bounds, noise is
 * rounded up, rounds are rounded down. */
#ifndef BB_PRIVACY_ACCOUNT_H
#define BB_PRIVACY_ACCOUNT_H

#include "privacy/accounting/event.h"

typedef enum bb_accountant {
    BB_ACCOUNTANT_AUTO, /* the smallest answer of all that can price the events */
    BB_ACCOUNTANT_GDP,  /* exact: Gaussian rounds with all tasks, and nothing else */
    BB_ACCOUNTANT_PLD,  /* privacy loss distributions (pld.h): every event */
    BB_ACCOUNTANT_RDP,  /* Renyi, minimised over the order: every event */
    BB_ACCOUNTANT_KOV   /* Kairouz, Oh, Viswanath: steps and selections */
} bb_accountant;
const char *bb_accountant_name(bb_accountant accountant); /* "auto", "gdp", ... */

typedef struct bb_account {
    bb_adjacency adjacency;
    size_t count;
    const bb_event *event;
} bb_account;

typedef struct bb_answer {
    double upper; /* valid: the answer */
    /* Some mechanism with these events, on some two neighbouring populations, needs as
     * much. NAN: not known, as where no mechanism attains the pair that is composed:
     * selections beside others, several rounds of hidden cohorts (docs/privacy.md). */
    double lower;
    bb_accountant accountant;
    double order; /* of rdp; else NAN */
} bb_answer;

/* epsilon at delta, 0 < delta < 1 (delta = 0 only where all events are pure: their
 * sum). upper is INFINITY where no epsilon is valid. BB_EUSAGE: an event out of range
 * or one that this accountant cannot price. */
BB_MUST_CHECK bb_status bb_account_epsilon(const bb_account *account,
                                           bb_accountant accountant, double delta,
                                           bb_answer *answer);
/* The same without the lower bound, which is NAN: what searches need. */
BB_MUST_CHECK bb_status bb_account_upper(const bb_account *account,
                                         bb_accountant accountant, double delta,
                                         bb_answer *answer);
/* delta at epsilon >= 0. */
BB_MUST_CHECK bb_status bb_account_delta(const bb_account *account,
                                         bb_accountant accountant, double epsilon,
                                         bb_answer *answer);

/* As good as none: less noise is not looked for. */
#define BB_NOISE_LEAST 1e-6

/* The smallest factor by which the noise of every Gaussian and Wishart event has to be
 * multiplied so that the whole is (epsilon, delta)-DP; not below that with which the
 * least noise multiplier is BB_NOISE_LEAST. *answer: epsilon at that noise.
 * BB_EBUDGET if no noise suffices (the other events cost too much). */
BB_MUST_CHECK bb_status bb_account_noise(const bb_account *account,
                                         bb_accountant accountant, double epsilon,
                                         double delta, double *factor,
                                         bb_answer *answer);
/* The largest n <= most such that the whole list, repeated n times, is
 * (epsilon, delta)-DP; 0 if not even once. *answer: epsilon at n. */
BB_MUST_CHECK bb_status bb_account_rounds(const bb_account *account,
                                          bb_accountant accountant, double epsilon,
                                          double delta, double most, double *n,
                                          bb_answer *answer);

/* As bb_account_epsilon, where later rounds may be chosen after looking at earlier
 * outputs: gdp adds up mu^2 (Smith, Thakurta 2022; Koskela, Tobaben, Honkela 2022), rdp
 * adds up at the one `order`, which must have been fixed beforehand (Feldman, Zrnic
 * 2021). BB_EUSAGE for pld: what is left of one after outputs were seen is not a valid
 * budget. auto takes gdp where it can, else rdp. */
BB_MUST_CHECK bb_status bb_account_adaptive(const bb_account *account,
                                            bb_accountant accountant, double order,
                                            double delta, bb_answer *answer);

#endif
