// search.h - looking for the worst case: CMA-ES in the unit cube (Hansen 2016, with a Cholesky factor), and
// plain draws where the scores have no slope. A pure function of the seed and of the scores so far; the same
// bits everywhere.
#pragma once
#include "campaign/plan.h"

enum { VY_SEARCH_POPULATION = 8 };

typedef struct vy_search {
    uint64_t seed;                                         ///< of everything that is drawn
    int size;                                              ///< variables
    uint64_t generation;                                   ///< generations that have been scored
    int is_adapting;                                       ///< 0: the next generation is drawn evenly
    double mean[VY_PLAN_VARY_CAP], sigma;                  ///< of the distribution that points are drawn from
    double path[VY_PLAN_VARY_CAP];                         ///< evolution path: Hansen's p_c
    double path_sigma[VY_PLAN_VARY_CAP];                   ///< its conjugate for the step size: p_sigma
    double covariance[VY_PLAN_VARY_CAP][VY_PLAN_VARY_CAP]; ///< of the distribution, over sigma squared
    double factor[VY_PLAN_VARY_CAP][VY_PLAN_VARY_CAP];     ///< lower triangular: its square is the covariance
    double best;                                           ///< score seen so far
    double best_point[VY_PLAN_VARY_CAP];                   ///< the point that has it
    int has_best;                                          ///< there is a best
} vy_search;

vy_search vy_search_begin(uint64_t seed, int variable_count);

/// The `count` points of the next generation, in (0, 1).
void vy_search_ask(const vy_search *s, int count, double points[][VY_PLAN_VARY_CAP]);

/// Their scores: smaller is worse, which is what is looked for.
void vy_search_tell(vy_search *s, int count, double points[][VY_PLAN_VARY_CAP], const double *scores);
