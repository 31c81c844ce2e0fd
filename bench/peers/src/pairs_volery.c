/* Volery on the common pair set: overlap and penetration of hulls, and the closed forms for spheres and boxes through
 * the call that gives a manifold, as ODE's does. `pairs_volery check` leaves out the times and is quick. */
#include "pairs.h"
#include <volery/collision.h>

static vy_hull *hulls[POOL];
static vy_shape shapes[POOL];

static void setup(const pair_set *s)
{
    for (int k = 0; k < POOL; k++) {
        vy_hull_destroy(hulls[k]);
        if (vy_hull_create((const vy_vec3 *)s->hull[k].p, s->n, VY_HULL_TOLERANCE, &hulls[k], NULL) != VY_OK ||
            vy_shape_hull(hulls[k], &shapes[k], NULL) != VY_OK) {
            fprintf(stderr, "hull %d of %d points failed\n", k, s->n);
            exit(1);
        }
    }
}
static vy_pose pose(quat q, v3 p)
{
    const vy_pose out = {{p.x, p.y, p.z}, {q.w, q.x, q.y, q.z}};
    return out;
}
static int overlap(const pair_set *s, const pair_t *p)
{
    (void)s;
    const vy_pose a = pose(p->qa, v3_make(0, 0, 0)), b = pose(p->qb, p->pb);
    return vy_overlap(&shapes[p->a], &a, &shapes[p->b], &b);
}
static void penetration(const pair_set *s, const pair_t *p, answer_t *o)
{
    (void)s;
    const vy_pose a = pose(p->qa, v3_make(0, 0, 0)), b = pose(p->qb, p->pb);
    vy_contact c = {{0, 0, 0}, 0, {0, 0, 0}, {0, 0, 0}};
    int hit = 0;
    o->hit = vy_penetration(&shapes[p->a], &a, &shapes[p->b], &b, NULL, &hit, &c, NULL) == VY_OK ? hit : -1;
    o->depth = c.depth;
    o->normal = v3_make(c.normal.x, c.normal.y, c.normal.z);
    o->point = v3_make(c.point_a.x, c.point_a.y, c.point_a.z);
}
static void prim(const prim_case *c, answer_t *o)
{
    vy_shape a = {0}, b = {0};
    a.kind = c->kind == 2 ? VY_SHAPE_BOX : VY_SHAPE_SPHERE;
    b.kind = c->kind == 0 ? VY_SHAPE_SPHERE : VY_SHAPE_BOX;
    if (c->kind == 2) a.box.half = (vy_vec3){c->ha.x, c->ha.y, c->ha.z};
    else a.sphere.radius = c->ha.x;
    if (c->kind == 0) b.sphere.radius = c->hb.x;
    else b.box.half = (vy_vec3){c->hb.x, c->hb.y, c->hb.z};
    const vy_pose pa = pose(c->qa, v3_make(0, 0, 0)), pb = pose(c->qb, c->pb);
    vy_manifold m;
    o->hit = vy_collide(&a, &pa, &b, &pb, &m) == VY_OK ? m.count > 0 : -1;
    if (o->hit != 1) return;
    o->depth = m.points[0].depth;
    o->normal = v3_make(m.normal.x, m.normal.y, m.normal.z);
    o->point = v3_make(m.points[0].point_a.x, m.points[0].point_a.y, m.points[0].point_a.z);
}

/* What the queries did: iterations, how often EPA gave up, and the share of placing a pair. */
static void print_work(const pair_set *s)
{
    char case_name[32];
    long gjk_total = 0, epa_total = 0, hits = 0, fallbacks = 0;
    int gjk_max = 0, epa_max = 0;
    for (int k = 0; k < NPAIR; k++) {
        const pair_t *p = &s->pair[k];
        const vy_pose a = pose(p->qa, v3_make(0, 0, 0)), b = pose(p->qb, p->pb);
        vy_contact c;
        vy_query_info info;
        int hit = 0;
        if (vy_penetration(&shapes[p->a], &a, &shapes[p->b], &b, NULL, &hit, &c, &info) != VY_OK) continue;
        gjk_total += info.gjk_iterations;
        if (info.gjk_iterations > gjk_max) gjk_max = info.gjk_iterations;
        if (!hit) continue;
        hits++;
        epa_total += info.epa_iterations;
        fallbacks += info.used_sat;
        if (info.epa_iterations > epa_max) epa_max = info.epa_iterations;
    }
    snprintf(case_name, sizeof case_name, "n=%d", s->n);
    print_figure("pair_work", "volery", case_name, "gjk_iterations_mean", (double)gjk_total / NPAIR);
    print_figure("pair_work", "volery", case_name, "gjk_iterations_max", gjk_max);
    print_figure("pair_work", "volery", case_name, "epa_iterations_mean", (double)epa_total / (double)hits);
    print_figure("pair_work", "volery", case_name, "epa_iterations_max", epa_max);
    print_figure("pair_work", "volery", case_name, "epa_gave_up", fallbacks);
}

/* The same pairs with hulls whose points are already in place and identity poses: what the transforms cost. */
static void print_transforms(const pair_set *s)
{
    enum { SAMPLE_PAIRS = POOL / 2 };                                    /* as many hulls as the pool has, so that both fit the caches alike */
    static vy_hull *placed_hulls[2 * SAMPLE_PAIRS];
    static vy_shape placed_shapes[2 * SAMPLE_PAIRS];
    v3 points[256];
    const vy_pose identity = {{0, 0, 0}, {1, 0, 0, 0}};
    char case_name[32];
    double best[2] = {1e300, 1e300};
    vy_contact contact;
    int hit;
    for (int k = 0; k < 2 * SAMPLE_PAIRS; k++) {
        const pair_t *p = &s->pair[k / 2];
        const mat3 r = mat3_from_quat(k % 2 ? p->qb : p->qa);
        const hull_t *h = &s->hull[k % 2 ? p->b : p->a];
        for (int i = 0; i < s->n; i++) {
            points[i] = mat3_apply(&r, h->p[i]);
            if (k % 2) points[i] = v3_add(points[i], p->pb);
        }
        if (vy_hull_create((const vy_vec3 *)points, s->n, VY_HULL_TOLERANCE, &placed_hulls[k], NULL) != VY_OK) return;
        vy_shape_hull(placed_hulls[k], &placed_shapes[k], NULL);
    }
    for (int repetition = 0; repetition < 20; repetition++)
        for (int has_poses = 0; has_poses < 2; has_poses++) {
            const double start = cpu_seconds();
            for (int i = 0; i < 200 * SAMPLE_PAIRS; i++) {
                const int k = i % SAMPLE_PAIRS;
                const pair_t *p = &s->pair[k];
                const vy_pose a = has_poses ? pose(p->qa, v3_make(0, 0, 0)) : identity, b = has_poses ? pose(p->qb, p->pb) : identity;
                const vy_shape *sa = has_poses ? &shapes[p->a] : &placed_shapes[2 * k], *sb = has_poses ? &shapes[p->b] : &placed_shapes[2 * k + 1];
                vy_penetration(sa, &a, sb, &b, NULL, &hit, &contact, NULL);
            }
            best[has_poses] = fmin(best[has_poses], cpu_seconds() - start);
        }
    snprintf(case_name, sizeof case_name, "n=%d", s->n);
    print_figure("pair_work", "volery", case_name, "ns_identity_poses", best[0] * 1e9 / (200 * SAMPLE_PAIRS));
    print_figure("pair_work", "volery", case_name, "ns_same_pairs_posed", best[1] * 1e9 / (200 * SAMPLE_PAIRS));
    for (int k = 0; k < 2 * SAMPLE_PAIRS; k++) { vy_hull_destroy(placed_hulls[k]); placed_hulls[k] = NULL; }
}

/* Every answer against the reference, without times: errors and their largest. */
static int check(const pair_set *s)
{
    int reference_count, wrong = 0;
    double error_max = 0;
    double *reference = load_reference(s->n, &reference_count);
    for (int k = 0; k < reference_count; k++) {
        answer_t answer;
        if (fabs(reference[k]) < 1e-6) continue;
        penetration(s, &s->pair[k], &answer);
        const int is_overlap = overlap(s, &s->pair[k]);
        if (answer.hit != (reference[k] > 0) || is_overlap != (reference[k] > 0)) wrong++;
        else if (answer.hit == 1) error_max = fmax(error_max, fabs(answer.depth - reference[k]));
    }
    free(reference);
    char case_name[32];
    snprintf(case_name, sizeof case_name, "n=%d", s->n);
    print_figure("pair_check", "volery", case_name, "checked", reference_count);
    print_figure("pair_check", "volery", case_name, "wrong", wrong);
    print_figure("pair_check", "volery", case_name, "depth_err_max", error_max);
    return wrong > 0 || !(error_max <= 1e-10) || reference_count == 0;
}

int main(int argc, char **argv)
{
    const pair_engine list[] = {{"volery", setup, overlap, penetration}};
    const int only_check = argc > 1 && strcmp(argv[1], "check") == 0;
    int bad = 0;
    if (!only_check) {
        run_pairs(list, 1);
        run_primitives("volery", prim);
    }
    for (int i = 0; i < SIZES; i++) {
        pair_set s;
        pair_set_make(&s, pair_sizes[i]);
        setup(&s);
        if (only_check) bad |= check(&s);
        else { print_work(&s); print_transforms(&s); }
        pair_set_free(&s);
    }
    for (int k = 0; k < POOL; k++) vy_hull_destroy(hulls[k]);
    return bad;
}
