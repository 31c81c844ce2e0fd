// hull_build.c - the hull of a set of points. Only the choice of points per face comes from Qhull:
// every number of the result is computed from the points elsewhere, so that no arithmetic of a library enters
// a state.
#define _POSIX_C_SOURCE 200809L // fmemopen: Qhull insists on a stream for its messages
#include "base/assert.h"
#include "base/fail.h"
#include "base/real.h"
#include "base/vec.h"
#include "geometry/hull_internal.h"
#include <libqhull_r/qhull_ra.h>
#include <stdlib.h>

/// The points about the middle of their box, scaled by a power of two to a size near 1: Qhull's tolerance
/// then depends on the size of the set, not on its position.
static double *normalised_coordinates(const vy_vec3 *points, int count)
{
    const vy_bounds box = vy_bounds_of_points(points, count);
    const vy_vec3 middle = vec3_scale(0.5, vec3_add(box.low, box.high));
    const double scale = vy_scale_of_points(points, count);
    VY_ASSERT(count > 0 && scale > 0.0 && real_is_finite(scale));

    double *coordinates = malloc((size_t)count * 3 * sizeof *coordinates);
    if (coordinates == NULL) return NULL;
    for (int i = 0; i < count; ++i) {
        const vy_vec3 p = vec3_scale(scale, vec3_sub(points[i], middle));
        coordinates[3 * i] = p.x;
        coordinates[3 * i + 1] = p.y;
        coordinates[3 * i + 2] = p.z;
    }
    return coordinates;
}

/// Copy the faces out of Qhull. Runs under the error jump of read_faces().
static vy_status copy_faces(qhT *qh, vy_loops *loops, vy_error *err)
{
    facetT *facet;
    int face_count = 0, half_edge_count = 0;
    FORALLfacets
    {
        face_count += 1;
        half_edge_count += qh_setsize(qh, facet->vertices);
    }
    const vy_status status = vy_loops_alloc(face_count, half_edge_count, loops, err);
    if (status != VY_OK) return status;

    face_count = half_edge_count = 0;
    FORALLfacets
    {
        vertexT *vertex, **vertexp;
        setT *vertices = qh_facet3vertex(qh, facet);
        loops->first[face_count++] = half_edge_count;
        FOREACHvertex_(vertices)
        {
            if (half_edge_count < loops->half_edge_count)
                loops->vertex[half_edge_count++] = qh_pointid(qh, vertex->point);
        }
        qh_settempfree(qh, &vertices);
    }
    VY_ASSERT(face_count == loops->face_count && half_edge_count <= loops->half_edge_count);
    loops->first[face_count] = half_edge_count;
    loops->half_edge_count = half_edge_count;
    return VY_OK;
}

static vy_status read_faces(qhT *qh, vy_loops *loops, vy_error *err)
{
    if (setjmp(qh->errexit) != 0) {
        qh->NOerrexit = True;
        return vy_fail(err, VY_BAD_HULL, "hull: Qhull could not list its faces");
    }
    qh->NOerrexit = False;
    const vy_status status = copy_faces(qh, loops, err);
    qh->NOerrexit = True;
    return status;
}

static vy_status qhull_failure(int code, const char *message, vy_error *err)
{
    if (code == qh_ERRmem) return vy_fail(err, VY_NO_MEMORY, "hull: Qhull had no memory");
    if (code == qh_ERRsingular)
        return vy_fail(err, VY_HULL_COPLANAR, "hull: the points are too flat for a hull");
    return vy_fail(err, VY_BAD_HULL, "hull: Qhull gave up: %.120s", message);
}

static vy_status run_qhull(double *coordinates, int count, vy_loops *loops, vy_error *err)
{
    char message[512] = {0};
    FILE *stream = fmemopen(message, sizeof message - 1, "w");
    if (stream == NULL) return vy_fail(err, VY_NO_MEMORY, "hull: no memory for Qhull's messages");
    qhT *qh = malloc(sizeof *qh);
    if (qh == NULL) {
        fclose(stream);
        return vy_fail(err, VY_NO_MEMORY, "hull: no memory for Qhull");
    }

    char options[] = "qhull Pp";
    qh_zero(qh, stream);
    const int code = qh_new_qhull(qh, 3, count, coordinates, False, options, NULL, stream);
    vy_status status = VY_OK;
    if (code != 0) {
        fflush(stream);
        status = qhull_failure(code, message, err);
    } else {
        status = read_faces(qh, loops, err);
    }
    int long_blocks, long_bytes;
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &long_blocks, &long_bytes);
    free(qh);
    fclose(stream);
    return status;
}

/// Six times the volume within the loops; its sign is their orientation.
static double signed_volume6(const vy_vec3 *points, const vy_loops *loops)
{
    VY_ASSERT(loops->face_count > 0);
    const vy_vec3 origin = points[loops->vertex[0]];
    double sum = 0.0;
    for (int f = 0; f < loops->face_count; ++f) {
        const int *loop = loops->vertex + loops->first[f];
        const vy_vec3 area = vy_loop_area_vector(points, loop, loops->first[f + 1] - loops->first[f]);
        sum += vec3_dot(area, vec3_sub(points[loop[0]], origin));
    }
    return sum;
}

static void reverse_loops(vy_loops *loops)
{
    for (int f = 0; f < loops->face_count; ++f) {
        int low = loops->first[f], high = loops->first[f + 1] - 1;
        for (; low < high; ++low, --high) {
            const int v = loops->vertex[low];
            loops->vertex[low] = loops->vertex[high];
            loops->vertex[high] = v;
        }
    }
}

static vy_status hull_of_loops(const vy_vec3 *points, int count, double epsilon, vy_loops *loops,
                               vy_hull **out, vy_error *err)
{
    vy_status status = vy_loops_merge(points, count, epsilon, loops, err);
    if (status == VY_OK) status = vy_hull_assemble(points, count, loops, epsilon, out, err);
    vy_loops_free(loops);
    return status;
}

static vy_status hull_by_qhull(const vy_vec3 *points, int count, double epsilon, vy_hull **out, vy_error *err)
{
    double *coordinates = normalised_coordinates(points, count);
    if (coordinates == NULL) return vy_fail(err, VY_NO_MEMORY, "hull: no memory for %d points", count);
    vy_loops loops = {0};
    const vy_status status = run_qhull(coordinates, count, &loops, err);
    free(coordinates);
    if (status != VY_OK) return status;
    if (signed_volume6(points, &loops) < 0.0) reverse_loops(&loops);
    return hull_of_loops(points, count, epsilon, &loops, out, err);
}

// The exact way takes time with the square of the number: about a second for so many.
enum { MAX_EXACT_POINTS = 10000 };
// A plate thinner than this part of its size is as thin as Qhull's rounding: it may lose a half of it.
#define QHULL_MIN_THICKNESS 1e-12

vy_status vy_hull_create(const vy_vec3 *points, int count, double tolerance, vy_hull **out, vy_error *err)
{
    FPU_SCOPE;
    *out = NULL;
    double epsilon = 0.0, thickness = 0.0;
    vy_status status = vy_hull_check_points(points, count, tolerance, &epsilon, &thickness, err);
    if (status != VY_OK) return status;
    const int can_be_exact = count <= MAX_EXACT_POINTS;
    if (!can_be_exact || thickness * vy_scale_of_points(points, count) > QHULL_MIN_THICKNESS) {
        status = hull_by_qhull(points, count, epsilon, out, err);
        if (status == VY_OK || status == VY_NO_MEMORY || !can_be_exact) return status;
    }
    // Qhull allows for its rounding by faces that are a little thick; a tolerance of that size does not.
    vy_loops loops = {0};
    status = vy_loops_exact_hull(points, count, &loops, err);
    return status == VY_OK ? hull_of_loops(points, count, epsilon, &loops, out, err) : status;
}
