// mass.c - volume, centroid and inertia of a solid of uniform density.
//
// Polyhedra after B. Mirtich, "Fast and Accurate Computation of Polyhedral Mass Properties", Journal of
// Graphics Tools 1(2), 1996: the divergence theorem turns a volume integral into integrals over faces, each
// face is projected along its largest normal component, and Green's theorem turns the projection's integrals
// into sums over its edges.
#include "volery/mass.h"
#include "base/assert.h"
#include "base/real.h"
#include "base/fail.h"
#include "geometry/compensated.h"

#define PI 3.14159265358979323846

// Layer 1: integrals over the projection of a face onto the plane (a, b). Signed: negative for a face seen
// from below, clockwise in (a, b). `one`: of 1; the others of the monomial that they are named after.
typedef struct projection_integrals {
    double one, a, b, aa, ab, bb, aaa, aab, abb, bbb;
} projection_integrals;

// Each edge gives the triangle it makes with the origin: twice its signed area times a mean of the monomial.
static projection_integrals integrate_projection(const double a[3], const double b[3])
{
    projection_integrals p = {0};
    for (int k = 0; k < 3; ++k) {
        const int next = k < 2 ? k + 1 : 0;
        const double a0 = a[k], b0 = b[k], a1 = a[next], b1 = b[next];
        const double cross = a0 * b1 - a1 * b0;
        const double a00 = a0 * a0, a01 = a0 * a1, a11 = a1 * a1;
        const double b00 = b0 * b0, b01 = b0 * b1, b11 = b1 * b1;
        p.one += cross;
        p.a += cross * (a0 + a1);
        p.b += cross * (b0 + b1);
        p.aa += cross * (a00 + a01 + a11);
        p.bb += cross * (b00 + b01 + b11);
        p.ab += cross * (2.0 * (a0 * b0 + a1 * b1) + (a0 * b1 + a1 * b0));
        p.aaa += cross * ((a0 + a1) * (a00 + a11));
        p.bbb += cross * ((b0 + b1) * (b00 + b11));
        p.aab += cross * (b0 * (3.0 * a00 + 2.0 * a01 + a11) + b1 * (a00 + 2.0 * a01 + 3.0 * a11));
        p.abb += cross * (a0 * (3.0 * b00 + 2.0 * b01 + b11) + a1 * (b00 + 2.0 * b01 + 3.0 * b11));
    }
    p.one /= 2.0;
    p.a /= 6.0;
    p.b /= 6.0;
    p.aa /= 12.0;
    p.bb /= 12.0;
    p.ab /= 24.0;
    p.aaa /= 20.0;
    p.bbb /= 20.0;
    p.aab /= 60.0;
    p.abb /= 60.0;
    return p;
}

// Layer 2: the flux of a field through a face, for the fields whose divergences are the monomials of layer 3.
// [k] belongs to coordinate k of (a, b, c).
typedef struct face_integrals {
    double volume;     // of the position (a, b, c) itself
    double first[3];   // of x_k^2 along k
    double second[3];  // of x_k^3 along k
    double product[3]; // of x_k^2 x_{k+1} along k
} face_integrals;

// On the face c = u a + v b + w, and the normal times the area element is (-u, -v, 1) da db.
static face_integrals face_flux(const projection_integrals *p, double u, double v, double w)
{
    const double c = u * p->a + v * p->b + w * p->one;
    const double ac = u * p->aa + v * p->ab + w * p->a;
    const double bc = u * p->ab + v * p->bb + w * p->b;
    const double cc = u * ac + v * bc + w * c;
    const double aac = u * p->aaa + v * p->aab + w * p->aa;
    const double abc = u * p->aab + v * p->abb + w * p->ab;
    const double bbc = u * p->abb + v * p->bbb + w * p->bb;
    const double acc = u * aac + v * abc + w * ac;
    const double bcc = u * abc + v * bbc + w * bc;
    const double ccc = u * acc + v * bcc + w * cc;
    const face_integrals f = {
        .volume = (-u * p->a - v * p->b) + c,
        .first = {-u * p->aa, -v * p->bb, cc},
        .second = {-u * p->aaa, -v * p->bbb, ccc},
        .product = {-u * p->aab, -v * bbc, acc},
    };
    return f;
}

// Layer 3: integrals of 1; x, y, z; x^2, y^2, z^2; xy, yz, zx over the volume.
typedef struct volume_integrals {
    double volume;   // [m^3]
    vy_vec3 first;   // [m^4]
    vy_vec3 second;  // [m^5]
    vy_vec3 product; // [m^5]
} volume_integrals;

// Sums over the faces, about the hull's centroid so that nothing cancels far from the frame's origin.
static volume_integrals integrate(const vy_hull *hull)
{
    const vy_vec3 origin = hull->centroid;
    double volume = 0.0, first[3] = {0}, second[3] = {0}, product[3] = {0};
    for (int i = 0; i < hull->facet_count; ++i) {
        const vy_hull_facet *facet = &hull->facets[i];
        VY_ASSERT(facet->a < hull->vertex_count && facet->b < hull->vertex_count &&
                  facet->c < hull->vertex_count);
        const vy_vec3 pa = vec3_sub(hull->vertices[facet->a], origin);
        const vy_vec3 pb = vec3_sub(hull->vertices[facet->b], origin);
        const vy_vec3 pc = vec3_sub(hull->vertices[facet->c], origin);
        const vy_vec3 area = vec3_cross_accurate(vec3_sub(pb, pa), vec3_sub(pc, pa));
        const double x[3][3] = {{pa.x, pb.x, pc.x}, {pa.y, pb.y, pc.y}, {pa.z, pb.z, pc.z}};
        const double n[3] = {area.x, area.y, area.z};
        int c = real_abs(n[1]) > real_abs(n[0]) ? 1 : 0;
        c = real_abs(n[2]) > real_abs(n[c]) ? 2 : c;
        if (n[c] == 0.0) continue; // no area, no flux
        const int a = (c + 1) % 3, b = (c + 2) % 3;
        const double u = -n[a] / n[c], v = -n[b] / n[c];
        const double w = x[c][0] - (u * x[a][0] + v * x[b][0]);
        const projection_integrals p = integrate_projection(x[a], x[b]);
        const face_integrals f = face_flux(&p, u, v, w);
        const int axis[3] = {a, b, c};
        volume += f.volume;
        for (int k = 0; k < 3; ++k) {
            first[axis[k]] += f.first[k];
            second[axis[k]] += f.second[k];
            product[axis[k]] += f.product[k];
        }
    }
    const volume_integrals sums = {
        .volume = volume / 3.0,
        .first = {first[0] / 2.0, first[1] / 2.0, first[2] / 2.0},
        .second = {second[0] / 3.0, second[1] / 3.0, second[2] / 3.0},
        .product = {product[0] / 2.0, product[1] / 2.0, product[2] / 2.0},
    };
    return sums;
}

static vy_status check_mass(double mass, vy_error *err)
{
    if (real_is_finite(mass) && mass > 0.0) return VY_OK;
    return vy_fail(err, VY_BAD_MASS, "mass must be > 0 kg, got %g", mass);
}

vy_status vy_hull_mass(const vy_hull *hull, double mass, vy_mass_properties *out, vy_error *err)
{
    FPU_SCOPE;
    const vy_status status = check_mass(mass, err);
    if (status != VY_OK) return status;
    if (hull == NULL || hull->facets == NULL || hull->vertices == NULL) {
        return vy_fail(err, VY_BAD_HULL, "mass: no hull given");
    }
    const volume_integrals integrals = integrate(hull);
    if (!(real_is_finite(integrals.volume) && integrals.volume > 0.0)) {
        return vy_fail(err, VY_BAD_HULL, "mass: the hull's volume is %g m^3", integrals.volume);
    }
    const double density = mass / integrals.volume;
    const vy_vec3 d =
        vec3_scale(1.0 / integrals.volume, integrals.first); // centroid from the integrals' origin
    const double xx = density * integrals.second.x - mass * (d.x * d.x);
    const double yy = density * integrals.second.y - mass * (d.y * d.y);
    const double zz = density * integrals.second.z - mass * (d.z * d.z);
    const double xy = density * integrals.product.x - mass * (d.x * d.y);
    const double yz = density * integrals.product.y - mass * (d.y * d.z);
    const double zx = density * integrals.product.z - mass * (d.z * d.x);
    const vy_mass_properties result = {
        .mass = mass,
        .volume = integrals.volume,
        .centroid = vec3_add(hull->centroid, d),
        .inertia = {{{yy + zz, 0.0 - xy, 0.0 - zx},
                     {0.0 - xy, zz + xx, 0.0 - yz},
                     {0.0 - zx, 0.0 - yz, xx + yy}}},
    };
    *out = result;
    return VY_OK;
}

// ---- closed forms ----

static vy_mass_properties solid_mass(double mass, double volume, double x, double y, double z)
{
    const vy_mass_properties m = {mass, volume, vec3_zero(), mat3_diag(x, y, z)};
    return m;
}

static vy_mass_properties capsule_mass(double mass, double half, double radius)
{
    const double rr = radius * radius;
    const double tube_volume = PI * rr * (2.0 * half), caps_volume = 4.0 / 3.0 * PI * rr * radius;
    const double volume = tube_volume + caps_volume;
    const double tube_mass = mass * (tube_volume / volume), caps_mass = mass * (caps_volume / volume);
    // A half ball's centroid is 3/8 of its radius from its flat side: 2/5 r^2 + h^2 + 3/4 h r about the
    // middle.
    const double across = tube_mass * (rr / 4.0 + half * half / 3.0) +
                          caps_mass * (0.4 * rr + half * half + 0.75 * half * radius);
    return solid_mass(mass, volume, across, across, tube_mass * (rr / 2.0) + caps_mass * (0.4 * rr));
}

static vy_mass_properties box_mass(double mass, vy_vec3 half)
{
    const double xx = half.x * half.x, yy = half.y * half.y, zz = half.z * half.z, third = mass / 3.0;
    return solid_mass(mass, 8.0 * (half.x * half.y * half.z), third * (yy + zz), third * (zz + xx),
                      third * (xx + yy));
}

static vy_mass_properties cylinder_mass(double mass, double half, double radius)
{
    const double rr = radius * radius, across = mass * (rr / 4.0 + half * half / 3.0);
    return solid_mass(mass, PI * rr * (2.0 * half), across, across, mass * (rr / 2.0));
}

vy_status vy_shape_mass(const vy_shape *shape, double mass, vy_mass_properties *out, vy_error *err)
{
    FPU_SCOPE;
    vy_status status = vy_shape_check(shape, err);
    if (status == VY_OK) status = check_mass(mass, err);
    if (status != VY_OK) return status;
    vy_mass_properties m;
    switch (shape->kind) {
    case VY_SHAPE_SPHERE: m = capsule_mass(mass, 0.0, shape->sphere.radius); break;
    case VY_SHAPE_CAPSULE: m = capsule_mass(mass, shape->capsule.half_length, shape->capsule.radius); break;
    case VY_SHAPE_BOX: m = box_mass(mass, shape->box.half); break;
    case VY_SHAPE_CYLINDER:
        m = cylinder_mass(mass, shape->cylinder.half_height, shape->cylinder.radius);
        break;
    case VY_SHAPE_HULL: return vy_hull_mass(shape->hull, mass, out, err);
    case VY_SHAPE_NONE:
    case VY_SHAPE_PLANE:
    case VY_SHAPE_HEIGHT_FIELD:
        return vy_fail(err, VY_BAD_VALUE, "mass: a plane or a height field has no volume");
    }
    if (!(m.volume > 0.0 && m.inertia.m[0][0] > 0.0 && m.inertia.m[1][1] > 0.0 && m.inertia.m[2][2] > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "mass: the shape is too small: its volume or inertia is 0");
    *out = m;
    return VY_OK;
}

// ---- principal axes ----

// One Jacobi rotation, in the plane (p, q), that takes a[p][q] to zero; v gathers the rotations.
static void rotate(double a[3][3], double v[3][3], int p, int q)
{
    VY_ASSERT(p != q && p + q <= 3 && a[p][q] != 0.0);
    const int r = 3 - p - q;
    const double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    const double t = real_copysign(1.0 / (real_abs(theta) + real_sqrt(theta * theta + 1.0)), theta);
    const double c = 1.0 / real_sqrt(t * t + 1.0), s = t * c;
    const double h = t * a[p][q], arp = a[r][p], arq = a[r][q];
    a[p][p] -= h;
    a[q][q] += h;
    a[p][q] = a[q][p] = 0.0;
    a[r][p] = a[p][r] = c * arp - s * arq;
    a[r][q] = a[q][r] = s * arp + c * arq;
    for (int i = 0; i < 3; ++i) {
        const double vip = v[i][p], viq = v[i][q];
        v[i][p] = c * vip - s * viq;
        v[i][q] = s * vip + c * viq;
    }
}

/// Column k of v as a unit vector with its largest component positive.
static vy_vec3 axis_of(double v[3][3], int k)
{
    vy_vec3 axis = vec3_make(v[0][k], v[1][k], v[2][k]);
    int largest = real_abs(v[1][k]) > real_abs(v[0][k]) ? 1 : 0;
    largest = real_abs(v[2][k]) > real_abs(v[largest][k]) ? 2 : largest;
    VY_ASSERT(v[largest][k] != 0.0);
    const double sign = v[largest][k] < 0.0 ? -1.0 : 1.0;
    return vec3_scale(sign / vec3_length(axis), axis);
}

vy_principal_axes vy_mass_principal_axes(const vy_mat3 *inertia)
{
    FPU_SCOPE;
    double a[3][3], v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) a[i][j] = i <= j ? inertia->m[i][j] : inertia->m[j][i];
    }
    // Convergence is quadratic: six sweeps reach rounding for any matrix, twelve are room to spare.
    static const int plane[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    for (int sweep = 0; sweep < 12; ++sweep) {
        for (int k = 0; k < 3; ++k) {
            const int p = plane[k][0], q = plane[k][1];
            const double scale = real_abs(a[p][p]) + real_abs(a[q][q]);
            if (scale + real_abs(a[p][q]) != scale) rotate(a, v, p, q);
        }
    }

    int order[3] = {0, 1, 2};
    for (int i = 1; i < 3; ++i) {
        for (int j = i; j > 0 && a[order[j]][order[j]] < a[order[j - 1]][order[j - 1]]; --j) {
            const int swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
        }
    }
    const vy_vec3 x = axis_of(v, order[0]), y = axis_of(v, order[1]);
    const vy_vec3 z = vec3_cross(x, y); // right-handed, whichever order the moments have
    const vy_principal_axes result = {
        .moments = {a[order[0]][order[0]], a[order[1]][order[1]], a[order[2]][order[2]]},
        .axes = {{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}},
    };
    return result;
}
