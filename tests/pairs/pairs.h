// pairs.h - scenarios made from the rows of the schema, and what a flight of each must show. test_pairs.c
// uses it.
#pragma once
#include "check.h"
#include "scenario/schema.h"
#include "volery/scenario.h"

// --- a scenario as a tree of keys: what can be taken out of it is a node (tree.c)

typedef struct node {
    char key[40];             // in a mapping; empty in a list
    char *text;               // of a scalar; NULL: a mapping or a list
    int is_list;              // 1: a list
    int option;               // which one it is, see options below; -1: none
    const vy_schema_row *row; // of its value; NULL: none
    struct node *first, *next;
} node;

node *node_add(node *parent, const char *key, const char *text); // a scalar, or with NULL a mapping
node *node_copy(const node *tree);
void node_free(node *tree);
node *node_find(const node *parent, const char *key); // a member of a mapping
// The node at `path`, as drones[0].start.position, or the deepest there is on the way; NULL: none.
node *node_at(node *tree, const char *path);
int node_remove(node *tree, const node *leaf); // takes it out and frees it; 0: it is not below `tree`
int node_count(const node *tree);              // of all below it
node *node_number(node *tree, int number);     // of all below it, parents first; NULL beyond the last
int node_path(const node *tree, const node *leaf, char *out, size_t size); // 0: not below
char *node_print(const node *tree);                                        // YAML, to free()

// --- options: what is chosen in a scenario, as "world.gravity.mode=central" (options.c)

enum { OPTION_CAP = 1500 };
int option_number(const char *name); // found, or given a number
const char *option_name(int option);
int option_count(void);
// What a row has that turns something on, when it is off; NULL: it does not.
const char *off_value(const vy_schema_table *table, const vy_schema_row *row);
// Where a flight starts, options of drones[].start.position: in the air, just above the ground or an obstacle
// and down to it, or towards the next drone.
typedef enum start_place {
    START_IN_AIR,
    START_ABOVE_GROUND,
    START_ABOVE_OBSTACLE,
    START_TOWARDS_OTHERS,
    START_PLACES
} start_place;
extern const char *const start_place_names[START_PLACES];
void options_of_schema(void); // numbers all options that the rows have
// Parts and vehicles that an object may be based on, by number; NULL beyond the last.
const char *base_name(const vy_schema_table *table, int number);

// Which pairs have been flown together.
typedef struct pair_set {
    uint64_t bits[OPTION_CAP][OPTION_CAP / 64 + 1];
} pair_set;
void pair_add(pair_set *set, int a, int b);
int pair_has(const pair_set *set, int a, int b);
// Options of a scenario; of several drones those of the first. Their number.
int options_in(const node *tree, int *out);

// --- making one (generate.c)

enum { FORCED_CAP = 80 };
typedef struct request {
    uint64_t seed;
    const pair_set *seen; // free choices go to what has not been seen together; NULL: to chance
    int forced[FORCED_CAP];
    int forced_count;
    double
        optional_fraction; // share of the keys that are written though they need not be; 0: as few as can be
} request;
node *generate(const request *w);
// Without what the loader refuses: keys it complains about are taken out, one after another, until it does
// not. `said` gets the first complaint, or nothing. 0: nothing is left of it.
int make_valid(node *tree, char *said, size_t size);

// --- what a flight must show (oracles.c)

typedef struct verdict {
    const char *oracle; // that failed; NULL: none
    char text[400];     // how
    char refused[200];  // the sentence with which the scenario was refused; empty: it flew
    uint64_t config, end;
    uint64_t steps;
    int ended;   // a limit or failure ended the flight
    int touched; // a drone touched something in it
} verdict;
// `tree`: the same scenario, of which values are set; NULL: none are.
verdict check_flight(const char *text, node *tree, uint64_t seed);
void limit_time(int seconds); // of processor time, for this process; 0: none
verdict check_in_process(const char *text, node *tree, uint64_t seed); // in a process of its own
verdict fly_once(const char *text);                                    // its hashes alone
vy_scenario *load_text(const char *text, const char *const *overrides, int count, char *said, size_t size);

extern const char *pairs_folder; // where logs and failures go
extern int pairs_sampled;        // 1: one width and number of threads of batches by the seed, not all

// --- many of them, on all processors (report.c)

enum {
    JOB_CAP = 256,
    HANG_SECONDS = 120,
    FAILURES_SHOWN = 30
}; // HANG_SECONDS: [s] of processor time after which a scenario is taken to hang
typedef struct totals {
    _Atomic int flown, ended, touched, failures, interrupted;
    _Atomic int next[JOB_CAP]; // scenario of each job
} totals;
extern totals *all_totals; // of all processes
void totals_open(void);
int job_count(void); // JOBS, or as many as there are processors
void count_verdict(const node *tree, const verdict *v,
                   uint64_t seed);         // counts it; a failure is cut down and printed
void fly(const node *tree, uint64_t seed); // beside others, see wait_for_flights
void wait_for_flights(void);
node *at_random(uint64_t seed); // a scenario that is accepted
void fly_random(int count, uint64_t seed);

// --- all pairs (array.c)

extern int pairs_without_flights;   // 1: no flights, scenarios alone
extern int pairs_of_known;          // 1: of options that the list knows alone
extern int pairs_of_new;            // 1: of options that the list does not know, with all
extern int pairs_report_stale;      // 1: a listed pair that flies is a failure though few are looked at
int read_refused(const char *path); // those that are refused on purpose; their number, -1: no such file
int fly_dense(int scenarios);       // many options in each, those first that are not flown together yet
void cover_at_random(int scenarios, uint64_t seed); // pairs of scenarios at random, without flights
// Each pair that is left, with little else. Of those listed as refused one in `every` is tried; 0: none of
// all is. Refused ones are written to `list`, or with NULL compared with those listed.
void fly_remaining(int every, FILE *list);
