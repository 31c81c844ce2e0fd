// Volery's rigid bodies behind the Engine interface.  Variants are the
// integrators; everything else is the default setting.
#include "engine.h"
#include "volery/joint.h"

namespace {

vy_vec3 vec(v3 a) { return {a.x, a.y, a.z}; }

class VoleryEngine : public Engine {
    Settings settings;
    std::vector<BodyDef> defs;
    struct Ball { int parent, child; v3 anchor; };
    std::vector<Ball> balls;
    std::vector<vy_body_id> ids;
    vy_bodies *bodies = nullptr;
    v3 motor_positions[4];
    double torque_ratios[4];

public:
    explicit VoleryEngine(const Settings &s) : settings(s) {}
    ~VoleryEngine() override { vy_bodies_destroy(bodies); }
    void add_box(const BodyDef &b) override { defs.push_back(b); }
    void add_ball(int parent, int child, v3 anchor) override { balls.push_back({parent, child, anchor}); }
    void add_motors(const v3 at[4], const double y[4]) override
    {
        for (int i = 0; i < 4; i++) { motor_positions[i] = at[i]; torque_ratios[i] = y[i]; }
    }
    bool build() override
    {
        vy_bodies_def set_def = vy_default_bodies_def();
        set_def.dt = settings.dt;
        set_def.gravity = {0, 0, -settings.gravity};
        set_def.contacts.on = settings.collide;
        for (vy_integrator i : {VY_INTEGRATOR_EULER, VY_INTEGRATOR_SEMI_IMPLICIT, VY_INTEGRATOR_RK4, VY_INTEGRATOR_LIE_MIDPOINT})
            if (settings.variant == vy_integrator_name(i)) set_def.integrator = i;
        vy_error err;
        if (vy_bodies_create(&set_def, &bodies, &err) != VY_OK) { fprintf(stderr, "volery: %s\n", err.text); return false; }
        for (const BodyDef &b : defs) {
            vy_shape shape;
            vy_body_def def = vy_default_body_def();
            vy_shape_box(vec(b.half), &shape, nullptr);
            def.shape = &shape;
            def.mass = b.mass;
            def.material.friction = settings.friction;
            mat3 r = mat3_from_quat(b.q);
            def.state = {vec(b.pos), vec(b.vel), {b.q.w, b.q.x, b.q.y, b.q.z}, vec(mat3_apply_transposed(&r, b.omega))};
            vy_body_id id;
            if (vy_bodies_add(bodies, &def, &id, &err) != VY_OK) { fprintf(stderr, "volery: %s\n", err.text); return false; }
            ids.push_back(id);
        }
        if (settings.ground) {
            vy_shape plane;
            vy_body_def def = vy_default_body_def();
            vy_shape_plane({0, 0, 1}, 0, &plane, nullptr);
            def.kind = VY_BODY_STATIC;
            def.shape = &plane;
            def.material.friction = settings.friction;
            if (vy_bodies_add(bodies, &def, nullptr, &err) != VY_OK) { fprintf(stderr, "volery: %s\n", err.text); return false; }
        }
        for (const Ball &j : balls) {
            vy_joint_def def = vy_default_joint_def();
            def.kind = VY_JOINT_BALL;
            vy_joint_set_frames(bodies, j.parent < 0 ? vy_body_id{0} : ids[(size_t)j.parent], ids[(size_t)j.child],
                           vec(j.anchor), {0, 0, 1}, &def);
            if (vy_bodies_add_joint(bodies, &def, nullptr, &err) != VY_OK) { fprintf(stderr, "volery: %s\n", err.text); return false; }
        }
        return vy_bodies_prepare(bodies) == VY_OK;
    }
    void thrust(const double t[4]) override
    {
        for (int i = 0; i < 4; i++) {
            vy_body_apply_force_at(bodies, ids[0], {0, 0, t[i]}, VY_FRAME_BODY, vec(motor_positions[i]), VY_FRAME_BODY);
            vy_body_apply_torque(bodies, ids[0], {0, 0, torque_ratios[i] * t[i]}, VY_FRAME_BODY);
        }
    }
    void step() override { vy_bodies_step(bodies); }
    State state(int i) override
    {
        vy_body_state s;
        vy_body_read(bodies, ids[(size_t)i], &s);
        const quat q = quat_make(s.attitude.w, s.attitude.x, s.attitude.y, s.attitude.z);
        mat3 r = mat3_from_quat(q);
        return {v3_make(s.position.x, s.position.y, s.position.z), q, v3_make(s.velocity.x, s.velocity.y, s.velocity.z),
                mat3_apply(&r, v3_make(s.rate.x, s.rate.y, s.rate.z))};
    }
    int contacts() override
    {
        int n = 0;
        for (uint32_t i = 0; i < vy_bodies_contact_count(bodies); i++) {
            vy_contact_report r;
            vy_bodies_contact(bodies, i, &r);
            n += r.points;
        }
        return n;
    }
};

}  // namespace

const char *engine_name() { return "volery-f64"; }
std::unique_ptr<Engine> engine_make(const Settings &s) { return std::make_unique<VoleryEngine>(s); }
int engine_pile_bodies(const std::string &) { return 1000; }
std::vector<std::string> engine_variants(const std::string &bench)
{
    if (bench == "pile" || bench == "stack") return {"rk4"};
    if (bench == "links") return {"rk4"};
    if (bench == "chain") return {"rk4", "semi-implicit"};
    return {"rk4", "semi-implicit", "lie-midpoint"};
}
