// record.h - logs of runs: write one, read one back, replay it, compare two, continue from any moment.
//
// A log is an MCAP file. docs/log.md lists its channels. It holds the resolved scenario, the hash of every
// step, full states at a cadence, and every reply of a controller that is not built in: enough to replay the
// run.
#pragma once
#include "volery/world.h"
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vy_recorder vy_recorder; ///< writes one log; one owner

/// What goes into a log. Start from vy_default_recorder_def(). Everything is copied.
typedef struct vy_recorder_def {
    uint32_t cookie;                   ///< set by the default function
    const char *path;                  ///< written as PATH.part, renamed at the end; `-` is standard output
    const char *scenario;              ///< the resolved scenario as text
    uint64_t config_hash;              ///< of the resolved scenario
    const char *attachment_name;       ///< a file the scenario refers to, kept in the log; NULL: none
    const void *attachment;            ///< what is in that file
    size_t attachment_size;            ///< [bytes]
    const char *const *names;          ///< one per drone, then one per body, in order; unique
    const char *const *joint_names;    ///< one per joint; unique; NULL: joint0, joint1, ...
    const char *const *obstacle_names; ///< one per obstacle; NULL: obstacle0, obstacle1, ...
    uint64_t every;                    ///< [steps] between records of each drone and body, >= 1
    uint64_t snapshot;    ///< [steps] between full states, >= 1; 1 lets replay point at the exact step
    uint64_t display;     ///< [steps] between records for people and their tools (Foxglove); 0: none
    int compress;         ///< 1: zstd; 0: plain
    int has_parent;       ///< 1: this run continues from a moment of another
    uint64_t parent_hash; ///< final hash of the parent log
    uint64_t parent_tick; ///< where it was left
} vy_recorder_def;

/// Records at every tenth step, a full state each thousandth, plain; path, scenario and names are missing.
vy_recorder_def vy_default_recorder_def(void);

/// Open a log for a world that has just been built or restored: it is recorded as it is now, first of all.
/// Where it has records for people, the world keeps its loads from then on (vy_world_keep_loads). On failure
/// `*out` is NULL and no file is left behind.
vy_status vy_recorder_open(const vy_recorder_def *def, vy_world *world, vy_recorder **out, vy_error *err);

/// The listener to give to vy_world_set_sink. It takes no memory per step. After a failure (a full disk) it
/// refuses every further record, and vy_recorder_close says why.
vy_sink vy_recorder_sink(vy_recorder *recorder);

typedef struct vy_signing_key vy_signing_key; ///< an Ed25519 private key; one owner

/// Read a private key from a PEM file, as `openssl genpkey -algorithm ed25519` writes it. VY_NOT_FOUND: the
/// file cannot be read; VY_BAD_VALUE: it holds another kind of key, or one with a passphrase; VY_BAD_STATE:
/// this build has no OpenSSL.
vy_status vy_signing_key_open(const char *path, vy_signing_key **out, vy_error *err);
void vy_signing_key_close(vy_signing_key *key); ///< NULL is a no-op

/// Have the log signed when it is closed. `key` must live until then. VY_BAD_STATE: this build has no
/// OpenSSL.
vy_status vy_recorder_sign(vy_recorder *recorder, const vy_signing_key *key, vy_error *err);

/// What a killed run had left as PATH.part was moved aside when the log was opened: its new name, PATH.part.1
/// or the next free number; NULL: there was none. Valid until the recorder is gone.
const char *vy_recorder_backup(const vy_recorder *recorder);

/// Hand what was recorded so far to the system: whatever then ends the process, PATH.part is good up to the
/// last batch of hashes (a quarter of a second, 256 steps at most). Not needed for the first moment, which is
/// there once the log is open. For flights that take long, about once a second; the log's records are the
/// same with any number of calls, only its chunks are not. A failure is reported by vy_recorder_close.
void vy_recorder_flush(vy_recorder *recorder);

/// A line for people in the log's event channel.
void vy_recorder_note(vy_recorder *recorder, const vy_world *world, const char *kind, const char *text);

/// Finish the log: the last moment, the result, the index; then give it its final name. `status_word` is one
/// word: completed, failed, interrupted. The recorder is gone either way; on failure PATH.part is kept,
/// readable up to its last whole chunk, and an older PATH is untouched.
vy_status vy_recorder_close(vy_recorder *recorder, const vy_world *world, const char *status_word,
                            vy_error *err);

/// Leave PATH.part as far as it got. NULL is a no-op.
void vy_recorder_abandon(vy_recorder *recorder);

typedef struct vy_log vy_log; ///< a log opened for reading; one owner

#define VY_LOG_VERSION_CAP 24
#define VY_LOG_STATUS_CAP  16

typedef struct vy_log_info {
    int complete;                     ///< 0: the run was cut off; the log is good up to `last_tick`
    int recovered;                    ///< 1: it was cut off, and vy_log_recover has made the file whole
    char version[VY_LOG_VERSION_CAP]; ///< of the Volery that wrote it
    uint32_t physics;                 ///< its physics revision
    char
        status[VY_LOG_STATUS_CAP]; ///< completed, failed, interrupted; "cut off" once recovered, empty before
    uint64_t seed;                 ///< of every random stream
    uint64_t config_hash;          ///< of the resolved scenario
    double dt;                     ///< [s] the world's step
    uint64_t every;                ///< [steps] between records of each drone and body
    uint64_t snapshot;             ///< [steps] between full states
    uint64_t first_tick;           ///< of the first full state: 0 unless the run is a branch
    uint64_t last_tick;            ///< of its result; of the last hash in a log that was cut off
    uint64_t final_hash;           ///< at last_tick
    uint32_t drone_count, joint_count;
    uint32_t body_count;               ///< drones included
    int has_parent;                    ///< 1: it is a branch; the next two are of the run it continues
    uint64_t parent_hash, parent_tick; ///< final hash, and the step where it was left
    uint64_t messages;                 ///< of all channels
} vy_log_info;

/// Open a log. A file that is no log, of another format version, damaged before the end of its first chunk,
/// or whose summary is damaged or does not name all of it is an error; a log that was cut off opens with
/// `complete` 0.
vy_status vy_log_open(const char *path, vy_log **out, vy_error *err);
void vy_log_close(vy_log *log); ///< NULL is a no-op
vy_log_info vy_log_get_info(const vy_log *log);
const char *vy_log_scenario(const vy_log *log); ///< the resolved scenario; valid until close
const char *vy_log_path(const vy_log *log);     ///< as it was opened; valid until close
/// A file kept in the log (see vy_recorder_def.attachment_name). `*data` is freed by the caller.
/// VY_NOT_FOUND: it has none of that name.
vy_status vy_log_read_attachment(vy_log *log, const char *name, char **data, size_t *size, vy_error *err);
/// Of drone or body `number`, as vy_world_body() numbers them. NULL beyond the last; valid until close.
const char *vy_log_name(const vy_log *log, uint32_t number);

/// Check all checksums of the file. VY_DAMAGED with the place in `err`.
vy_status vy_log_verify(vy_log *log, vy_error *err);

#define VY_DIGEST_CAP 65 ///< 32 bytes in hexadecimal, and a final NUL

/// What a log can prove of itself.
typedef struct vy_log_proof {
    int has_digest;             ///< 0: it was written without one
    char digest[VY_DIGEST_CAP]; ///< SHA-256 of all of it; of a log that was cut off up to its last chunk
    uint64_t messages;          ///< that the digest covers
    uint64_t proofs;            ///< of chunks, all found to be right
    int has_crc;                ///< 0: another program wrote the file again, without the checksums of MCAP
    int is_signed; ///< 1: by `signer`, whose signature is right. That says who only if you know the key
    char signer[VY_DIGEST_CAP]; ///< Ed25519 public key
} vy_log_proof;

/// Read the log from front to back: checksums, the digest at the end of every chunk and in the result, the
/// signature. VY_OK: it is what was written, as far as the digest goes. VY_DAMAGED: it is damaged or was
/// changed; the error says where. VY_BAD_STATE: this build has no OpenSSL.
vy_status vy_log_prove(vy_log *log, vy_log_proof *out, vy_error *err);

/// Is `proof` signed by this key, a public one in PEM? VY_DAMAGED: it is not signed, or by another key.
vy_status vy_log_proof_signed_by(const vy_log_proof *proof, const char *path, vy_error *err);

/// A note in a log: see vy_recorder_note(). The texts live until it returns.
typedef void vy_note_fn(void *self, uint64_t tick, const char *kind, const char *text);
/// All notes, in their order.
vy_status vy_log_read_notes(vy_log *log, vy_note_fn *on_note, void *self, vy_error *err);

/// Make a whole log of what a killed run left: all whole chunks of `path`, an index, and the result "cut off"
/// at its last hash. `path` is not touched; `to` is replaced when its successor is whole. VY_BAD_STATE: it is
/// whole already, or still being written; VY_DAMAGED: not even its first moment is whole. `info` (may be
/// NULL) is that of the new log.
vy_status vy_log_recover(const char *path, const char *to, vy_log_info *info, vy_error *err);

#define VY_FIELD_NAME_CAP 96

/// Where two runs diverge.
typedef struct vy_difference {
    int found;                     ///< 0: identical as far as both go
    uint64_t tick;                 ///< the first step that differs
    uint64_t field_tick;           ///< the step at which states were compared; 0: at none
    char field[VY_FIELD_NAME_CAP]; ///< the first differing value there, like drones[0].body.position.z
    int reply;   ///< 1: what differs first is a controller's reply, like drones[0].reply.thrust
    int message; ///< 1: states are the same, but a message of the log is not what the run gives: `field` is
                 ///< its topic and field, like /drones/alpha/imu.accel.x
    int has_values; ///< of a message: 1: numbers to compare, as below; 0: texts
    char
        text_a[VY_FIELD_NAME_CAP]; ///< of a message: its text in the log; "" with `text_b` "" for other bytes
    char text_b[VY_FIELD_NAME_CAP];
    int real;    ///< 1: compare a and b; 0: whole numbers, compare integer_a and integer_b
    double a, b; ///< in the log (or first log), and in the replay (or second log)
    uint64_t integer_a, integer_b;
    uint64_t hash_a, hash_b; ///< at `tick`; equal where only the full state of the log differs
    uint64_t last_tick;      ///< the last step compared
} vy_difference;

/// Called now and then with the step reached and the last one; return nonzero to stop (VY_BAD_STATE).
typedef int vy_progress_fn(void *self, uint64_t tick, uint64_t last);

/// Replay the log in `world`, built by the caller from vy_log_scenario(): restore its first state, feed
/// the logged replies of controllers that are not built in, compare the hash of every step and every full
/// state. VY_OK without a difference: all steps of the log, up to the last step and final hash of its result,
/// or up to where it was cut off (`complete` 0), are the same. VY_DAMAGED when the log lacks a hash, state or
/// reply on the way, or is not what its result says; VY_IO and VY_NO_MEMORY when it cannot be read: then
/// `out->last_tick` is the last step that was compared. `progress` may be NULL.
vy_status vy_log_replay(vy_log *log, vy_world *world, vy_progress_fn *progress, void *self,
                        vy_difference *out, vy_error *err);

/// The same, and every message of the log is compared with what a recorder of `def` (whose path is not read)
/// would write: samples, estimates, loads, events, contacts, states. Not compared are notes
/// (vy_recorder_note) and proofs. `observer` (may be NULL) hears every step after that. vy_scenario_replay()
/// fills the def.
vy_status vy_log_replay_messages(vy_log *log, vy_world *world, const vy_recorder_def *def,
                                 const vy_sink *observer, vy_progress_fn *progress, void *self,
                                 vy_difference *out, vy_error *err);

/// The same with the world's own controllers called again instead of the log: their first reply that differs
/// from the logged one ends the replay and is named. Controllers must have been opened (volery/host.h).
vy_status vy_log_replay_live(vy_log *log, vy_world *world, vy_progress_fn *progress, void *self,
                             vy_difference *out, vy_error *err);

/// Compare two logs, hash by hash and then state by state. VY_DAMAGED when one of them lacks a hash on the
/// way.
vy_status vy_log_compare(vy_log *a, vy_log *b, vy_difference *out, vy_error *err);

/// Bring `world` to the moment `tick` of the log: the nearest full state before it, then steps, replies fed.
/// VY_DIVERGED when the hash then differs from the log's.
vy_status vy_log_seek(vy_log *log, vy_world *world, uint64_t tick, vy_error *err);

/// The same from the log's first moment on, with every sample given to the world's own controllers on the
/// way: they then have the state they had in the run. Their replies are ignored, the logged ones act.
/// @param difference the largest between a motor command of theirs and the logged one, over the last second;
/// may be NULL
vy_status vy_log_seek_live(vy_log *log, vy_world *world, uint64_t tick, double *difference, vy_error *err);

typedef enum vy_export_format {
    VY_EXPORT_CSV, ///< comma-separated values with a header line, all digits; empty before the first sample
    VY_EXPORT_PARQUET, ///< columns of doubles, packed; null before the first sample; units in its metadata
    VY_EXPORT_KML,     ///< its path over a planet, for Google Earth and maps (OGC KML 2.2)
    VY_EXPORT_GPX,     ///< the same as a track with times (GPX 1.1)
} vy_export_format;

/// A table of one drone or body. Start from vy_default_export_def().
typedef struct vy_export_def {
    uint32_t body;             ///< its number
    const char *const *fields; ///< names as in docs/log.md, like body.position or forces.gravity; NULL: all
    int field_count;
    double rate; ///< [Hz] 0: a row per record; else evenly, each row the latest record at or before its time
    vy_export_format format;
    double date; ///< decimal year in which the run starts, for VY_EXPORT_GPX; 0: no times
} vy_export_def;

/// All fields and records of the first drone or body, comma-separated.
vy_export_def vy_default_export_def(void);

/// Write the table: a column of time [s], then one per value. Of a path `fields` are not read; VY_NOT_FOUND
/// for a path of a run without a planet.
vy_status vy_log_export(vy_log *log, const vy_export_def *def, FILE *out, vy_error *err);

/// The page docs/log.md: every channel and field of a log, Markdown.
void vy_log_print_reference(FILE *out);

#ifdef __cplusplus
}
#endif
