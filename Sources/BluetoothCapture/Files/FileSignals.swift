#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Keeps a write that fails from ending the program: SIGPIPE (no reader is left) and SIGXFSZ (the file size limit is reached).
package enum FileSignals {
  /// Calls `write` with both signals blocked in the calling thread, and discards the one that the call has caused.
  ///
  /// - Returns: the result of `write`, and the value of `errno` after it.
  package static func blocked(during write: () -> Int) -> (result: Int, code: Int32) {
    var former = sigset_t()
    var signals = set(SIGPIPE, SIGXFSZ)
    pthread_sigmask(SIG_BLOCK, &signals, &former)
    let result = write()
    let code = errno
    if result < 0, code == EPIPE { discard(SIGPIPE) }
    if result < 0, code == EFBIG { discard(SIGXFSZ) }
    pthread_sigmask(SIG_SETMASK, &former, nil)
    return (result, code)
  }

  private static func set(_ signals: Int32...) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    return set
  }

  /// The system delivers either signal to the thread whose call failed, where it is pending now.
  private static func discard(_ signal: Int32) {
    var pending = sigset_t()
    sigpending(&pending)
    guard sigismember(&pending, signal) == 1 else { return }
    var (expected, received) = (set(signal), signal)
    sigwait(&expected, &received)
  }
}
