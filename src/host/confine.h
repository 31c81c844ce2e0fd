// confine.h - what a program may do: read, compute, answer. docs/security.md says what is kept from it.
#pragma once
#include "volery/host.h"

typedef struct confinement confinement;

/// In the world's process, before the fork: a fresh folder, the rules, the environment.
/// @param out NULL when the def does not ask for it
vy_status vy_confine_prepare(const vy_controller_def *def, confinement **out, vy_error *err);

/// In the program's process, just before its exec. What the kernel lacks is left out; what it has and refuses
/// ends the process. `c` may be NULL.
void vy_confine_enter(const confinement *c);

/// For the exec; that of this process where `c` is NULL.
char **vy_confine_environment(const confinement *c);

/// The fresh folder; NULL where `c` is.
const char *vy_confine_folder(const confinement *c);

/// When the program and all that it has started are gone: removes the folder. NULL is a no-op.
void vy_confine_release(confinement *c);

/// What a kernel with this version of Landlock (0: none), with or without seccomp, lacks, in one line; "":
/// nothing.
void vy_confine_describe_missing(int landlock, int with_seccomp, char out[VY_LACKS_CAP]);
