// reference.c - the page that lists every channel and field of a log, from the same tables that write it.
#include "record/display.h"
#include "base/real.h"
#include "record/streams.h"
#include "volery/record.h"

static void print_row(const vy_field *f, const char *name, FILE *out)
{
    static const char *const types[] = {
        [FIELD_NUMBER] = "number",
        [FIELD_VEC3] = "Vec3 {x, y, z}",
        [FIELD_QUAT] = "Quaternion {w, x, y, z}",
        [FIELD_ROTORS] = "list of numbers, one per rotor",
        [FIELD_THRUSTERS] = "list of numbers, one per thruster",
        [FIELD_COMMANDS] = "list of numbers, one per rotor, then one per thruster",
        [FIELD_RAYS] = "list of numbers, one per ray",
        [FIELD_LIST] = "list of numbers",
    };
    const char *type = types[f->type];
    fprintf(out, "| `%s` | %s | %s | %s |\n", name, type, f->unit[0] != '\0' ? f->unit : "–", f->text);
}

static void print_streams(FILE *out)
{
    for (int s = 0; s < vy_drone_stream_count; ++s) {
        stream_layout layout;
        vy_stream_layout(s, VY_ROTOR_CAP, &layout);
        fprintf(out, "### `/drones/NAME/%s`\n\n`%s`: %s.\n\n| field | type | unit | |\n|---|---|---|---|\n",
                vy_drone_streams[s].name, layout.full_name, vy_drone_streams[s].text);
        for (int i = 0; i < layout.field_count; ++i) {
            print_row(&layout.first_field[i], layout.field_names[i], out);
        }
        fputc('\n', out);
    }
}

static void print_state(FILE *out)
{
    fputs("## Full state\n\n`/world/state` holds the simulation's whole state as little-endian values of 8 "
          "bytes: "
          "these fields, block after block.\nWhat is listed here is what the hash covers, what a snapshot "
          "holds and what "
          "`volery replay` names.\nThe head of a state is **world** and one **entry** for each kind of block "
          "that "
          "follows; kinds that it does not name are absent.\n\n",
          out);
    for (int kind = 0; kind < BLOCK_KINDS; ++kind) {
        const vy_block *b = &vy_blocks[kind];
        fprintf(out, "**%s** (id %d; %s)\n\n| field | values | type | unit | |\n|---|---|---|---|---|\n",
                b->name, (int)b->id, b->text);
        for (int i = 0; i < b->field_count; ++i) {
            const vy_field *f = &b->fields[i];
            fprintf(out, "| `%s` | %d | %s | %s | %s |\n", f->name, f->count,
                    field_is_integer(f) ? "u64" : "f64", f->unit[0] != '\0' ? f->unit : "–", f->text);
        }
        fputc('\n', out);
    }
}

static void print_head(FILE *out)
{
    fputs(
        "# The log\n\n"
        "A log is an [MCAP](https://mcap.dev) file: Foxglove, PlotJuggler and the `mcap` libraries open it "
        "as it is.\n"
        "This page is made from the tables that write it.\n\n"
        "- `log_time` and `publish_time` are simulation time in nanoseconds.\n"
        "- The resolved scenario is the attachment `scenario.yaml`, before the first chunk. It can name "
        "programs: they\n  are started by `volery branch` and `volery replay --live` alone, and only with "
        "`--allow-programs`.\n"
        "- Metadata `volery`: format, version, physics revision, seed, step, hash of the configuration, "
        "cadences, tier, "
        "and for a\n  branch its parent's final hash and the step it left at. Metadata `result`, at the "
        "end: status, last "
        "step, final hash.\n"
        "- A run writes `NAME.mcap.part`, waits for the disk and renames it at its end. The first moment is "
        "in "
        "it at once, and\n  what follows at least every second of the clock (hashes, and with them what can "
        "be "
        "replayed, in batches of at most\n  256 steps or a quarter of a second of flight). Whatever kills "
        "the "
        "process, the part opens up to its last whole chunk.\n"
        "- A part that is there when a run begins is kept as `NAME.mcap.part.1`, `.2`, …; while another "
        "process "
        "writes it, the\n  run is refused. `volery recover NAME.mcap.part` makes the log `NAME.mcap` of it: "
        "the same "
        "records with an index and\n  a `result` whose status is `cut off`, at the last step with a "
        "hash.\n"
        "- `result` ends with the digest of the log, and metadata `signature` is that of the digest where "
        "the "
        "run was signed:\n  [what they prove](security.md), `volery verify NAME.mcap` checks them.\n\n",
        out);
}

static void print_channels(FILE *out)
{
    fputs(
        "## Channels\n\n"
        "| topic | message | encoding | when |\n|---|---|---|---|\n"
        "| `/world/hashes` | `volery.Hashes`: first_tick, hashes | protobuf | the hash of every step, in "
        "batches |\n"
        "| `/world/state` | `volery.State`: tick, hash, state, check (XXH3 of the state without its first "
        "value) | "
        "protobuf | every `log.snapshot`, first and last, and when something is injected "
        "|\n"
        "| `/replies` | `volery.Reply`: see below | protobuf | every reply of a controller that is not "
        "built in |\n"
        "| `/events` | `volery.Event`: tick, time, kind, drone (the name of a drone or body), text, note (of "
        "the program around the run, "
        "which a replay does not have) | protobuf | when something happens |\n"
        "| `/drones/NAME/…` | see below | protobuf | every `log.every` steps |\n"
        "| `/bodies/NAME/…` | the streams truth, acceleration, ground, touch and geodetic of a drone | "
        "protobuf | likewise |\n"
        "| `/joints/NAME` | `volery.Joint`: see below | protobuf | every `log.every` steps |\n"
        "| `/contacts` | `volery.Contact`: see below | protobuf | when a contact begins or ends or is a "
        "crash, and "
        "every `log.every` steps |\n"
        "| `/proof` | `volery.Proof`: messages, digest (SHA-256 of the log up to here) | protobuf | at the "
        "end of every chunk |\n\n"
        "## Streams of a drone\n\n"
        "A body has its truth, without rotors, its acceleration, what it touches and how it moves over "
        "the ground.\n"
        "World frame +Z up, body frame forward-left-up, SI units.\n\n",
        out);
}

// Which rungs a field of a reply belongs to.
static void print_rungs(uint32_t rungs, FILE *out)
{
    static const char *const names[] = {"none", "motors", "wrench", "rates", "attitude", "velocity", "pilot"};
    const char *separator = "";
    for (int r = 0; r < 7 && rungs != VY_REPLY_ANY; ++r) {
        if ((rungs >> r & 1) == 0) continue;
        fprintf(out, "%s%s", separator, names[r]);
        separator = ", ";
    }
    fputs(rungs == VY_REPLY_ANY ? "any" : rungs == 0 ? "–" : "", out);
}

static void print_replies(FILE *out)
{
    static const char *const types[] = {
        [VY_REPLY_CHOICE] = "number",
        [VY_REPLY_COMMANDS] = "list of numbers, one per rotor, then one per thruster",
        [VY_REPLY_NUMBER] = "number",
        [VY_REPLY_VEC3] = "Vec3 {x, y, z}",
        [VY_REPLY_QUAT] = "Quaternion {w, x, y, z}",
        [VY_REPLY_LIST] = "list of numbers",
        [VY_REPLY_FLAGS] = "number",
        [VY_REPLY_UINT] = "number",
    };
    fputs("## Replies\n\n"
          "`/replies`, `volery.Reply`: the replies of controllers that are not built in, bit by bit. "
          "`tick` and `drone` say when\n"
          "and whose it is, `check` is XXH3 of the other values. A field counts in replies of its rungs. In "
          "the "
          "table of a drone they are\n"
          "`reply.thrust` and so on.\n\n"
          "| field | type | rungs | unit | |\n|---|---|---|---|---|\n",
          out);
    int count;
    const vy_reply_field *fields = vy_reply_fields(&count);
    for (int i = 0; i < count; ++i) {
        const vy_reply_field *f = &fields[i];
        fprintf(out, "| `%s` | %s | ", f->name, types[f->type]);
        print_rungs(f->rungs, out);
        fprintf(out, " | %s | %s |\n", f->unit[0] != '\0' ? f->unit : "–", f->text);
    }
    fputc('\n', out);
}

static void print_joints(FILE *out)
{
    fputs(
        "## Joints\n\n`/joints/NAME`, `volery.Joint`; the channel's metadata `a` and `b` name what it holds. "
        "In the "
        "table of a drone the fields of\nits joints are `joints.NAME.tension` and so on.\n\n"
        "| field | type | unit | |\n|---|---|---|---|\n"
        "| `length` | number | m | between the ends of a rod, cable or spring; translation of a sliding "
        "joint |\n"
        "| `angle` | number | rad, m | joint coordinate: angle or translation |\n"
        "| `rate` | number | rad/s, m/s | its rate |\n"
        "| `tension` | number | N | of a rod, cable or spring: how much it pulls its ends together |\n"
        "| `force` | Vec3 {x, y, z} | N | of the joint on `b` at its anchor, world; from the first step on "
        "|\n"
        "| `torque` | Vec3 {x, y, z} | N m | on `b` about its anchor, world |\n"
        "| `active` | number | – | 0: a cable is slack or a stop is not reached; else 1 |\n\n",
        out);
}

static void print_contacts(FILE *out)
{
    fputs("## Contacts\n\n`/contacts`, `volery.Contact`, in worlds where things collide; the channel's "
          "metadata "
          "name what collides by number: drones,\nbodies, then obstacles, terrain last. Begins, ends and "
          "crashes are "
          "events "
          "as well, of the kinds `contact` and `crash`.\n\n"
          "| field | type | unit | |\n|---|---|---|---|\n"
          "| `tick` | number | – | the step |\n"
          "| `phase` | number | – | 0: begins, 1: goes on, 2: has ended: no impulse for 10 ms; the rest is "
          "zero then |\n"
          "| `body`, `other` | number | – | the two, by number; the lower one first |\n"
          "| `points` | number | – | with an impulse |\n"
          "| `point` | Vec3 {x, y, z} | m | where, weighted by impulse, world |\n"
          "| `normal` | Vec3 {x, y, z} | – | unit, towards `body` |\n"
          "| `impulse` | Vec3 {x, y, z} | N s | on `body`, over the step, world |\n"
          "| `speed` | number | m/s | at which the deepest point closed |\n"
          "| `severity` | number | – | largest share of a crash limit; 1 and more is a crash |\n\n",
          out);
}

void vy_log_print_reference(FILE *out)
{
    FPU_SCOPE;
    print_head(out);
    print_channels(out);
    print_streams(out);
    print_replies(out);
    print_joints(out);
    print_contacts(out);
    vy_display_print_reference(out);
    print_state(out);
}
