// Runs a program in a lockstep without an air: for processors and C libraries on which `ble` is not built.
// Usage: coordinator LIBRARY PROGRAM [ARGUMENT…]

#include "CLockstep.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct lockstep *state;
static int program;

/// Passes on the turns of processes that end, and ends a run in which nothing moves for 10 s.
static void *supervise(void *unused)
{
    uint64_t runs = 0;
    for (int still = 0; !lockstep_is_stopping(state); still++) {
        lockstep_listen(state, 20);
        while (lockstep_find_ended(state) >= 0) {
        }
        if (lockstep_runs(state) != runs)
            still = 0;
        runs = lockstep_runs(state);
        lockstep_recheck(state);
        if (still == 500) {
            char text[4096];
            lockstep_describe(state, text, sizeof text);
            fprintf(stderr, "the time stands still: %s\n", text);
            lockstep_stop(state);
            lockstep_kill_all(state);
        }
    }
    while (lockstep_find_ended(state) >= 0) {
    }
    lockstep_recheck(state);
    return unused;
}

int main(int count, char **arguments)
{
    char folder[] = "/tmp/ble-lockstep-XXXXXX", path[64];
    if (count < 3 || mkdtemp(folder) == NULL)
        return 64;
    snprintf(path, sizeof path, "%s/state", folder);
    state = lockstep_create(path, 1, 1767225600LL * 1000000000LL);
    setenv("BLE_LOCKSTEP", folder, 1);
    setenv("LD_PRELOAD", arguments[1], 1);
    lockstep_set_until(state, lockstep_until_all, true);
    program = lockstep_add_process(state, "program", 0, true);
    extern char **environ;
    int problem = lockstep_spawn(state, program, arguments + 2, environ, -1);
    if (problem != 0) {
        fprintf(stderr, "can't start %s: %s\n", arguments[2], strerror(problem));
        return 127;
    }
    pthread_t thread;
    pthread_create(&thread, NULL, supervise, NULL);
    while (!lockstep_is_stopping(state))
        lockstep_wait(state, 0, "the coordinator", LOCKSTEP_NEVER, true, false);
    lockstep_kill_all(state);
    pthread_join(thread, NULL);
    lockstep_reap(state);
    unlink(path);
    rmdir(folder);
    int status = lockstep_status(state, program);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
