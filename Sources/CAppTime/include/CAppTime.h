// Interposed libdispatch and clock functions. The test executable links this target, so the dynamic linker binds
// the calls that the Swift runtime, Foundation and the app make to these definitions. Each definition passes its
// call to the real function unless virtual time is active.

#ifndef C_APP_TIME_H
#define C_APP_TIME_H

#include <stdbool.h>
#include <stdint.h>

typedef void (*app_time_function)(void *context);

/// The objects that a thread can wait for.
enum app_time_wait_kind { app_time_wait_semaphore, app_time_wait_group, app_time_wait_block };

/// The sources that virtual time takes over.
enum app_time_source_kind {
    app_time_source_timer,
    app_time_source_data_add,
    app_time_source_data_or,
    app_time_source_data_replace
};

/// The Swift functions that receive intercepted calls while virtual time is active. Deadlines are in nanoseconds of
/// virtual time since the start; INT64_MAX means never.
struct app_time_hooks {
    /// Takes an asynchronous call. The hook owns `context` and must call `function` exactly once.
    void (*enqueue)(void *queue, app_time_function function, void *context, bool barrier);
    /// Takes a synchronous call. Returns -1 if the call has returned. Otherwise the real function must run it; after
    /// that, a positive value must be passed to `sync_ended`.
    int64_t (*sync)(void *queue, app_time_function function, void *context, bool barrier);
    /// Reports the end of a synchronous call.
    void (*sync_ended)(int64_t identifier);
    /// Takes a delayed call.
    void (*after)(int64_t deadline, void *queue, app_time_function function, void *context);
    /// Takes over a new source.
    void (*source_created)(void *source, void *queue, enum app_time_source_kind kind);
    /// Takes data for a source. Returns false if the source was not taken over.
    bool (*merge_data)(void *source, uintptr_t value);
    /// Reads the data of the call of the handler. Returns false if the source was not taken over.
    bool (*source_data)(void *source, uintptr_t *value);
    /// Arms a timer source. Returns false if the source was not taken over.
    bool (*timer_source_armed)(void *source, int64_t deadline, uint64_t interval);
    /// Sets the event handler (or the cancellation handler) of a source. `block` may be NULL. Returns false if the
    /// source was not taken over.
    bool (*timer_source_handler)(void *source, bool cancellation, void *block);
    /// Reports the cancellation of a source, before the real call.
    void (*source_cancelled)(void *source);
    /// Reports that a source or a queue was suspended (+1) or resumed (-1).
    void (*suspension_changed)(void *object, int change);
    /// Reports a new target queue.
    void (*target_changed)(void *object, void *queue);
    /// Takes a group notification. The hook owns `context`.
    void (*group_notify)(void *group, void *queue, app_time_function function, void *context);
    /// Reports a leave, after the real call.
    void (*group_left)(void *group);
    /// Takes the notification of a work item. Returns false if the real function must take it.
    bool (*block_notify)(void *block, void *queue, void *notification);
    /// Waits for an object. Returns 0 on success, 1 after the deadline, -1 if the real function must wait.
    int (*wait)(void *object, enum app_time_wait_kind kind, int64_t deadline);
    /// Reports a semaphore signal, after the real call.
    void (*semaphore_signalled)(void *semaphore);
    /// Arms (or, with INT64_MAX, disarms) a timer descriptor of a run loop.
    void (*timer_descriptor)(int descriptor, int64_t deadline);
    /// Reports a block for the main run loop.
    void (*run_loop_block)(void);
    /// Returns true if the scheduler controls the calling thread.
    bool (*owns_thread)(void);
    /// Blocks the calling thread. Returns false if the real function must block it.
    bool (*sleep)(int64_t nanoseconds);
    /// Reports a new thread of the app or of a library, which virtual time does not control. `library` is the path of
    /// the executable or library that created it; NULL: unknown.
    void (*thread_created)(const char *library);
    /// Reports a new source of a descriptor, a signal or a process, which virtual time does not control.
    void (*outside_source_created)(void);
};

/// Copies the hooks. Call this function once, before the first `app_time_start`.
void app_time_set_hooks(const struct app_time_hooks *hooks);

/// Starts virtual time at 0. `wall_clock` is the wall clock at that instant in nanoseconds since 1970; a negative
/// value selects the real wall clock.
void app_time_start(int64_t wall_clock);
/// Returns to real time. All interposed functions pass their calls through.
void app_time_stop(void);
bool app_time_is_active(void);
int64_t app_time_now(void);
void app_time_set_now(int64_t nanoseconds);

/// The real monotonic clock in nanoseconds.
int64_t app_time_real_clock(void);

/// The scheduler's data of the calling thread.
void *app_time_thread_context(void);
void app_time_set_thread_context(void *context);

/// Prepares `app_time_is_on_main_queue`.
void app_time_mark_main_queue(void);
/// True on the main thread and inside the blocks of the main queue.
bool app_time_is_on_main_queue(void);
/// True on the thread that started the process.
bool app_time_is_main_thread(void);
/// True after `dispatch_main`: the main queue then runs on pool threads.
bool app_time_main_thread_has_exited(void);
/// Runs work that reached the real main queue. Returns false if there was none. Main thread only.
bool app_time_drain_main_queue(void);

void *app_time_main_queue(void);

/// A queue that a call occupies while it runs.
struct app_time_queue_use {
    void *queue;
    /// True if no other call can use the queue at the same time.
    bool exclusive;
};

/// Lists the queues that a call on `queue` occupies: the queue, its target, and so on, without the global queues.
/// Returns the number of entries, at most `count`.
int app_time_queue_uses(void *queue, bool barrier, struct app_time_queue_use *uses, int count);
const char *app_time_queue_label(void *queue);
void app_time_retain(void *object);
void app_time_release(void *object);

// Blocks as untyped pointers.
void *app_time_copy_block(void *block);
void app_time_release_block(void *block);
/// Calls a block, then releases it.
void app_time_run_block(void *block);

// The real functions.
void app_time_real_async(void *queue, void *context, app_time_function function, bool barrier);
void app_time_real_sync(void *queue, void *context, app_time_function function, bool barrier);
void app_time_real_after(int64_t nanoseconds, void *queue, void *context, app_time_function function);
void app_time_real_source_timer(void *source, int64_t nanoseconds, uint64_t interval);
void app_time_real_source_handler(void *source, bool cancellation, void *block);
bool app_time_real_source_is_cancelled(void *source);
/// Calls `function` with `context` on `queue` when the work item `block` has run.
void app_time_real_block_notify_f(void *block, void *queue, void *context, app_time_function function);
void app_time_real_group_notify(void *group, void *queue, void *context, app_time_function function);
/// Returns true if the group is empty, if the work item has run, or if the semaphore was decremented.
bool app_time_real_poll(void *object, enum app_time_wait_kind kind);
void app_time_real_merge_data(void *source, uintptr_t value);
void app_time_real_wait(void *object, bool group, int64_t nanoseconds);
void app_time_real_sleep(int64_t nanoseconds);
/// Arms a timer descriptor. With `wait`, returns after the descriptor has become readable.
void app_time_real_timer_descriptor(int descriptor, int64_t nanoseconds, bool wait);
void *app_time_serial_queue(const char *label);
/// Calls `finalizer` with `context` when `object` is destroyed.
void app_time_set_finalizer(void *object, void *context, app_time_function finalizer);

/// A binary hand-over signal between two threads, in real time.
struct app_time_baton;
struct app_time_baton *app_time_baton_create(void);
void app_time_baton_free(struct app_time_baton *baton);
void app_time_baton_signal(struct app_time_baton *baton);
/// Returns false after `nanoseconds` of real time without a signal. A negative value waits without limit.
bool app_time_baton_wait(struct app_time_baton *baton, int64_t nanoseconds);

/// Writes a message to the standard error stream.
void app_time_report(const char *message);

/// Starts a detached thread.
void app_time_start_thread(app_time_function function, void *context);

#endif
