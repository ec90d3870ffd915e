#if canImport(Glibc)
  import Glibc

  /// A watch that reports when a program has closed a FIFO, even if another program has opened the FIFO since then.
  ///
  /// poll(2) shows only if there is a reader now: it misses that one reader has replaced another.
  final class PipeWatch {
    /// A descriptor that becomes readable when a program has closed the FIFO.
    let descriptor: Int32

    /// Starts watching the FIFO at `path`. Returns nil if the system provides no watch.
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
  /// A replacement for systems without inotify(7), which reports nothing.
  final class PipeWatch {
    let descriptor: Int32 = -1

    init?(path: String) { return nil }

    func takeClosing() -> Bool { false }
  }
#endif
