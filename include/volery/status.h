// status.h - every way a call can fail, in one list.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// Numbers are stable: new failures are added at the end.
#define VY_STATUS_LIST(X)                                            \
    X(VY_OK, "ok")                                                   \
    X(VY_BAD_VALUE, "a value is out of range or not finite")         \
    X(VY_BAD_SYNTAX, "the text could not be read")                   \
    X(VY_BAD_STATE, "the call does not fit the object's state")      \
    X(VY_NO_MEMORY, "the allocator returned null")                   \
    X(VY_FULL, "a capacity given at creation is used up")            \
    X(VY_NOT_FOUND, "no such name or handle")                        \
    X(VY_IO, "the system could not read or write")                   \
    X(VY_DAMAGED, "the data is damaged or truncated")                \
    X(VY_OTHER_VERSION, "the data was made by another version")      \
    X(VY_DIVERGED, "the replayed state differs from the log")        \
    X(VY_HULL_EMPTY, "a hull of no points")                          \
    X(VY_HULL_TOO_FEW, "a hull needs at least four points")          \
    X(VY_HULL_DUPLICATE, "fewer than four of the points differ")     \
    X(VY_HULL_COLLINEAR, "the points lie on one line")               \
    X(VY_HULL_COPLANAR, "the points lie in one plane")               \
    X(VY_HULL_NOT_FINITE, "a point is infinite or not a number")     \
    X(VY_HULL_HUGE, "a point is farther than 1e9 m from the origin") \
    X(VY_BAD_HULL, "not a closed convex polyhedron")                 \
    X(VY_BAD_MASS, "a mass must be finite and above zero")           \
    X(VY_SIMPLEX_FULL, "a simplex has at most four points")          \
    X(VY_NO_CONVERGENCE, "the iteration cap came before the answer") \
    X(VY_BAD_DISTANCE, "a distance must be finite and above zero")

typedef enum vy_status {
#define X(name, text) name,
    VY_STATUS_LIST(X)
#undef X
} vy_status;

#define VY_ERROR_FILE_CAP 128
#define VY_ERROR_TEXT_CAP 200

/// Details of one failure. Filled only when the returned status is not VY_OK.
typedef struct vy_error {
    vy_status status;
    int line;                     ///< 1-based line of the input; 0 when it does not apply
    int column;                   ///< 1-based column of the input; 0 when it does not apply
    char file[VY_ERROR_FILE_CAP]; ///< input file as the caller named it; empty when it does not apply
    char text[VY_ERROR_TEXT_CAP]; ///< one sentence for a person
} vy_error;

/// One short sentence for a status. Never NULL, static storage.
const char *vy_status_text(vy_status status);

#ifdef __cplusplus
}
#endif
