// signals.c - one flag, set by the handler.
#include "signals.h"
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t seen_signal;

static void on_signal(int number) { seen_signal = number; }

void vy_signals_ignore(void)
{
    struct sigaction action = {.sa_flags = 0};
    sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
}

void vy_signals_catch(void)
{
    struct sigaction action = {.sa_flags = SA_RESTART | (int)SA_RESETHAND}, old_action;
    sigemptyset(&action.sa_mask);
    action.sa_handler = on_signal;
    static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; ++i) {
        // What nohup or a script in the background had ignored stays ignored.
        if (sigaction(stop_signals[i], NULL, &old_action) != 0 || old_action.sa_handler == SIG_IGN) continue;
        sigaction(stop_signals[i], &action, NULL);
    }
}

int vy_signals_seen(void) { return seen_signal; }
int vy_signals_exit(int signal) { return 128 + signal; }
