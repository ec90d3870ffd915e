#ifndef ALLOCATION_COUNT_H
#define ALLOCATION_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/// Counts what a program takes from the heap. Linking this target puts malloc and its kin of this file before those of
/// glibc; free stays as it is. A reallocation counts as one allocation.

/// Whether allocations can be counted here: only with glibc.
bool allocation_count_is_available(void);

/// Sets the total to zero and begins to count, on all threads.
void allocation_count_start(void);

/// Ends counting.
void allocation_count_stop(void);

/// The allocations of all threads between the last start and its stop, or now.
uint64_t allocation_count_total(void);

/// The allocations of the calling thread since it began, as far as they were counted: take the difference of two.
uint64_t allocation_count_of_thread(void);

/// The octets that are taken from the heap now, with what the allocator adds to each piece; 0 where that can't be told.
uint64_t allocation_octets_in_use(void);

#endif
