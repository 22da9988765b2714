/* mp-mixed - a private mixed model (squared loss): a centre of the tasks' models and
 * the directions in which they vary around it, found in one conversation whose prices
 * are fixed beforehand and whose questions follow from the answers; then an average, at
 * home, over everything that a task's own rows and the tasks' votes believe in.
 * docs/methods/mp-mixed.md */
#include "methods/mp_mixed.h"

#include "linalg/linalg.h"
#include "methods/hope.h"
#include "methods/mp_mixed_effects.h"
#include "methods/narrow.h"
#include "methods/personal_vote.h"
#include "methods/registry.h"
#include "methods/search.h"
#include "privacy/accounting/chi_square.h"

#include <math.h>
#include <string.h>

/* Of mu^2, both votes together. */
static const double vote_share = 0.05;
/* A common direction of this length stands above the noise of a round. */
static const double signal = 0.7;
/* What one number that all tasks show alike must stand out of all of the noise for their votes to
 * tell whether a constant that others have is near zero, where no range says so. */
static const double least_heard = 50.0;
static const double step = 0.5, momentum = 0.7;
/* The search gives way to directions after this part of the rounds, by whether a centre
 * has stood far out by then, or as soon as what all answers share is `faint' (a square;
 * none is where features are `few'); and only where the rounds that are left can see
 * directions. */
static const double search_found = 0.6, search_not_found = 0.34, far_out = 3.0;
static const double faint = 0.35, few = 12.0;
/* Later than both where tasks have all gone one way: the first answers shared this much, a
 * square, of what they can, and so many are there to say so. */
static const double search_agreed = 0.8, agreement = 0.4;
/* And not while one slope has more than this part of what is shared, or of what is faint. */
static const double one_of_all = 0.5, one_of_faint = 1.0 / 3.0;
/* Unless that is no more than what so many tasks that share nothing have in common by chance, a
 * square of 1 / tasks on average, of few slopes. */
static const double by_chance = 4.0;
static const double least_beside_centre = 8.0, least_alone = 2.5, least_few = 80.0;
/* How often the covariance of directions is estimated anew. */
enum { ESTIMATES = 3, MOST_ROUNDS = 20, VOTES = 2, LEAST_AGREED = 3 };
static const double least_reliability = 0.3;

typedef struct mixed_options {
    bool directions, vote;
    double effects;
} mixed_options;

static const bb_option table[] = {
    {.name = "directions",
     .kind = BB_OPTION_FLAG,
     .offset = offsetof(mixed_options, directions),
     .fallback = "true",
     .argument = "",
     .help =
         "look for the directions in which models vary, where public sizes say that "
         "they can be seen"},
    {.name = "vote",
     .kind = BB_OPTION_FLAG,
     .offset = offsetof(mixed_options, vote),
     .fallback = "true",
     .argument = "",
     .help = "let the tasks vote on what they believe in, for 5 % of the budget"},
    {.name = "effects",
     .kind = BB_OPTION_REAL,
     .offset = offsetof(mixed_options, effects),
     .fallback = "0",
     .least = 0.0,
     .most = 0.5,
     .argument = "SHARE",
     .help = "of the budget (mu^2), for fixed effects and variance components with "
             "standard errors: --report-effects takes 0.2"},
};

/* -- the plan, from public sizes -- */

static const mixed_options *options_of(const bb_view *view) {
    return view->options;
}

static double effects_share(const bb_view *view) {
    return options_of(view)->effects;
}

/* Effects are of columns in their ranges. */
static bool has_units(const bb_view *view) {
    return view->pub->own_units || effects_share(view) == 0.0;
}

size_t bb_mixed_units_state(const bb_view *view) {
    return has_units(view) ? bb_units_state(view) : 0;
}

/* How far a direction that all tasks share stands above the noise, if this share of the
 * budget were spent on one round. */
static double reach_of(const bb_view *view, double share) {
    return bb_hope_reach(view->pub, view->pub->mu * sqrt(share));
}

/* Rounds of each kind, one behind the other. */
typedef struct stages {
    uint32_t units, search, votes, effects;
    double share;  /* of mu^2: what the search and the directions have */
    bool can_turn; /* bb_mixed_can_turn */
} stages;

/* What the rounds after `done` ones could see. */
static double reach_after(const bb_view *view, const stages *s, uint32_t done) {
    return reach_of(view, s->share) * sqrt(1.0 - done / (double)s->search);
}

/* The least reach worth spending on directions: a matrix of few features has little to
 * tell, and nothing beside a centre. */
static double least_reach(const bb_view *view, bool beside_centre) {
    const double d = (double)view->pub->features;
    if (beside_centre) return d > few ? least_beside_centre : INFINITY;
    return fmax(least_alone, least_few / d);
}

static bool can_turn(const bb_view *view, const stages *s) {
    const uint32_t first = (uint32_t)ceil(search_not_found * s->search);
    return options_of(view)->directions && s->search > 1 &&
           view->pub->features <= BB_MIXED_MOST_FEATURES &&
           reach_after(view, s, first) >
               fmin(least_reach(view, false), least_reach(view, true));
}

/* No round of the search: nothing could be seen, and nothing is published. */
static stages stages_of(const bb_view *view) {
    const mixed_options *options = options_of(view);
    stages s = {.units = has_units(view) ? bb_units_rounds(view) : 0};
    const double units = s.units ? s.units * bb_units_share(view) : 0.0;
    s.share = 1.0 - (options->vote ? vote_share : 0.0) - options->effects - units;
    if (!bb_hope_is_open(view->pub, view->pub->mu)) return s;
    const double sharp = signal * reach_of(view, s.share);
    s.search = (uint32_t)fmin(MOST_ROUNDS, fmax(1.0, round(sharp * sharp)));
    s.votes = options->vote ? VOTES : 0;
    s.effects = bb_mixed_effects_rounds(view, options->effects);
    s.can_turn = can_turn(view, &s);
    return s;
}

bool bb_mixed_has_effects(const bb_view *view) {
    return stages_of(view).effects > 0;
}

bool bb_mixed_can_turn(const bb_view *view) {
    return stages_of(view).can_turn;
}

static bb_block block_of(const bb_view *view, bb_mixed_phase phase) {
    switch (phase) {
    case BB_MIXED_UNITS:
        return bb_units_block(view, 0);
    case BB_MIXED_PLACES:
        return bb_units_block(view, 1);
    case BB_MIXED_GROUP_VOTE:
        return (bb_block){"vote on priors", BB_FORM_VECTOR, BB_MIXED_GROUPS, 1.0, 1.0};
    case BB_MIXED_PENALTY_VOTE:
        return (bb_block){"vote on penalties", BB_FORM_VECTOR, BB_MIXED_STEPS, 1.0,
                          1.0};
    case BB_MIXED_DIRECTIONS:
        return (bb_block){"deviations", BB_FORM_OUTER, view->pub->features, 1.0, 1.0};
    default:
        return (bb_block){"directions", BB_FORM_VECTOR, view->pub->features, 1.0, 1.0};
    }
}

/* Whether a conversation that is held may have rounds of this kind. */
static bool may_be(const stages *s, bb_mixed_phase phase) {
    if (phase == BB_MIXED_UNITS) return s->units > 0;
    if (phase == BB_MIXED_PLACES) return s->units > 1;
    if (phase == BB_MIXED_DIRECTIONS) return s->can_turn;
    return phase == BB_MIXED_CENTRE || s->votes > 0;
}

static bb_status plan(const bb_view *view, bb_plan *out) {
    const stages s = stages_of(view);
    if (view->pub->rounds || view->pub->schedule)
        return bb_fail(BB_EUSAGE, "mp-mixed makes its own rounds from public sizes; "
                                  "rounds and schedule cannot be chosen");
    const bb_status status =
        bb_plan_rounds(out, s.units + s.search + s.votes + s.effects);
    if (status) return status;
    bb_step *next = out->step;
    for (uint32_t t = 0; t < s.units; t++) next++->weight = sqrt(bb_units_share(view));
    for (uint32_t t = 0; t < s.search; t++) next++->weight = sqrt(s.share / s.search);
    for (uint32_t t = 0; t < s.votes; t++) next++->weight = sqrt(vote_share / VOTES);
    for (uint32_t t = 0; t < s.effects; t++) {
        bb_layout blocks;
        next++->weight = sqrt(effects_share(view) / s.effects);
        bb_mixed_effects_layout(view, t, &blocks);
        bb_plan_room(out, view->pub, &blocks);
    }
    for (int phase = BB_MIXED_UNITS; s.search && phase < BB_MIXED_EFFECTS; phase++) {
        const bb_layout layout = {1, {block_of(view, (bb_mixed_phase)phase)}};
        if (may_be(&s, (bb_mixed_phase)phase)) bb_plan_room(out, view->pub, &layout);
    }
    return BB_OK;
}

/* -- the billboard -- */

enum {
    AT_FOUND,  /* whether a centre was */
    AT_SURE,   /* the part of the summed averages' square that is no noise, at best */
    AT_FIRST,  /* the length of the first average, its noise taken away */
    AT_STILL,  /* how long the last ones are in the centre's direction beside it; 0
                  where directions are asked for */
    AT_AGREED, /* whether answers have shared most of their length */
    AT_TURNED, /* after how many rounds directions are asked for; 0: not yet */
    AT_ITERATION,   /* how often they were estimated */
    AT_DIRECTIONS,  /* how many were found the last time */
    AT_RELIABILITY, /* of these, as bb_prior_covariance says */
    AT_PACE,        /* of the search */
    AT_PACE_LAST,   /* and the second of its two numbers */
    AT_ROUNDS,      /* 1 / that many rounds' noise is in the average of answers */
    SCALARS
};

/* The places of everything, for who may write. */
typedef struct places {
    double *scalar, *group, *penalty, *variance, *basis, *squares;
    bb_search search;
    double *average, *answer; /* of where the search was, and of the answers there */
} places;

static places places_at(double *at, size_t d) {
    places p = {.scalar = at, .group = at + SCALARS};
    p.penalty = p.group + BB_MIXED_GROUPS;
    p.search.centre = p.penalty + BB_MIXED_PENALTIES;
    p.search.velocity = p.search.centre + d;
    p.search.sum = p.search.velocity + d;
    p.search.pace = at + AT_PACE;
    p.average = p.search.sum + d;
    p.answer = p.average + d;
    p.variance = p.answer + d;
    p.basis = p.variance + d;
    p.squares = p.basis + d * d;
    return p;
}

/* Where the effects begin. */
static size_t effects_at(const bb_view *view, const stages *s) {
    const size_t d = view->pub->features;
    return SCALARS + BB_MIXED_GROUPS + BB_MIXED_PENALTIES + 5 * d +
           (s->can_turn ? d + 2 * d * d : 0);
}

static size_t units_at(const bb_view *view, const stages *s) {
    return effects_at(view, s) + bb_mixed_effects_board(view, effects_share(view));
}

/* With ranges: where the centre is once more, of columns in these. */
static size_t shared_at(const bb_view *view, const stages *s) {
    return units_at(view, s) + bb_units_length(view, s->units);
}

static size_t board_length(const bb_view *view) {
    const stages s = stages_of(view);
    return shared_at(view, &s) + (view->pub->ranged ? view->pub->features : 0);
}

static bb_mixed_phase phase_of(const stages *s, const double *scalar,
                               uint32_t releases) {
    const uint32_t searched = s->units + s->search, voted = searched + s->votes;
    if (releases < s->units) return releases ? BB_MIXED_PLACES : BB_MIXED_UNITS;
    if (releases < searched)
        return scalar[AT_TURNED] > 0.0 ? BB_MIXED_DIRECTIONS : BB_MIXED_CENTRE;
    if (releases >= voted + s->effects) return BB_MIXED_END;
    if (releases >= voted) return BB_MIXED_EFFECTS;
    return releases == searched ? BB_MIXED_PENALTY_VOTE : BB_MIXED_GROUP_VOTE;
}

/* Of the releases for effects, the one that comes now: 0, 1. */
static uint32_t effects_round(const bb_view *view, const stages *s) {
    return view->board->releases - s->units - s->search - s->votes;
}

/* Whether zero is one level for all tasks, which these are enough to vote on. */
static bool has_level(const bb_view *view, const bb_units *units) {
    const size_t target = view->pub->features - view->pub->constant;
    const double heard = reach_of(view, 1.0) * sqrt((double)view->pub->features);
    return units->place && units->place[2 * target + 1] > 0.0 && heard >= least_heard;
}

bb_mixed_board bb_mixed_read(const bb_view *view) {
    const stages s = stages_of(view);
    const size_t d = view->pub->features;
    const double *at = view->board->at,
                 *centre = at + SCALARS + BB_MIXED_GROUPS + BB_MIXED_PENALTIES;
    bb_mixed_board m = {.d = d,
                        .constant = view->pub->constant,
                        .unranged = view->pub->unranged,
                        .can_turn = s.can_turn,
                        .phase = phase_of(&s, at, view->board->releases),
                        .centre = centre,
                        .found = at[AT_FOUND] > 0.0,
                        .sure = at[AT_SURE],
                        .still = at[AT_STILL],
                        .group = at + SCALARS,
                        .penalty = at + SCALARS + BB_MIXED_GROUPS};
    if (has_units(view)) m.units = bb_units_read(view, at + units_at(view, &s));
    m.level = m.unranged && has_level(view, &m.units);
    if (m.phase == BB_MIXED_EFFECTS) {
        const uint32_t round = effects_round(view, &s);
        bb_mixed_effects_layout(view, round, &m.layout);
        m.radius = bb_mixed_effects_radius(at + effects_at(view, &s), d);
    }
    if (!(at[AT_ITERATION] > 0.0)) return m;
    m.iteration = (size_t)fmin(at[AT_ITERATION], ESTIMATES);
    m.directions = at[AT_DIRECTIONS];
    m.reliability = at[AT_RELIABILITY];
    m.variance = centre + 5 * d;
    m.basis = m.variance + d;
    return m;
}

bool bb_mixed_has(const bb_mixed_board *mixed, size_t group) {
    const bool centre = group % 2 == 0;
    if (centre && !mixed->found) return false;
    /* Where rows were moved to tasks' own places there is no other level to be drawn to. */
    if (mixed->unranged && mixed->units.state && mixed->constant && !mixed->level &&
        (group / 2 == BB_MIXED_PLAIN || group / 2 == BB_MIXED_HELD))
        return false;
    if (group / 2 == BB_MIXED_OWN) return mixed->constant;
    return group / 2 < BB_MIXED_ONCE ||
           (mixed->iteration > 0 && mixed->directions > 0.0 &&
            mixed->reliability >= least_reliability);
}

static void layout(const bb_view *view, bb_layout *out) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    if (mixed.phase == BB_MIXED_EFFECTS)
        *out = mixed.layout;
    else
        *out = (bb_layout){1, {block_of(view, mixed.phase)}};
}

/* -- answers -- */

/* What all t answers share, their summed averages' square but for the noise, as a part of what it
 * can be, give or take so many of the noise's deviations. sd: of a round's noise, each number. */
static double in_common(size_t d, double t, double square, double sd,
                        double deviations) {
    const double noise = t * sd * sd;
    const double least = (double)d - deviations * sqrt(2.0 * (double)d);
    return (square - least * noise) / (t * t);
}

/* Whether that is little beside what directions tell of so many features. */
static bool is_faint(size_t d, double t, double square, double sd) {
    return in_common(d, t, square, sd, 2.0) < faint * fmax(0.0, 1.0 - few / (double)d);
}

/* The part of it that the slope has which has most: beside one that has much, deviations that few
 * rows leave to many features look like directions, which they are not. */
static double of_one(size_t slopes, double square, const double *sum) {
    double most = 0.0;
    for (size_t k = 0; k < slopes; k++) most = fmax(most, sum[k] * sum[k]);
    return square > 0.0 ? most / square : 0.0;
}

/* Whether a centre has ever stood far out of the noise. */
static bool is_far_out(const places *at) {
    return at->scalar[AT_SURE] > 1.0 - 1.0 / far_out;
}

/* The part of the rounds after which directions may be asked for. */
static double search_part(const places *at) {
    if (at->scalar[AT_AGREED] > 0.0) return search_agreed;
    return is_far_out(at) ? search_found : search_not_found;
}

/* Whether the next round asks for directions; done: rounds so far. */
static bool turns(const bb_view *view, const stages *s, const places *at, uint32_t done,
                  bool is_little) {
    const bool waited = is_little || done >= search_part(at) * s->search;
    return waited && s->can_turn && done < s->search &&
           reach_after(view, s, done) > least_reach(view, is_far_out(at));
}

/* One more round in the averages of where the search was and of the answers there, each by its
 * number: the first steps have the longest way to go. */
static void remember(const bb_release *release, size_t d, double tasks,
                     const places *at) {
    const double share = 2.0 / (release->round + 1.0);
    for (size_t k = 0; k < d; k++) {
        at->average[k] += share * (at->search.centre[k] - at->average[k]);
        at->answer[k] += share * (release->value[0][k] / tasks - at->answer[k]);
    }
    double *rounds = &at->scalar[AT_ROUNDS];
    *rounds = (1.0 - share) * (1.0 - share) * *rounds + share * share;
}

/* The search is over. Where it has come to rest, the average of where it was has less
 * noise than where it is (Polyak and Juditsky 1992); where it is still on its way, which
 * the averaged answers tell if they are more than noise, it is behind. sd: of the noise of a
 * round's answer, each number. */
static void settle(const places *at, size_t d, double sd) {
    const double square = bb_dot(d, at->answer, at->answer);
    const double noise = (double)d * sd * sd * at->scalar[AT_ROUNDS];
    const double moving = square > noise ? 1.0 - noise / square : 0.0;
    double *centre = at->search.centre;
    for (size_t k = 0; k < d; k++) {
        centre[k] = at->average[k] + moving * (centre[k] - at->average[k]);
        if (at->scalar[AT_FOUND] == 0.0) centre[k] = 0.0;
    }
    const double first = bb_norm(d, centre) * at->scalar[AT_FIRST];
    const double along = bb_dot(d, centre, at->answer);
    const bool rests = !(first > 0.0) || at->scalar[AT_TURNED] > 0.0;
    at->scalar[AT_STILL] = rests ? 0.0 : fmin(1.0, fmax(0.0, along / first));
}

static void digest_centre(const bb_view *view, const stages *s,
                          const bb_release *release, const places *at, double *work) {
    const size_t d = view->pub->features;
    const double tasks = (double)view->pub->tasks, t = release->round;
    const double sd = release->noise[0] / tasks, rounds = s->search;
    const double square = bb_search_move(&at->search, release, d, view->pub->constant,
                                         1, tasks, step, momentum, work);
    const double noise =
        rounds > 1.0 ? t * sd * sd * bb_chi_square_quantile((double)d, 1.0 / rounds)
                     : 0.0;
    const double doubtful = fmax(noise, t * sd * sd * (double)d);
    remember(release, d, tasks, at);
    if (release->round == 1)
        at->scalar[AT_FIRST] = sqrt(fmax(0.0, square - (double)d * sd * sd));
    if (square > noise) at->scalar[AT_FOUND] = 1.0;
    if (square > doubtful)
        at->scalar[AT_SURE] = fmax(at->scalar[AT_SURE], 1.0 - doubtful / square);
    if (t >= LEAST_AGREED && in_common(d, t, square, sd, -2.0) > agreement)
        at->scalar[AT_AGREED] = 1.0;
    const bool chance = in_common(d, t, square, sd, 0.0) < by_chance / tasks;
    const double one =
        chance ? 0.0 : of_one(d - view->pub->constant, square, at->search.sum);
    /* Where tasks have agreed on a way, answers that share little have gone past its end. */
    const bool little = at->scalar[AT_AGREED] == 0.0 && one <= one_of_faint &&
                        is_faint(d, t, square, sd);
    if (one <= one_of_all && turns(view, s, at, release->round, little))
        at->scalar[AT_TURNED] = release->round;
    if (at->scalar[AT_TURNED] > 0.0 || t == rounds) settle(at, d, sd);
}

/* out (d) <- the centre for columns in their ranges. */
static void share(const bb_mixed_board *mixed, const bb_view *view,
                  const double *centre, double *out) {
    const bb_units *units = &mixed->units;
    if (units->place)
        bb_narrow_back(view, units->unit, units->place, centre, out);
    else
        memcpy(out, centre, mixed->d * sizeof *out);
}

/* The average of the rounds so far, and at times the covariance that it tells of. */
static bb_status digest_directions(const bb_view *view, const stages *s,
                                   const bb_release *release, const places *at,
                                   double *work) {
    const size_t d = view->pub->features;
    const uint32_t turned = (uint32_t)at->scalar[AT_TURNED], last = s->search;
    const uint32_t done = release->round - turned;
    const uint32_t every = (last - turned + ESTIMATES - 1) / ESTIMATES;
    double *mean = work;
    bb_axpy(d * d, 1.0, release->value[0], at->squares);
    if (done % every != 0 && release->round != last) return BB_OK;
    for (size_t k = 0; k < d * d; k++) mean[k] = at->squares[k] / done;
    const bb_prior_draft found = {.d = d,
                                  .directions = &at->scalar[AT_DIRECTIONS],
                                  .reliability = &at->scalar[AT_RELIABILITY],
                                  .variance = at->variance,
                                  .basis = at->basis};
    const double noise = release->noise[0] / sqrt(done);
    at->scalar[AT_ITERATION] += 1.0;
    return bb_prior_covariance(&found, BB_PRIOR_LOW_RANK, mean, noise, work + d * d);
}

/* Where the search ended, and how much noise the average of its answers had. */
static bb_mixed_end end_of(const bb_view *view, const stages *s,
                           const bb_mixed_board *mixed) {
    const bb_public *pub = view->pub;
    const double mu = pub->mu * sqrt(s->share / s->search);
    const double sd = bb_form_sensitivity(BB_FORM_VECTOR, pub->adjacency) / mu;
    return (bb_mixed_end){.centre = mixed->centre,
                          .found = mixed->found,
                          .noise = sd / (double)pub->tasks *
                                   sqrt(view->board->at[AT_ROUNDS]),
                          .still = mixed->still};
}

static bb_status digest_effects(const bb_view *view, const stages *s,
                                const bb_mixed_board *mixed, const bb_release *release,
                                double *at, double *work) {
    const bb_mixed_end end = end_of(view, s, mixed);
    return bb_mixed_effects_digest(view, effects_share(view), effects_round(view, s),
                                   release, &end, at, work);
}

static bb_status digest(const bb_view *view, const bb_release *release, bb_draft *draft,
                        double *work) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    const stages s = stages_of(view);
    const places at = places_at(draft->at, mixed.d);
    bool is[BB_MIXED_GROUPS];
    bb_release seen = *release; /* of the search and what follows */
    seen.round -= s.units;
    release = &seen;
    switch (mixed.phase) {
    case BB_MIXED_UNITS:
        bb_units_take(view, release, draft->at + units_at(view, &s));
        return BB_OK;
    case BB_MIXED_PLACES:
        bb_units_take_places(view, release,
                             draft->at + units_at(view, &s) + bb_units_length(view, 1));
        return BB_OK;
    case BB_MIXED_DIRECTIONS:
        return digest_directions(view, &s, release, &at, work);
    case BB_MIXED_GROUP_VOTE:
        for (size_t g = 0; g < BB_MIXED_GROUPS; g++) is[g] = bb_mixed_has(&mixed, g);
        bb_vote_take(BB_MIXED_GROUPS, is, release->value[0], release->noise[0],
                     bb_vote_usual, view->pub->tasks, at.group);
        return BB_OK;
    case BB_MIXED_PENALTY_VOTE:
        bb_mixed_take_penalties(release, view->pub->tasks, at.penalty);
        return BB_OK;
    case BB_MIXED_EFFECTS:
        return digest_effects(view, &s, &mixed, release,
                              draft->at + effects_at(view, &s), work);
    default:
        digest_centre(view, &s, release, &at, work);
        if (view->pub->ranged)
            share(&mixed, view, at.search.centre, draft->at + shared_at(view, &s));
        return BB_OK;
    }
}

static size_t digest_length(const bb_view *view) {
    const size_t d = view->pub->features;
    const size_t search =
        bb_mixed_can_turn(view) ? d * d + bb_prior_digest_length(view) : d;
    const size_t effects =
        effects_share(view) > 0.0 ? bb_mixed_effects_digest_length(view) : 0;
    return search > effects ? search : effects;
}

static const double *shared(const bb_view *view) {
    const stages s = stages_of(view);
    return view->pub->ranged ? view->board->at + shared_at(view, &s)
                             : bb_mixed_read(view).centre;
}

static const double *effects(const bb_view *view) {
    const stages s = stages_of(view);
    return effects_share(view) > 0.0 ? view->board->at + effects_at(view, &s) : NULL;
}

static size_t effects_length(const bb_view *view) {
    return bb_mixed_effects_board(view, effects_share(view));
}

static const char *note(const bb_view *view) {
    const bb_mixed_board mixed = bb_mixed_read(view);
    if (stages_of(view).search == 0) return bb_hope_gone;
    return mixed.found || bb_mixed_has(&mixed, 2 * BB_MIXED_ONCE + 1)
               ? NULL
               : "nothing that tasks share stands out of the noise: every task was "
                 "left as it is alone";
}

const bb_method bb_method_mp_mixed = {
    .name = "mp-mixed",
    .summary =
        "a private mixed model: a centre, directions around it, an average at home",
    .kind = BB_METHOD_PRIVATE,
    .losses = BB_SUPPORTS_SQUARED,
    .common_units = true,
    .foreseen = true,
    .long_rows = true,
    .shared_intercept = true,
    .options = {table, sizeof table / sizeof *table},
    .options_size = sizeof(mixed_options),
    .plan = plan,
    .board_length = board_length,
    .state_length = bb_mixed_state_length,
    .kept_length = bb_mixed_kept_length,
    .digest_length = digest_length,
    .local_length = bb_mixed_local_length,
    .layout = layout,
    .train = bb_mixed_train,
    .show = bb_mixed_show,
    .digest = digest,
    .finish = bb_mixed_finish,
    .shared = shared,
    .effects = effects,
    .effects_length = effects_length,
    .spread_length = bb_mixed_spread_length,
    .spread = bb_mixed_spread,
    .note = note,
};
