// The state that all processes of a lockstep share, and the scheduler that works on it.
//
// Exactly one thread of all processes runs at a time: the thread that has the turn. A thread that waits gives the turn
// to the next thread that can go on; if there is none, it moves the time to the earliest deadline. So the order of
// everything that the programs do is a function of the programs and of the seed. Only the thread with the turn writes
// the state; the exceptions are atomic, and named.

#ifndef C_LOCKSTEP_H
#define C_LOCKSTEP_H

#include <stdbool.h>
#include <stdint.h>

// The functions of this target belong to the program or library that contains it.
#pragma GCC visibility push(hidden)

/// A deadline that never comes.
#define LOCKSTEP_NEVER INT64_MAX

/// The end of a run: that of all programs, of the first one or of the last one in the order of the command line.
enum lockstep_until { lockstep_until_all, lockstep_until_first, lockstep_until_last };

/// The state that all processes of a lockstep share.
struct lockstep;

/// Creates the shared state in a new file. Returns NULL and sets `errno` if that fails.
struct lockstep *lockstep_create(const char *path, uint64_t seed, int64_t wall_start);
/// Maps the shared state. Returns NULL if the file is not one.
struct lockstep *lockstep_open(const char *path);
void lockstep_close(struct lockstep *lockstep);

/// Reserves a process with one ready thread. Returns its number, or -1 if there are too many.
int lockstep_add_process(struct lockstep *lockstep, const char *name, int parent, bool is_program);
/// Adds a ready thread. Returns its number, or -1 if there are too many.
int lockstep_add_thread(struct lockstep *lockstep, int process);
/// The first thread of a process.
int lockstep_main_thread(const struct lockstep *lockstep, int process);
void lockstep_set_pid(struct lockstep *lockstep, int process, int32_t pid);
/// Returns the number of the process with this number of the system, or -1.
int lockstep_process_of_pid(const struct lockstep *lockstep, int32_t pid);

/// Waits for the first turn of a thread.
void lockstep_start(struct lockstep *lockstep, int thread, int32_t tid);
/// Gives the turn away, and returns with the next turn. Returns true if the thread was woken, false after its deadline
/// or for a check.
///
/// - has_run: true if the thread may have done something for which another thread waits.
/// - polls: true if the thread checks again after other threads have run.
bool lockstep_wait(
    struct lockstep *lockstep, int thread, const char *call, int64_t deadline, bool polls, bool has_run);
/// Lets the other threads run that can, without moving the time.
void lockstep_yield(struct lockstep *lockstep, int thread);
/// Makes a waiting thread ready.
void lockstep_wake(struct lockstep *lockstep, int thread);
/// Ends the calling thread, and gives its turn away.
void lockstep_thread_ended(struct lockstep *lockstep, int thread, int32_t pid, int32_t tid);
/// Announces the end of the calling process, which keeps the turn until the supervisor has seen it end.
void lockstep_process_ends(struct lockstep *lockstep, int process);
/// The next 64 random bits of a process.
uint64_t lockstep_random(struct lockstep *lockstep, int process);

// For the air, which is the first thread.

int64_t lockstep_now(const struct lockstep *lockstep);
uint64_t lockstep_grants(const struct lockstep *lockstep);
/// The number of times that a thread has waited after it may have done something: it changes while there is progress.
uint64_t lockstep_runs(const struct lockstep *lockstep);
uint64_t lockstep_turns(const struct lockstep *lockstep);

// For the supervisor, on a thread in real time.

/// Waits until the bell rings, for at most this real time.
void lockstep_listen(struct lockstep *lockstep, int milliseconds);
void lockstep_ring(struct lockstep *lockstep);
/// Marks a process that has ended, and passes its turn on. Called once for each.
void lockstep_process_gone(struct lockstep *lockstep, int process);
/// Finds processes that have ended and passes their turns on. Returns the number of a process that has ended since the
/// last call, or -1.
int lockstep_find_ended(struct lockstep *lockstep);
/// True if all threads wait and no deadline is set.
bool lockstep_is_idle(const struct lockstep *lockstep);
/// Lets all threads that poll check again, while idle: for input from outside.
void lockstep_recheck(struct lockstep *lockstep);
/// Describes the thread with the turn, or all waiting threads while idle, into `text`.
void lockstep_describe(const struct lockstep *lockstep, char *text, int size);
/// True if a process that the coordinator has started, or a child of it, is alive.
bool lockstep_has_processes(const struct lockstep *lockstep);
/// The number of entries of processes in use.
int lockstep_process_count(const struct lockstep *lockstep);
const char *lockstep_name(const struct lockstep *lockstep, int process);
/// True if the process is alive, and the process that has started it is not.
bool lockstep_is_left_behind(const struct lockstep *lockstep, int process);
bool lockstep_is_alive(const struct lockstep *lockstep, int process);
/// Kills all processes.
void lockstep_kill_all(struct lockstep *lockstep);
/// Waits for the ends of the programs, after all have been killed and the supervisor has ended.
void lockstep_reap(struct lockstep *lockstep);
/// Sets the end of time.
void lockstep_set_end(struct lockstep *lockstep, int64_t end);
bool lockstep_has_reached_end(const struct lockstep *lockstep);
/// Sets the end of the run.
///
/// - stops_on_failure: true if a program that fails ends the run.
void lockstep_set_until(struct lockstep *lockstep, enum lockstep_until until, bool stops_on_failure);
/// Gives the air the next turn. While idle, the supervisor's next `lockstep_recheck` does it. For any thread.
void lockstep_stop(struct lockstep *lockstep);
bool lockstep_is_stopping(const struct lockstep *lockstep);
/// The status of wait(2) of a program that has ended.
int lockstep_status(const struct lockstep *lockstep, int process);
/// The time in nanoseconds at which a process has ended.
int64_t lockstep_end(const struct lockstep *lockstep, int process);
/// True if a process has ended before the end of the run.
bool lockstep_has_ended_by_itself(const struct lockstep *lockstep, int process);
void lockstep_answer_random(struct lockstep *lockstep, bool answers);
/// Removes an address layout that differs in each run from the programs that this process starts. Returns false if the
/// system does not allow it.
bool lockstep_fix_address_layout(void);
/// Starts a program of an entry: searched in PATH, in a process group of this program. Returns 0 or an `errno`.
int lockstep_spawn(
    struct lockstep *lockstep, int process, char *const arguments[], char *const environment[], int output);
/// True if the file, searched in PATH, is a program without a dynamic linker.
bool lockstep_is_static(const char *file);

#pragma GCC visibility pop

#endif
