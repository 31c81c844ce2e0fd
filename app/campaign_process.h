// campaign_process.h - processes that fly cases, started and waited for by the one that people see.
#pragma once
#include "campaign.h"
#include <signal.h>
#include <sys/types.h>

/// Between begin and end the ends of processes and requests to stop are waited for, instead of acted on.
typedef struct process_signals {
    sigset_t awaited, old_mask;
} process_signals;

process_signals vy_process_signals_block(void);
void vy_process_signals_restore(const process_signals *signals);

/// Wait until a process ends, somebody asks to stop, or a moment has passed.
/// @return the signal that asks to stop; 0: continue
int vy_process_signals_wait(const process_signals *signals);

/// fork(). The new process dies with this one, stops when asked, and leaves stdout alone.
/// @return as fork(): -1 after a sentence
pid_t vy_process_fork(void);

/// How many processes fly at a time: --jobs, or one for each core this process may use.
/// @return 0, or the exit status after a sentence
int vy_campaign_jobs(const campaign *c, int *jobs);

/// Fly cases each in a process of its own, `jobs` at a time. One whose process dies twice has that as its
/// result, and takes nothing with it.
/// @param log of a single case; NULL: none
/// @return 0, or the exit status: stopped by a signal, or the system failed
int vy_campaign_fly_in_processes(vy_plan *plan, const vy_case *cases, int count, int jobs, const char *log,
                                 double *rows);
