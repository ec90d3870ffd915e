#include "CAllocationCount.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_bool is_counting;
static atomic_uint_fast64_t total;
// The TLS model of an executable: no access allocates.
static _Thread_local uint64_t of_thread __attribute__((tls_model("initial-exec")));

void allocation_count_start(void) {
  atomic_store(&total, 0);
  atomic_store(&is_counting, true);
}

void allocation_count_stop(void) { atomic_store(&is_counting, false); }

uint64_t allocation_count_total(void) { return atomic_load(&total); }

uint64_t allocation_count_of_thread(void) { return of_thread; }

#ifdef __GLIBC__

#include <malloc.h>

uint64_t allocation_octets_in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

bool allocation_count_is_available(void) { return true; }

// The allocation functions of glibc, under the names that it provides for replacements of malloc.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static inline void count_one(void) {
  if (!atomic_load_explicit(&is_counting, memory_order_relaxed)) return;
  atomic_fetch_add_explicit(&total, 1, memory_order_relaxed);
  of_thread += 1;
}

void *malloc(size_t size) {
  count_one();
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  count_one();
  return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size) {
  count_one();
  return __libc_realloc(pointer, size);
}

void *memalign(size_t alignment, size_t size) {
  count_one();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count_one();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **pointer, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  count_one();
  void *memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *pointer = memory;
  return 0;
}

#else

bool allocation_count_is_available(void) { return false; }

uint64_t allocation_octets_in_use(void) { return 0; }

#endif
