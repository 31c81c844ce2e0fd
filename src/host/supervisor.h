// supervisor.h - the process between a world and the program of a controller.
//
// It is the subreaper of all that the program starts: whoever detaches himself becomes its child. When the
// program ends, or the world, it kills what is left, then ends as the program did, so that its parent sees
// that end. Never the caller's own process, whose other children are not ours.
#pragma once

/// In a process just forked. Returns in a second one, its child, in which signals are as at a program's start
/// and only what is safe after a fork may follow; the first becomes the supervisor and never returns.
/// @param lifeline_fd a socket whose other end the world holds; it is closed in the second process
void vy_supervise(int lifeline_fd);

/// Close all descriptors from `first_fd` to `last_fd`, which may be -1: all.
void vy_close_descriptors(int first_fd, int last_fd);
