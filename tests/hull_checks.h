// hull_checks.h - what every hull must be, written from the header's promises, not from the builder.
#pragma once
#include "check.h"
#include "hull_samples.h"
#include <stdlib.h>

static inline int same_point(vy_vec3 a, vy_vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

// Euler's formula, every edge between two faces, every list consistent with every other.
static inline void check_structure(const vy_hull *h)
{
    assert_int_equal(h->vertex_count - h->edge_count + h->face_count, 2);
    assert_int_equal(h->vertex_count - 3 * h->facet_count / 2 + h->facet_count, 2);
    assert_int_equal(h->half_edge_count, 2 * h->edge_count);
    assert_int_equal(h->padded_count % 8, 0);
    assert_true(h->padded_count >= h->vertex_count && h->padded_count < h->vertex_count + 8);
    assert_int_equal((uintptr_t)h->x % 64 + (uintptr_t)h->y % 64 + (uintptr_t)h->z % 64, 0);
    for (int i = 0; i < h->padded_count; ++i) {
        const vy_vec3 v = h->vertices[i < h->vertex_count ? i : h->vertex_count - 1];
        assert_true(same_point(v, vec3_make(h->x[i], h->y[i], h->z[i])));
    }
    int *between =
        calloc((size_t)h->vertex_count * (size_t)h->vertex_count, sizeof *between); // edge number + 1
    for (int e = 0; e < h->edge_count; ++e) {
        const vy_hull_edge *edge = &h->edges[e];
        assert_true(edge->a < edge->b && edge->left != edge->right);
        between[edge->a * h->vertex_count + edge->b] = e + 1;
        if (e > 0)
            assert_true(h->edges[e - 1].a < edge->a ||
                        (h->edges[e - 1].a == edge->a && h->edges[e - 1].b < edge->b));
    }
    int facet = 0;
    for (int f = 0; f < h->face_count; ++f) {
        const vy_hull_face *face = &h->faces[f];
        assert_int_equal(face->facet_first, facet);
        for (int k = 0; k < face->count; ++k) {
            const int a = h->loop[face->first + k], b = h->loop[face->first + (k + 1) % face->count];
            const int low = a < b ? a : b, high = a < b ? b : a;
            const int e = between[low * h->vertex_count + high] - 1;
            assert_true(e >= 0);
            assert_int_equal(h->half_edge[face->first + k], e);
            assert_int_equal(a < b ? h->edges[e].left : h->edges[e].right, f);
            const int t = h->twin[face->first + k];
            assert_int_equal(h->loop[t], b);
            assert_int_equal(h->half_face[t], a < b ? h->edges[e].right : h->edges[e].left);
            assert_true(k == 0 || a > h->loop[face->first]);
            if (k >= 2) {
                const vy_hull_facet *t3 = &h->facets[facet++];
                assert_true(t3->face == f && t3->a == h->loop[face->first] && t3->c == a &&
                            t3->offset == face->offset);
                assert_true(t3->a < t3->b && t3->a < t3->c && same_point(t3->normal, face->normal));
            }
        }
    }
    assert_int_equal(facet, h->facet_count);
    for (int v = 0; v < h->vertex_count; ++v) {
        for (int k = h->neighbour_first[v]; k < h->neighbour_first[v + 1]; ++k) {
            const int u = h->neighbours[k], low = u < v ? u : v, high = u < v ? v : u;
            assert_true(between[low * h->vertex_count + high] > 0);
            assert_true(k == h->neighbour_first[v] || u > h->neighbours[h->neighbour_first[v]]);
            const int next = k + 1 < h->neighbour_first[v + 1] ? h->neighbours[k + 1]
                                                               : h->neighbours[h->neighbour_first[v]];
            // Counter-clockwise: a face has the corner next -> v -> u.
            const int e = between[low * h->vertex_count + high] - 1;
            const int f = v < u ? h->edges[e].left : h->edges[e].right;
            const vy_hull_face *face = &h->faces[f];
            int corner = 0;
            for (int j = 0; j < face->count; ++j) {
                corner |=
                    h->loop[face->first + j] == next && h->loop[face->first + (j + 1) % face->count] == v;
            }
            assert_true(corner);
        }
    }
    free(between);
}
