// Threads and the hand-over signal between them, in real time.

#include "internal.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// A Swift function of the target that uses this one.
extern void app_time_process_loaded(void) __attribute__((weak));

__attribute__((constructor)) static void process_loaded(void)
{
    if (app_time_process_loaded != NULL)
        app_time_process_loaded();
}

static _Thread_local void *thread_context;

void *app_time_thread_context(void)
{
    return thread_context;
}

void app_time_set_thread_context(void *context)
{
    thread_context = context;
}

bool app_time_is_main_thread(void)
{
    return syscall(SYS_gettid) == getpid();
}

struct app_time_baton {
    sem_t semaphore;
};

struct app_time_baton *app_time_baton_create(void)
{
    struct app_time_baton *baton = malloc(sizeof *baton);
    if (baton == NULL || sem_init(&baton->semaphore, 0, 0) != 0)
        abort();
    return baton;
}

void app_time_baton_free(struct app_time_baton *baton)
{
    sem_destroy(&baton->semaphore);
    free(baton);
}

void app_time_baton_signal(struct app_time_baton *baton)
{
    sem_post(&baton->semaphore);
}

bool app_time_baton_wait(struct app_time_baton *baton, int64_t nanoseconds)
{
    if (nanoseconds < 0) {
        while (sem_wait(&baton->semaphore) != 0) {
        }
        return true;
    }
    int64_t deadline = app_time_real_clock() + nanoseconds;
    struct timespec time = {deadline / 1000000000, deadline % 1000000000};
    while (sem_clockwait(&baton->semaphore, CLOCK_MONOTONIC, &time) != 0)
        if (app_time_real_clock() >= deadline)
            return false;
    return true;
}

void app_time_report(const char *message)
{
    fputs(message, stderr);
}

// MARK: Threads

// The thread and address sanitizers have replacements of their own for this function, and need them.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

#ifdef HAS_SANITIZER

#define real_pthread_create pthread_create

#else

static int real_pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
{
    REAL(pthread_create, int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))
    return real(thread, attributes, function, argument);
}

int pthread_create(
    pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*function)(void *),
    void *restrict argument)
{
    const void *address = __builtin_return_address(0);
    int result = real_pthread_create(thread, attributes, function, argument);
    const struct app_time_hooks *hooks = app_time_active_hooks();
    enum library caller = app_time_library_of(address);
    // The runtime's own threads run the blocks of queues, which are under control.
    if (result == 0 && hooks != NULL && caller != library_dispatch && caller != library_concurrency) {
        Dl_info info;
        hooks->thread_created(dladdr(address, &info) != 0 ? info.dli_fname : NULL);
    }
    return result;
}

#endif

struct thread_start {
    app_time_function function;
    void *context;
};

static void *run_thread(void *argument)
{
    struct thread_start start = *(struct thread_start *)argument;
    free(argument);
    start.function(start.context);
    return NULL;
}

void app_time_start_thread(app_time_function function, void *context)
{
    struct thread_start *start = malloc(sizeof *start);
    if (start == NULL)
        abort();
    *start = (struct thread_start){function, context};
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (real_pthread_create(&thread, &attributes, run_thread, start) != 0)
        abort();
    pthread_attr_destroy(&attributes);
}
