// Box3D behind the Engine interface, single precision, four substeps as its
// samples take.  Variants: default.  One worker, no sleeping, no damping; the
// ground is a box, for Box3D has no plane.  Only pile, stack and free.
#include "engine.h"
#include <box3d/box3d.h>

namespace {

b3Vec3 b3(const v3 &a) { return {(float)a.x, (float)a.y, (float)a.z}; }
v3 to_v3(const b3Vec3 &a) { return v3_make(a.x, a.y, a.z); }

class Box3DEngine : public Engine {
    Settings settings;
    b3WorldId world;
    std::vector<b3BodyId> bodies;

    b3ShapeDef shape_def() const
    {
        b3ShapeDef def = b3DefaultShapeDef();
        def.baseMaterial.friction = (float)settings.friction;
        return def;
    }

public:
    explicit Box3DEngine(const Settings &s) : settings(s)
    {
        b3WorldDef def = b3DefaultWorldDef();
        def.gravity = {0, 0, (float)-s.gravity};
        def.enableSleep = false;
        def.workerCount = 1;
        world = b3CreateWorld(&def);
        if (!s.ground) return;
        b3BodyDef ground = b3DefaultBodyDef();
        ground.position = {0, 0, -5};
        const b3BoxHull hull = b3MakeBoxHull(50, 50, 5);
        const b3ShapeDef shape = shape_def();
        b3CreateHullShape(b3CreateBody(world, &ground), &shape, &hull.base);
    }
    ~Box3DEngine() override { b3DestroyWorld(world); }
    void add_box(const BodyDef &b) override
    {
        b3BodyDef def = b3DefaultBodyDef();
        def.type = b3_dynamicBody;
        def.position = b3(b.pos);
        def.rotation = {{(float)b.q.x, (float)b.q.y, (float)b.q.z}, (float)b.q.w};
        def.linearVelocity = b3(b.vel);
        def.angularVelocity = b3(b.omega);
        const b3BoxHull hull = b3MakeBoxHull((float)b.half.x, (float)b.half.y, (float)b.half.z);
        b3ShapeDef shape = shape_def();
        shape.density = (float)(b.mass / (8 * b.half.x * b.half.y * b.half.z));
        if (!settings.collide) shape.filter.maskBits = 0;
        bodies.push_back(b3CreateBody(world, &def));
        b3CreateHullShape(bodies.back(), &shape, &hull.base);
    }
    void add_ball(int, int, v3) override {}
    void add_motors(const v3 *, const double *) override {}
    bool build() override { return true; }
    void thrust(const double *) override {}
    void step() override { b3World_Step(world, (float)settings.dt, 4); }
    State state(int i) override
    {
        const b3Quat q = b3Body_GetRotation(bodies[i]);
        return {to_v3(b3Body_GetPosition(bodies[i])), quat_make(q.s, q.v.x, q.v.y, q.v.z), to_v3(b3Body_GetLinearVelocity(bodies[i])),
                to_v3(b3Body_GetAngularVelocity(bodies[i]))};
    }
    int contacts() override { return b3World_GetCounters(world).contactCount; }
};

}  // namespace

const char *engine_name() { return "box3d-f32"; }
std::unique_ptr<Engine> engine_make(const Settings &s) { return std::make_unique<Box3DEngine>(s); }
int engine_pile_bodies(const std::string &) { return 1000; }
std::vector<std::string> engine_variants(const std::string &bench)
{
    if (bench == "pile" || bench == "stack" || bench == "free") return {"default"};
    return {};
}
