// Functions for the processes that a server starts, which the C library's headers do not export to Swift.
#pragma once

/// Lets a new process inherit no descriptor from `first` on. Must be called immediately before `posix_spawn`: on systems
/// whose C library can't close them in the new process, all of them become close-on-exec in this one.
///
/// `actions` is a `posix_spawn_file_actions_t`; its type is not declared here, because Swift has it from the C library.
///
/// Returns 0 or an `errno`.
int bluetooth_spawn_close_from(void *actions, int first);

/// Removes all capabilities from the ambient set of the calling thread, so that programs that the thread starts do not
/// get them. The permitted and effective capabilities of the thread stay · capabilities(7).
///
/// Returns 0 or an `errno`.
int bluetooth_clear_ambient_capabilities(void);
