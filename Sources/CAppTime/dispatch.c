// The functions of libdispatch that start work, wait for work or set timers.

#include "internal.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

// MARK: Declarations of libdispatch

// This file cannot include <dispatch/dispatch.h>: the header needs -fblocks, which is an unsafe flag in a package.

extern struct dispatch_queue_s _dispatch_main_q;
extern const struct dispatch_source_type_s _dispatch_source_type_timer, _dispatch_source_type_data_add,
    _dispatch_source_type_data_or, _dispatch_source_type_data_replace;

/// The layout of queues, which libdispatch exports for debuggers (version 5 and later).
extern const struct dispatch_queue_offsets_s {
    uint16_t version, label, label_size, flags, flags_size, serial_number, serial_number_size, width, width_size;
    uint16_t running, running_size, suspend_count, suspend_count_size, target_queue, target_queue_size;
} dispatch_queue_offsets;

extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);
extern void *_Block_copy(const void *block);
extern void _Block_release(const void *block);
extern const char *dispatch_queue_get_label(void *queue);
extern void dispatch_retain(void *object);
extern void dispatch_release(void *object);
extern void *dispatch_queue_create(const char *label, void *attributes);
extern void *dispatch_get_global_queue(intptr_t identifier, uintptr_t flags);
extern void dispatch_queue_set_specific(
    void *queue, const void *key, void *context, app_time_function destructor);
extern void *dispatch_get_specific(const void *key);
extern void dispatch_group_enter(void *group);
extern void dispatch_set_context(void *object, void *context);
extern void dispatch_set_finalizer_f(void *object, app_time_function finalizer);
extern intptr_t dispatch_source_testcancel(void *source);
extern void dispatch_group_leave(void *group);

extern void *_NSConcreteStackBlock[];

struct block_descriptor {
    unsigned long reserved;
    unsigned long size;
};

/// The part of a block's layout that calls it.
struct block {
    void *isa;
    int flags;
    int reserved;
    void (*invoke)(void *block);
};

static void invoke_block(void *block)
{
    ((struct block *)block)->invoke(block);
}

static void run_block(void *block)
{
    invoke_block(block);
    _Block_release(block);
}

void *app_time_copy_block(void *block)
{
    return _Block_copy(block);
}

void app_time_release_block(void *block)
{
    _Block_release(block);
}

void app_time_run_block(void *block)
{
    run_block(block);
}

/// The hooks if they must take the call, which depends on the caller: the runtime's own executors use the real queues.
static const struct app_time_hooks *hooks_for(enum library caller)
{
    const struct app_time_hooks *hooks = app_time_active_hooks();
    return caller == library_dispatch || caller == library_concurrency ? NULL : hooks;
}

#define HOOKS() hooks_for(CALLER())

// MARK: Asynchronous calls

typedef void (*async_type)(void *queue, void *block);
typedef void (*async_f_type)(void *queue, void *context, app_time_function function);

void dispatch_async(void *queue, void *block)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks != NULL) {
        hooks->enqueue(queue, run_block, _Block_copy(block), false);
        return;
    }
    REAL(dispatch_async, async_type)
    real(queue, block);
}

void dispatch_barrier_async(void *queue, void *block)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks != NULL) {
        hooks->enqueue(queue, run_block, _Block_copy(block), true);
        return;
    }
    REAL(dispatch_barrier_async, async_type)
    real(queue, block);
}

static void real_async_f(void *queue, void *context, app_time_function function)
{
    REAL(dispatch_async_f, async_f_type)
    real(queue, context, function);
}

void dispatch_async_f(void *queue, void *context, app_time_function function)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks != NULL)
        hooks->enqueue(queue, function, context, false);
    else
        real_async_f(queue, context, function);
}

static void real_barrier_async_f(void *queue, void *context, app_time_function function)
{
    REAL(dispatch_barrier_async_f, async_f_type)
    real(queue, context, function);
}

void dispatch_barrier_async_f(void *queue, void *context, app_time_function function)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks != NULL)
        hooks->enqueue(queue, function, context, true);
    else
        real_barrier_async_f(queue, context, function);
}

void app_time_real_async(void *queue, void *context, app_time_function function, bool barrier)
{
    if (barrier)
        real_barrier_async_f(queue, context, function);
    else
        real_async_f(queue, context, function);
}

// MARK: Synchronous calls

void dispatch_sync(void *queue, void *block)
{
    const struct app_time_hooks *hooks = HOOKS();
    // A non-escaping closure must not be copied, so the block is called by its address.
    int64_t identifier = hooks != NULL ? hooks->sync(queue, invoke_block, block, false) : 0;
    if (identifier < 0)
        return;
    REAL(dispatch_sync, async_type)
    real(queue, block);
    if (identifier > 0)
        hooks->sync_ended(identifier);
}

void dispatch_barrier_sync(void *queue, void *block)
{
    const struct app_time_hooks *hooks = HOOKS();
    int64_t identifier = hooks != NULL ? hooks->sync(queue, invoke_block, block, true) : 0;
    if (identifier < 0)
        return;
    REAL(dispatch_barrier_sync, async_type)
    real(queue, block);
    if (identifier > 0)
        hooks->sync_ended(identifier);
}

void dispatch_async_and_wait(void *queue, void *block)
{
    const struct app_time_hooks *hooks = HOOKS();
    int64_t identifier = hooks != NULL ? hooks->sync(queue, invoke_block, block, false) : 0;
    if (identifier < 0)
        return;
    REAL(dispatch_async_and_wait, async_type)
    real(queue, block);
    if (identifier > 0)
        hooks->sync_ended(identifier);
}

static void real_sync_f(void *queue, void *context, app_time_function function)
{
    REAL(dispatch_sync_f, async_f_type)
    real(queue, context, function);
}

static void real_barrier_sync_f(void *queue, void *context, app_time_function function)
{
    REAL(dispatch_barrier_sync_f, async_f_type)
    real(queue, context, function);
}

void dispatch_sync_f(void *queue, void *context, app_time_function function)
{
    const struct app_time_hooks *hooks = HOOKS();
    int64_t identifier = hooks != NULL ? hooks->sync(queue, function, context, false) : 0;
    if (identifier < 0)
        return;
    real_sync_f(queue, context, function);
    if (identifier > 0)
        hooks->sync_ended(identifier);
}

void dispatch_barrier_sync_f(void *queue, void *context, app_time_function function)
{
    const struct app_time_hooks *hooks = HOOKS();
    int64_t identifier = hooks != NULL ? hooks->sync(queue, function, context, true) : 0;
    if (identifier < 0)
        return;
    real_barrier_sync_f(queue, context, function);
    if (identifier > 0)
        hooks->sync_ended(identifier);
}

void app_time_real_sync(void *queue, void *context, app_time_function function, bool barrier)
{
    (barrier ? real_barrier_sync_f : real_sync_f)(queue, context, function);
}

void dispatch_apply(size_t iterations, void *queue, void *block)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks != NULL && hooks->owns_thread()) {
        // One iteration at a time, in order.
        for (size_t i = 0; i < iterations; i++)
            ((void (*)(void *, size_t))((struct block *)block)->invoke)(block, i);
        return;
    }
    REAL(dispatch_apply, void (*)(size_t, void *, void *))
    real(iterations, queue, block);
}

// MARK: Delayed calls

typedef void (*after_type)(uint64_t when, void *queue, void *block);
typedef void (*after_f_type)(uint64_t when, void *queue, void *context, app_time_function function);

void dispatch_after(uint64_t when, void *queue, void *block)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks != NULL) {
        hooks->after(app_time_from_dispatch(when), queue, run_block, _Block_copy(block));
        return;
    }
    REAL(dispatch_after, after_type)
    real(when, queue, block);
}

static void real_after_f(uint64_t when, void *queue, void *context, app_time_function function)
{
    REAL(dispatch_after_f, after_f_type)
    real(when, queue, context, function);
}

void dispatch_after_f(uint64_t when, void *queue, void *context, app_time_function function)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks != NULL)
        hooks->after(app_time_from_dispatch(when), queue, function, context);
    else
        real_after_f(when, queue, context, function);
}

static uint64_t real_deadline(int64_t nanoseconds)
{
    REAL(dispatch_time, uint64_t(*)(uint64_t, int64_t))
    return nanoseconds == INT64_MAX ? UINT64_MAX : real(0, nanoseconds < 0 ? 0 : nanoseconds);
}

void app_time_real_after(int64_t nanoseconds, void *queue, void *context, app_time_function function)
{
    real_after_f(real_deadline(nanoseconds), queue, context, function);
}

// MARK: Timer sources

typedef void (*source_handler_type)(void *source, void *block);
typedef void (*object_type)(void *object);

void *dispatch_source_create(const void *type, uintptr_t handle, uintptr_t mask, void *queue)
{
    enum library caller = CALLER();
    REAL(dispatch_source_create, void *(*)(const void *, uintptr_t, uintptr_t, void *))
    void *source = real(type, handle, mask, queue);
    const struct app_time_hooks *hooks = hooks_for(caller);
    if (hooks == NULL || source == NULL)
        return source;
    bool is_virtual = type == &_dispatch_source_type_timer || type == &_dispatch_source_type_data_add
        || type == &_dispatch_source_type_data_or || type == &_dispatch_source_type_data_replace;
    if (!is_virtual)
        hooks->outside_source_created();
    // The timers of Foundation end the waits of run loops, which are in real time.
    if (!is_virtual || caller == library_foundation)
        return source;
    void *target = queue != NULL ? queue : dispatch_get_global_queue(0, 0);
    if (type == &_dispatch_source_type_timer)
        hooks->source_created(source, target, app_time_source_timer);
    else if (type == &_dispatch_source_type_data_add)
        hooks->source_created(source, target, app_time_source_data_add);
    else if (type == &_dispatch_source_type_data_or)
        hooks->source_created(source, target, app_time_source_data_or);
    else
        hooks->source_created(source, target, app_time_source_data_replace);
    return source;
}

void app_time_real_merge_data(void *source, uintptr_t value)
{
    REAL(dispatch_source_merge_data, void (*)(void *, uintptr_t))
    real(source, value);
}

void dispatch_source_merge_data(void *source, uintptr_t value)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks == NULL || !hooks->merge_data(source, value))
        app_time_real_merge_data(source, value);
}

uintptr_t dispatch_source_get_data(void *source)
{
    const struct app_time_hooks *hooks = HOOKS();
    uintptr_t value;
    if (hooks != NULL && hooks->source_data(source, &value))
        return value;
    REAL(dispatch_source_get_data, uintptr_t(*)(void *))
    return real(source);
}

static void real_set_timer(void *source, uint64_t start, uint64_t interval, uint64_t leeway)
{
    REAL(dispatch_source_set_timer, void (*)(void *, uint64_t, uint64_t, uint64_t))
    real(source, start, interval, leeway);
}

void dispatch_source_set_timer(void *source, uint64_t start, uint64_t interval, uint64_t leeway)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks != NULL) {
        int64_t deadline = app_time_from_dispatch(start);
        if (hooks->timer_source_armed(source, deadline, interval))
            return;
        // A source from outside keeps real time, but its deadline was computed from the virtual clock.
        start = real_deadline(deadline == INT64_MAX ? INT64_MAX : deadline - app_time_now());
    }
    real_set_timer(source, start, interval, leeway);
}

void app_time_real_source_timer(void *source, int64_t nanoseconds, uint64_t interval)
{
    real_set_timer(source, real_deadline(nanoseconds), interval, 0);
}

static void real_event_handler(void *source, void *block)
{
    REAL(dispatch_source_set_event_handler, source_handler_type)
    real(source, block);
}

void dispatch_source_set_event_handler(void *source, void *block)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks == NULL || !hooks->timer_source_handler(source, false, block))
        real_event_handler(source, block);
}

static void real_cancel_handler(void *source, void *block)
{
    REAL(dispatch_source_set_cancel_handler, source_handler_type)
    real(source, block);
}

void dispatch_source_set_cancel_handler(void *source, void *block)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks == NULL || !hooks->timer_source_handler(source, true, block))
        real_cancel_handler(source, block);
}

void app_time_real_source_handler(void *source, bool cancellation, void *block)
{
    if (cancellation)
        real_cancel_handler(source, block);
    else
        real_event_handler(source, block);
}

bool app_time_real_source_is_cancelled(void *source)
{
    return dispatch_source_testcancel(source) != 0;
}

void dispatch_source_cancel(void *source)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks != NULL)
        hooks->source_cancelled(source);
    REAL(dispatch_source_cancel, object_type)
    real(source);
}

void dispatch_suspend(void *object)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks != NULL)
        hooks->suspension_changed(object, 1);
    REAL(dispatch_suspend, object_type)
    real(object);
}

void dispatch_resume(void *object)
{
    const struct app_time_hooks *hooks = HOOKS();
    REAL(dispatch_resume, object_type)
    real(object);
    if (hooks != NULL)
        hooks->suspension_changed(object, -1);
}

void dispatch_activate(void *object)
{
    const struct app_time_hooks *hooks = HOOKS();
    REAL(dispatch_activate, object_type)
    real(object);
    if (hooks != NULL)
        hooks->suspension_changed(object, 0);
}

void dispatch_set_target_queue(void *object, void *queue)
{
    const struct app_time_hooks *hooks = HOOKS();
    REAL(dispatch_set_target_queue, void (*)(void *, void *))
    real(object, queue);
    if (hooks != NULL)
        hooks->target_changed(object, queue);
}

void app_time_set_finalizer(void *object, void *context, app_time_function finalizer)
{
    dispatch_set_context(object, context);
    dispatch_set_finalizer_f(object, finalizer);
}

// MARK: Groups, work items and semaphores

struct group_call {
    void *group;
    app_time_function function;
    void *context;
};

static void run_group_call(void *argument)
{
    struct group_call call = *(struct group_call *)argument;
    free(argument);
    call.function(call.context);
    dispatch_group_leave(call.group);
    dispatch_release(call.group);
}

static void enqueue_in_group(
    const struct app_time_hooks *hooks, void *group, void *queue, app_time_function function, void *context)
{
    struct group_call *call = malloc(sizeof *call);
    if (call == NULL)
        abort();
    *call = (struct group_call){group, function, context};
    dispatch_retain(group);
    dispatch_group_enter(group);
    hooks->enqueue(queue, run_group_call, call, false);
}

void dispatch_group_async(void *group, void *queue, void *block)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks != NULL) {
        enqueue_in_group(hooks, group, queue, run_block, _Block_copy(block));
        return;
    }
    REAL(dispatch_group_async, void (*)(void *, void *, void *))
    real(group, queue, block);
}

void dispatch_group_async_f(void *group, void *queue, void *context, app_time_function function)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks != NULL) {
        enqueue_in_group(hooks, group, queue, function, context);
        return;
    }
    REAL(dispatch_group_async_f, void (*)(void *, void *, void *, app_time_function))
    real(group, queue, context, function);
}

void dispatch_group_leave(void *group)
{
    const struct app_time_hooks *hooks = HOOKS();
    // The real call may release the last reference.
    if (hooks != NULL)
        dispatch_retain(group);
    REAL(dispatch_group_leave, object_type)
    real(group);
    if (hooks != NULL) {
        hooks->group_left(group);
        dispatch_release(group);
    }
}

static void real_group_notify_f(void *group, void *queue, void *context, app_time_function function)
{
    REAL(dispatch_group_notify_f, void (*)(void *, void *, void *, app_time_function))
    real(group, queue, context, function);
}

void dispatch_group_notify(void *group, void *queue, void *block)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks != NULL) {
        hooks->group_notify(group, queue, run_block, _Block_copy(block));
        return;
    }
    REAL(dispatch_group_notify, void (*)(void *, void *, void *))
    real(group, queue, block);
}

void dispatch_group_notify_f(void *group, void *queue, void *context, app_time_function function)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks != NULL)
        hooks->group_notify(group, queue, function, context);
    else
        real_group_notify_f(group, queue, context, function);
}

void app_time_real_group_notify(void *group, void *queue, void *context, app_time_function function)
{
    real_group_notify_f(group, queue, context, function);
}

static void real_block_notify(void *block, void *queue, void *notification)
{
    REAL(dispatch_block_notify, void (*)(void *, void *, void *))
    real(block, queue, notification);
}

void dispatch_block_notify(void *block, void *queue, void *notification)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks == NULL || !hooks->block_notify(block, queue, notification))
        real_block_notify(block, queue, notification);
}

/// A block that calls a C function.
struct function_block {
    struct block block;
    const struct block_descriptor *descriptor;
    app_time_function function;
    void *context;
};

static void invoke_function_block(void *argument)
{
    struct function_block *block = argument;
    block->function(block->context);
}

void app_time_real_block_notify_f(void *block, void *queue, void *context, app_time_function function)
{
    static const struct block_descriptor descriptor = {0, sizeof(struct function_block)};
    // A stack block without copy and dispose helpers: libdispatch copies it to the heap and frees the copy.
    struct function_block notification = {
        {_NSConcreteStackBlock, 0, 0, invoke_function_block}, &descriptor, function, context};
    real_block_notify(block, queue, &notification);
}

static intptr_t real_semaphore_wait(void *semaphore, uint64_t timeout)
{
    REAL(dispatch_semaphore_wait, intptr_t(*)(void *, uint64_t))
    return real(semaphore, timeout);
}

static intptr_t real_group_wait(void *group, uint64_t timeout)
{
    REAL(dispatch_group_wait, intptr_t(*)(void *, uint64_t))
    return real(group, timeout);
}

static intptr_t real_block_wait(void *block, uint64_t timeout)
{
    REAL(dispatch_block_wait, intptr_t(*)(void *, uint64_t))
    return real(block, timeout);
}

bool app_time_real_poll(void *object, enum app_time_wait_kind kind)
{
    switch (kind) {
    case app_time_wait_semaphore:
        return real_semaphore_wait(object, 0) == 0;
    case app_time_wait_group:
        return real_group_wait(object, 0) == 0;
    default:
        return real_block_wait(object, 0) == 0;
    }
}

/// Converts a timeout that was computed from the virtual clock.
static uint64_t real_timeout(uint64_t timeout)
{
    if (timeout == 0 || timeout == UINT64_MAX)
        return timeout;
    return real_deadline(app_time_from_dispatch(timeout) - app_time_now());
}

void app_time_real_wait(void *object, bool group, int64_t nanoseconds)
{
    uint64_t timeout = real_deadline(nanoseconds);
    if (group)
        real_group_wait(object, timeout);
    else
        real_semaphore_wait(object, timeout);
}

intptr_t dispatch_semaphore_wait(void *semaphore, uint64_t timeout)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks == NULL)
        return real_semaphore_wait(semaphore, timeout);
    if (real_semaphore_wait(semaphore, 0) == 0)
        return 0;
    if (timeout == 0)
        return 1;
    int result = hooks->wait(semaphore, app_time_wait_semaphore, app_time_from_dispatch(timeout));
    return result >= 0 ? result : real_semaphore_wait(semaphore, real_timeout(timeout));
}

intptr_t dispatch_semaphore_signal(void *semaphore)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks != NULL)
        dispatch_retain(semaphore);
    REAL(dispatch_semaphore_signal, intptr_t(*)(void *))
    intptr_t result = real(semaphore);
    if (hooks != NULL) {
        hooks->semaphore_signalled(semaphore);
        dispatch_release(semaphore);
    }
    return result;
}

intptr_t dispatch_group_wait(void *group, uint64_t timeout)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks == NULL)
        return real_group_wait(group, timeout);
    if (real_group_wait(group, 0) == 0)
        return 0;
    if (timeout == 0)
        return 1;
    int result = hooks->wait(group, app_time_wait_group, app_time_from_dispatch(timeout));
    return result >= 0 ? result : real_group_wait(group, real_timeout(timeout));
}

intptr_t dispatch_block_wait(void *block, uint64_t timeout)
{
    const struct app_time_hooks *hooks = HOOKS();
    if (hooks == NULL)
        return real_block_wait(block, timeout);
    if (real_block_wait(block, 0) == 0)
        return 0;
    if (timeout == 0)
        return 1;
    int result = hooks->wait(block, app_time_wait_block, app_time_from_dispatch(timeout));
    return result >= 0 ? result : real_block_wait(block, real_timeout(timeout));
}

// MARK: The main run loop

static void *main_run_loop(void)
{
    REAL(CFRunLoopGetMain, void *(*)(void))
    return real();
}

/// True in the context of the main queue after `dispatch_main`: the main queue then runs on pool threads, and no thread
/// has the main run loop as its own.
static bool stands_in_for_main_thread(void)
{
    return app_time_active_hooks() != NULL && app_time_main_thread_has_exited() && app_time_is_on_main_queue();
}

void *CFRunLoopGetCurrent(void)
{
    if (stands_in_for_main_thread())
        return main_run_loop();
    REAL(CFRunLoopGetCurrent, void *(*)(void))
    return real();
}

int32_t CFRunLoopRunInMode(const void *mode, double seconds, unsigned char returns_after_source)
{
    static const int32_t timed_out = 3;
    REAL(CFRunLoopRunSpecific, int32_t(*)(void *, const void *, double, unsigned char))
    void *run_loop = CFRunLoopGetCurrent();
    const struct app_time_hooks *hooks = app_time_active_hooks();
    if (hooks == NULL || seconds <= 0 || !hooks->owns_thread())
        return real(run_loop, mode, seconds, returns_after_source);
    // The run loop compares its limit with the virtual clock, which stands still while the test body or the app waits.
    int64_t end = app_time_real_clock() + (int64_t)((seconds < 1e9 ? seconds : 1e9) * 1e9);
    while (true) {
        int32_t result = real(run_loop, mode, 0, returns_after_source);
        if (result != timed_out || app_time_real_clock() >= end)
            return result;
        app_time_real_sleep(1000000);
    }
}

void CFRunLoopPerformBlock(void *run_loop, const void *mode, void *block)
{
    REAL(CFRunLoopPerformBlock, void (*)(void *, const void *, void *))
    real(run_loop, mode, block);
    const struct app_time_hooks *hooks = app_time_active_hooks();
    if (hooks != NULL && run_loop == main_run_loop())
        hooks->run_loop_block();
}

// MARK: The main queue

static _Atomic(bool) main_thread_has_exited;

void dispatch_main(void)
{
    atomic_store(&main_thread_has_exited, true);
    REAL(dispatch_main, void (*)(void))
    real();
    abort();
}

bool app_time_main_thread_has_exited(void)
{
    return atomic_load(&main_thread_has_exited);
}

bool app_time_drain_main_queue(void)
{
    struct pollfd descriptor = {_dispatch_get_main_queue_handle_4CF(), POLLIN, 0};
    if (poll(&descriptor, 1, 0) <= 0)
        return false;
    uint64_t count;
    if (read(descriptor.fd, &count, sizeof count) < 0)
        return false;
    _dispatch_main_queue_callback_4CF(NULL);
    return true;
}

void *app_time_main_queue(void)
{
    return &_dispatch_main_q;
}

/// The width of the global queues. Serial queues have the width 1, concurrent ones a width between the two.
static const uint16_t global_width = 0xFFF;

static uint16_t width_of(const char *queue)
{
    uint16_t width;
    memcpy(&width, queue + dispatch_queue_offsets.width, sizeof width);
    return width;
}

static void *target_of(const char *queue)
{
    void *target;
    memcpy(&target, queue + dispatch_queue_offsets.target_queue, sizeof target);
    return target;
}

int app_time_queue_uses(void *queue, bool barrier, struct app_time_queue_use *uses, int count)
{
    if (dispatch_queue_offsets.version < 5 || dispatch_queue_offsets.width_size != sizeof(uint16_t))
        return 0;
    int length = 0;
    for (void *next = queue; next != NULL && width_of(next) != global_width && length < count; next = target_of(next))
        uses[length++] = (struct app_time_queue_use){next, width_of(next) == 1 || (barrier && next == queue)};
    return length;
}

static int main_queue_key;

void app_time_mark_main_queue(void)
{
    dispatch_queue_set_specific(&_dispatch_main_q, &main_queue_key, &main_queue_key, NULL);
}

bool app_time_is_on_main_queue(void)
{
    return dispatch_get_specific(&main_queue_key) != NULL;
}

void *app_time_serial_queue(const char *label)
{
    return dispatch_queue_create(label, NULL);
}

const char *app_time_queue_label(void *queue)
{
    return dispatch_queue_get_label(queue);
}

void app_time_retain(void *object)
{
    dispatch_retain(object);
}

void app_time_release(void *object)
{
    dispatch_release(object);
}
