// array.c - a covering array: scenarios of many options each, until every pair of options has been flown
// together or is known to be refused (tests/data/pairs.txt).
#include "pairs.h"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPTIONS_AT_FIRST = 45, LOW_YIELD_ROUNDS = 4, SENTENCE_CAP = 400, SENTENCE_SIZE = 300 };
// OPTIONS_AT_FIRST: options of a scenario at first. LOW_YIELD_ROUNDS: scenarios in a row with few new pairs,
// after which there are fewer.

static const char *const cannot_be_written = "one leaves no place for the other";
int pairs_without_flights;
static pair_set seen, always_refused, refused_pairs, tried;
static char is_known[OPTION_CAP]; // options that the list was written with
int pairs_of_known, pairs_of_new, pairs_report_stale;
static char *sentences[SENTENCE_CAP];
static int sentence_count;

static int is_in(const int *list, int count, int option)
{
    for (int i = 0; i < count; ++i) {
        if (list[i] == option) return 1;
    }
    return 0;
}

// Both options are of one key: one of them at most can be chosen.
static int is_same_key(int a, int b)
{
    static int keys[OPTION_CAP], known; // of each option the first of its key
    for (; known < option_count(); ++known) {
        const char *name = option_name(known);
        const size_t size = strcspn(name, "=") + 1;
        for (keys[known] = 0; strncmp(option_name(keys[known]), name, size) != 0;) ++keys[known];
    }
    return keys[a] == keys[b];
}

// New pairs of the scenario are seen now; written to `out`, if there is one. Their number.
static int count_pairs(const node *tree, FILE *out)
{
    int options[OPTION_CAP], fresh = 0;
    const int count = options_in(tree, options);
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < i; ++k) {
            if (pair_has(&seen, options[i], options[k])) continue;
            ++fresh;
            if (out != NULL) fprintf(out, "+\t%d\t%d\n", options[i], options[k]);
            pair_add(&seen, options[i], options[k]);
        }
    }
    return fresh;
}

// --- what is refused on purpose

// A sentence without its place, figures and names.
static void normalise_sentence(const char *said, char *out, size_t size)
{
    const char *text = strstr(said, ": ");
    size_t used = 0;
    for (text = text != NULL ? text + 2 : said; *text != '\0' && used + 2 < size;) {
        const size_t figure = strspn(text, "+-.0123456789");
        if (figure > 0 && strcspn(text, "0123456789") < figure) {
            out[used++] = '#';
            text += figure;
        } else {
            out[used++] = *text++;
        }
    }
    out[used] = '\0';
}

static int sentence_number(const char *text, int add)
{
    int i = 0;
    while (i < sentence_count && strcmp(sentences[i], text) != 0) ++i;
    if (i < sentence_count) return i;
    if (!add) return -1;
    assert_true(i < SENTENCE_CAP);
    sentences[i] = strdup(text);
    return sentence_count++;
}

// "= sentence", then lines of an option and those that it is refused with. Behind an option ~ says that a
// third one lets them fly: such pairs are not wished for, and may fly.
int read_refused(const char *path)
{
    static char line[1 << 16];
    FILE *in = fopen(path, "r");
    int pairs = 0;
    if (in == NULL) return -1;
    while (fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0') continue;
        if (line[0] == '=') {
            sentence_number(line + 2, 1);
            continue;
        }
        if (line[0] == '@') { // an option that there was
            const int count = option_count(), option = option_number(line + 2);
            if (option == count) fail_msg("%s: there is no option %s any longer", path, line + 2);
            is_known[option] = 1;
            continue;
        }
        char *rest, *first = strtok_r(line, " ", &rest);
        first[strcspn(first, ":")] = '\0';
        for (char *other; (other = strtok_r(NULL, " ", &rest)) != NULL;) {
            const int known = option_count(), a = option_number(first),
                      is_conditional = strchr(other, '~') != NULL;
            other[strcspn(other, "~")] = '\0';
            const int all = strcmp(other, "*") == 0, b = all ? a : option_number(other);
            if (option_count() > known) fail_msg("%s: there is no option %s or %s", path, first, other);
            for (int k = all ? 0 : b; k < (all ? known : b + 1); ++k) {
                pair_add(&refused_pairs, a, k);
                if (!is_conditional) pair_add(&always_refused, a, k);
                ++pairs;
            }
        }
    }
    fclose(in);
    return pairs;
}

// --- scenarios of many options

// A scenario with what is wished for, as far as it is accepted, or NULL where the first two options are not.
// `said`: why not; empty when they cannot even be written together.
static node *generate_pair(const request *w, char *said, size_t size)
{
    int options[OPTION_CAP];
    node *tree = generate(w);
    int count = options_in(tree, options);
    said[0] = '\0';
    if (is_in(options, count, w->forced[0]) && is_in(options, count, w->forced[1]) &&
        make_valid(tree, said, size)) {
        count = options_in(tree, options);
        if (is_in(options, count, w->forced[0]) && is_in(options, count, w->forced[1])) return tree;
    }
    node_free(tree);
    return NULL;
}

// Options newer than the list are flown at random, and by test_pairs each.
static int is_considered(int option) { return !pairs_of_known || is_known[option]; }

// How many pairs of `option` with those wished for are new; -1: it cannot be among them.
static int new_pairs_with(const request *w, int option)
{
    int gain = 0;
    if (!is_considered(option)) return -1;
    for (int i = 0; i < w->forced_count; ++i) {
        if (is_same_key(w->forced[i], option) || pair_has(&refused_pairs, w->forced[i], option)) return -1;
        gain += !pair_has(&seen, w->forced[i], option);
    }
    return gain;
}

// More options that have not been seen with those wished for.
static void request_more(request *w, int option_limit)
{
    random_source r = {w->seed};
    for (int share = 4; share >= 1; share /= 2) { // those with the most news first
        const int count = option_count(), first = (int)(random_bits(&r) % (unsigned)count);
        for (int n = 0; n < count && w->forced_count < option_limit; ++n) {
            const int option = (first + n * 7919) % count, gain = new_pairs_with(w, option);
            if (gain > 0 && 5 * gain >= share * w->forced_count) w->forced[w->forced_count++] = option;
        }
    }
}

// Whether the pair is asked for: where those of new options are, one of them is.
static int is_wanted(int a, int b) { return !pairs_of_new || !is_known[a] || !is_known[b]; }

static int is_uncovered(int a, int b)
{
    return is_wanted(a, b) && is_considered(a) && is_considered(b) && !is_same_key(a, b) &&
           !pair_has(&seen, a, b) && !pair_has(&refused_pairs, a, b);
}

// The option with the most open pairs, and the one of those that has the most with it.
static int begin_request(request *w, uint64_t seed)
{
    const int count = option_count(), turn = (int)(seed * 7919 % (uint64_t)count);
    int best = -1, max = 0;
    for (int n = 0; n < count; ++n) {
        const int a = (n + turn) % count;
        int open = 0;
        for (int b = 0; b < count; ++b) open += b != a && is_uncovered(a, b) && !pair_has(&tried, a, b);
        if (open > max) {
            max = open;
            best = a;
        }
    }
    if (best < 0) return 0;
    *w = (request){.seed = seed, .optional_fraction = 0.02, .forced = {best}, .forced_count = 1};
    for (int n = 0; n < count && w->forced_count < 2; ++n) {
        const int b = (n + turn) % count;
        if (b != best && is_uncovered(best, b) && !pair_has(&tried, best, b))
            w->forced[w->forced_count++] = b;
    }
    pair_add(&tried, w->forced[0], w->forced[1]);
    return 1;
}

// Fewer options at a time when they take each other away: each pair is tried again then.
static int reduce_limit(int option_limit)
{
    memset(&tried, 0, sizeof tried);
    return option_limit > 3 ? option_limit * 2 / 3 : 2;
}

int fly_dense(int scenarios)
{
    int flown = 0, fresh = 0, low_yield = 0, option_limit = OPTIONS_AT_FIRST;
    for (int n = 0; flown < scenarios; ++n) {
        request w;
        char said[SENTENCE_SIZE];
        if (!begin_request(&w, (uint64_t)n)) {
            if (option_limit == 2) break;
            option_limit = reduce_limit(option_limit);
            continue;
        }
        request_more(&w, option_limit);
        node *tree = generate(&w);
        const int gained = make_valid(tree, said, sizeof said) ? count_pairs(tree, NULL) : 0;
        if (gained > 0) fly(tree, w.seed);
        node_free(tree);
        flown += gained > 0;
        fresh += gained;
        low_yield = gained < option_limit / 2 ? low_yield + 1 : 0;
        if (pairs_without_flights && n % 100 == 99)
            fprintf(stderr, "%d scenarios of %d options, %d pairs\n", flown, option_limit, fresh);
        if (low_yield < LOW_YIELD_ROUNDS || option_limit == 2) continue;
        option_limit = reduce_limit(option_limit);
        low_yield = 0;
    }
    wait_for_flights();
    return flown;
}

void cover_at_random(int scenarios, uint64_t seed)
{
    for (int i = 0; i < scenarios; ++i) {
        node *tree = at_random(seed + (uint64_t)i);
        (void)count_pairs(tree, NULL);
        node_free(tree);
    }
}

// --- each pair that is left

// Fly both together, with as little else as can be. 0: they are refused.
static int fly_both(int a, int b, uint64_t seed, FILE *out, char *said, size_t size)
{
    char other[SENTENCE_SIZE];
    request minimal = {.seed = seed, .forced = {a, b}, .forced_count = 2};
    node *tree = generate_pair(&minimal, said, size);
    for (int again = 0; tree == NULL && said[0] != '\0' && again < 8;
         ++again) { // it may need what is not asked for
        minimal.seed = seed + (uint64_t)again;
        minimal.optional_fraction = 0.15;
        tree = generate_pair(&minimal, other, sizeof other);
    }
    if (tree == NULL) return 0;
    char *text = node_print(tree);
    const verdict v = pairs_without_flights ? (verdict){0} : check_in_process(text, tree, seed);
    count_verdict(tree, &v, seed);
    (void)count_pairs(tree, out);
    free(text);
    node_free(tree);
    return 1;
}

// Pairs of one job: those that are refused are written to `out`, as a line each.
static void try_pairs(int job, int jobs, int every, FILE *out)
{
    const int count = option_count();
    int number = 0;
    for (int a = 0; a < count; ++a) {
        for (int b = a + 1; b < count; ++b) {
            char said[SENTENCE_SIZE], plain[SENTENCE_SIZE];
            const int known = pair_has(&refused_pairs, a, b);
            if (++number % jobs != job || is_same_key(a, b) || pair_has(&seen, a, b)) continue;
            if (!is_considered(a) || !is_considered(b) || !is_wanted(a, b)) continue;
            if (known && number / jobs % every != 0) continue;
            if (fly_both(a, b, (uint64_t)(a * count + b) * 8, out, said, sizeof said)) continue;
            normalise_sentence(said[0] == '\0' ? cannot_be_written : said, plain, sizeof plain);
            fprintf(out, "%s\t%d\t%d\n", plain, a, b);
        }
    }
}

// An option that flies with no other is refused by itself.
static int is_never_flown(int a)
{
    for (int b = 0; b < option_count(); ++b) {
        if (pair_has(&seen, a, b)) return 0;
    }
    return 1;
}

// Refused pairs in the form that read_refused() reads.
static void write_refused(const pair_set *refused, const char *sentence, FILE *out)
{
    int lines = 0;
    for (int a = 0; a < option_count(); ++a) {
        int pairs = 0, count = 0;
        const int alone = is_never_flown(a) && is_wanted(a, a);
        for (int b = 0; b < option_count(); ++b) count += pair_has(refused, a, b);
        for (int b = alone ? 0 : a + 1; b < option_count() && (!alone || 2 * count > option_count()); ++b) {
            if (!pair_has(refused, a, b) || pair_has(&seen, a, b)) continue;
            if (!alone && is_never_flown(b) && is_wanted(b, b)) continue;
            if (lines == 0) fprintf(out, "\n= %s\n", sentence);
            if (pairs == 0) fprintf(out, "%s:%s", option_name(a), alone ? " *" : "");
            if (!alone) fprintf(out, " %s", option_name(b));
            lines += pairs++ == 0;
        }
        if (pairs > 0) fprintf(out, "\n");
    }
}

static pair_set *by_sentence[SENTENCE_CAP];

// What the jobs wrote. Counts pairs flown; complains of sentences and pairs that are not listed.
static void read_results(const char *path, int strict, int *flown, int *refused)
{
    static char line[1000];
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in) != NULL) {
        char *rest, *plain = strtok_r(line, "\t", &rest);
        const int a = (int)strtol(rest, &rest, 10), b = (int)strtol(rest, NULL, 10);
        const int known = pair_has(&always_refused, a, b), flies = strcmp(plain, "+") == 0;
        *flown += flies;
        *refused += !flies;
        if (flies) pair_add(&seen, a, b);
        const int number = flies ? -1 : sentence_number(plain, !strict);
        const int fresh = !is_known[a] || !is_known[b]; // the list is older than the option
        if (strict && flies == known && (flies || !pair_has(&refused_pairs, a, b))) {
            print_error("%s with %s: %s, and is %slisted\n", option_name(a), option_name(b),
                        flies ? "flies" : plain, known ? "" : "not ");
            all_totals->failures += !fresh && (flies || number < 0);
        } else if (strict && !flies && number < 0) {
            print_error("%s with %s: %s: not a listed sentence\n", option_name(a), option_name(b), plain);
            ++all_totals->failures;
        }
        if (number < 0) continue;
        if (by_sentence[number] == NULL) by_sentence[number] = calloc(1, sizeof(pair_set));
        pair_add(by_sentence[number], a, b);
    }
    fclose(in);
    remove(path);
}

void fly_remaining(int every, FILE *list)
{
    char path[JOB_CAP][300];
    int flown = 0, refused = 0, covered = 0, pairs = 0;
    const int jobs = every > 0 ? job_count() : 0;
    for (int job = 0; job < jobs; ++job) {
        snprintf(path[job], sizeof path[job], "%s/rest-%d", pairs_folder, job);
        fflush(NULL);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child > 0) continue;
        FILE *out = fopen(path[job], "w");
        try_pairs(job, jobs, every, out);
        fclose(out);
        _exit(0);
    }
    for (int job = 0; job < jobs; ++job) {
        int status;
        wait(&status);
        all_totals->failures += status != 0;
    }
    for (int job = 0; job < jobs; ++job) read_results(path[job], list == NULL, &flown, &refused);
    for (int a = 0; a < option_count(); ++a) {
        for (int b = a + 1; b < option_count(); ++b) {
            const int counts = !is_same_key(a, b) && is_considered(a) && is_considered(b) && is_wanted(a, b);
            pairs += counts;
            covered += counts && pair_has(&seen, a, b);
            if (pair_has(&seen, a, b) && pair_has(&always_refused, a, b) && list == NULL) {
                print_error("%s with %s: flies, and is listed as refused\n", option_name(a), option_name(b));
                all_totals->failures += every > 0 || pairs_report_stale; // in make test it is told
            }
        }
    }
    for (int i = 0; list != NULL && i < option_count(); ++i)
        if (is_wanted(i, i)) fprintf(list, "@ %s\n", option_name(i));
    for (int i = 0; list != NULL && i < sentence_count; ++i)
        if (by_sentence[i] != NULL) write_refused(by_sentence[i], sentences[i], list);
    fprintf(list != NULL ? stderr : stdout,
            "%d options, %d pairs: %d flown together in %d scenarios, %d not; drones touched in %d, %d ended "
            "early, %d failures\n",
            option_count(), pairs, covered, (int)all_totals->flown, pairs - covered, (int)all_totals->touched,
            (int)all_totals->ended, (int)all_totals->failures);
    if (list == NULL && every > 0) printf("%d of the refused ones were tried again\n", refused);
}
