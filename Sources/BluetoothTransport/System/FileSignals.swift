#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Protection of the program from the signals of a failed write: SIGPIPE (no reader is left) and SIGXFSZ (the file size
/// limit is reached).
package enum FileSignals {
  /// Calls `write` with both signals blocked in the calling thread, and discards the signal that the call has caused.
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

  /// Discards a pending signal. The system delivers both signals to the thread whose call failed, where the signal is
  /// pending now.
  private static func discard(_ signal: Int32) {
    var pending = sigset_t()
    sigpending(&pending)
    guard sigismember(&pending, signal) == 1 else { return }
    var (expected, received) = (set(signal), signal)
    sigwait(&expected, &received)
  }
}
