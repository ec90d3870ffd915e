#if canImport(Glibc)
  import Glibc

  /// Tells when a program has closed a FIFO, also one that another program has opened since then.
  ///
  /// poll(2) tells only whether there is a reader now: a reader that another one has replaced in the meantime is not missed.
  final class PipeWatch {
    /// Becomes readable when a program has closed the FIFO.
    let descriptor: Int32

    /// Returns nil if the system has no watch to spare.
    init?(path: String) {
      let number = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard number >= 0 else { return nil }
      guard inotify_add_watch(number, path, UInt32(IN_CLOSE_WRITE | IN_CLOSE_NOWRITE)) >= 0 else {
        close(number)
        return nil
      }
      descriptor = number
    }

    deinit { close(descriptor) }

    /// Returns true if a program has closed the FIFO since the last call.
    func takeClosing() -> Bool {
      var events = [UInt8](repeating: 0, count: 4_096)
      var isClosed = false
      while read(descriptor, &events, events.count) > 0 { isClosed = true }
      return isClosed
    }
  }
#else
  /// Without inotify(7), nobody tells.
  final class PipeWatch {
    let descriptor: Int32 = -1

    init?(path: String) { return nil }

    func takeClosing() -> Bool { false }
  }
#endif
