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

enum { lockstep_max_processes = 256, lockstep_max_threads = 1024, lockstep_name_size = 48 };

/// A deadline that never comes.
#define LOCKSTEP_NEVER INT64_MAX

/// The values of `running` that name no thread.
enum {
    /// All threads wait, and no deadline is set.
    lockstep_idle = -1,
    /// A process ends with the turn. The supervisor passes the turn on when the system has closed its descriptors.
    lockstep_exiting = -2
};

enum lockstep_thread_state {
    lockstep_thread_free,
    /// Gets the turn as soon as the threads before it have had theirs.
    lockstep_thread_ready,
    lockstep_thread_running,
    /// Waits for its deadline, for a wake, or for other threads to run if `polls` is set.
    lockstep_thread_waiting
};

enum lockstep_process_state {
    lockstep_process_free,
    /// Created by its parent, without a process of the system so far.
    lockstep_process_reserved,
    lockstep_process_alive,
    lockstep_process_ended
};

struct lockstep_thread {
    int32_t state;
    int32_t process;
    /// The thread's number in the system.
    int32_t tid;
    /// The futex word for which the thread waits: 1 gives it the turn. Atomic.
    uint32_t turn;
    int64_t deadline;
    /// The value of `epoch` when the thread last checked what it waits for.
    uint32_t checked;
    bool polls;
    /// True if the thread was woken, and has not just reached its deadline.
    bool woken;
    char call[lockstep_name_size];
};

struct lockstep_process {
    /// Atomic, because a new process looks for its entry.
    int32_t state;
    /// The number in the system; 0 if unknown. Atomic.
    int32_t pid;
    int32_t parent;
    /// The number of processes that the entry has had, for random numbers.
    uint32_t generation;
    /// Set by the supervisor when the process has ended. Atomic.
    uint32_t ended;
    /// The signals that wait for the process's next turn. Atomic.
    uint64_t signals;
    /// The random numbers taken so far.
    uint64_t random_count;
    /// The key of the process's random numbers.
    uint64_t random_key;
    /// The number of child processes so far.
    uint32_t children;
    /// True after the parent has learned of the end.
    bool is_reaped;
    /// True if the process was started by the coordinator.
    bool is_program;
    /// True if the program can't load the library; its time is computing.
    bool is_static;
    char name[lockstep_name_size];
};

struct lockstep {
    uint64_t magic;
    /// The time in nanoseconds since the start.
    int64_t now;
    /// The clocks at the start.
    int64_t wall_start, monotonic_start;
    uint64_t seed;
    /// Changes whenever a thread may have done something for which another thread waits.
    uint32_t epoch;
    /// The thread with the turn, or one of the values above. Atomic.
    int32_t running;
    /// The thread that ran before: threads take turns in the order of their numbers.
    int32_t latest;
    /// The number of entries in use.
    int32_t thread_count, process_count;
    /// The process that ends if `running` is `lockstep_exiting`.
    int32_t exiting;
    /// A thread that has ended, which the next thread waits for; 0: none.
    int32_t dying_pid, dying_tid;
    /// Wakes the supervisor. Atomic.
    uint32_t bell;
    /// Changes with each turn, so that the supervisor can see progress. Atomic.
    uint64_t turns;
    /// The number of times that the time has moved.
    uint64_t grants;
    /// Ports for sockets without one.
    uint32_t next_port;
    /// The end of time: the time does not move beyond it.
    int64_t end;
    /// True after the time has reached its end.
    bool has_ended;
    /// False if the programs get the system's random numbers.
    bool is_random_answered;
    struct lockstep_process processes[lockstep_max_processes];
    struct lockstep_thread threads[lockstep_max_threads];
};

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

/// Writes are seen by the programs: they check what they wait for.
void lockstep_touch(struct lockstep *lockstep);
int64_t lockstep_now(const struct lockstep *lockstep);
uint64_t lockstep_grants(const struct lockstep *lockstep);
uint64_t lockstep_turns(const struct lockstep *lockstep);

// For the supervisor, on a thread in real time.

/// Waits until the bell rings, for at most this real time.
void lockstep_listen(struct lockstep *lockstep, int milliseconds);
void lockstep_ring(struct lockstep *lockstep);
/// Marks a process that has ended, and passes its turn on. Returns false if it was marked before.
bool lockstep_process_gone(struct lockstep *lockstep, int process);
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
bool lockstep_is_alive(const struct lockstep *lockstep, int process);
/// Kills all processes.
void lockstep_kill_all(struct lockstep *lockstep);
void lockstep_set_end(struct lockstep *lockstep, int64_t end);
bool lockstep_has_reached_end(const struct lockstep *lockstep);
void lockstep_answer_random(struct lockstep *lockstep, bool answers);
/// Removes an address layout that differs in each run from the programs that this process starts. Returns false if the
/// system does not allow it.
bool lockstep_fix_address_layout(void);
/// Reads the end of a child process: a status of wait(2), or -1 if it runs.
int lockstep_child_status(int32_t pid);
/// Starts a program of an entry: searched in PATH, in a process group of this program. Returns 0 or an `errno`.
int lockstep_spawn(
    struct lockstep *lockstep, int process, char *const arguments[], char *const environment[], int output);
/// True if the file, searched in PATH, is a program without a dynamic linker.
bool lockstep_is_static(const char *file);

#endif
