#ifndef ALLOCATION_COUNT_H
#define ALLOCATION_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/// Counts a program's heap allocations. A program that links this target uses this file's malloc and related functions
/// instead of those of glibc; free stays as it is. A reallocation counts as one allocation.

/// True if allocations can be counted: only with glibc.
bool allocation_count_is_available(void);

/// Sets the total to zero and starts counting on all threads.
void allocation_count_start(void);

/// Stops counting.
void allocation_count_stop(void);

/// The allocations of all threads between the last start and its stop, or until now.
uint64_t allocation_count_total(void);

/// The counted allocations of the calling thread since its start: take the difference of two calls.
uint64_t allocation_count_of_thread(void);

/// The octets currently allocated on the heap, including the allocator's overhead; 0 where this is not available.
uint64_t allocation_octets_in_use(void);

#endif
