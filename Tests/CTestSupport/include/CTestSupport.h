// Functions for tests, which the C library's headers do not export to Swift.
#pragma once

#include <stdbool.h>

/// Adds a capability to the inheritable and the ambient set of the calling thread, so that programs that the thread
/// starts get it · capabilities(7). The thread must have the permitted capability CAP_NET_BIND_SERVICE.
///
/// Returns 0 or an `errno`.
int test_raise_ambient_capability(void);

/// Returns true if the calling thread may add a capability to its ambient set, which is empty afterwards.
bool test_can_raise_ambient_capability(void);
