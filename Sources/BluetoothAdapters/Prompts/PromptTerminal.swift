#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A terminal with a user or, in tests, a pair of pipes.
final class PromptTerminal: Sendable {
  /// The output of a terminal.
  struct Output: Sendable {
    let descriptor: Int32

    static let standardError = Output(descriptor: STDERR_FILENO)

    /// Writes all of `text`. Stops if the other side has closed.
    func write(_ text: String) {
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
        if count > 0 {
          rest = rest.dropFirst(count)
        } else if count == 0 || errno != EINTR {
          return
        }
      }
    }
  }

  enum Input {
    case bytes([UInt8])
    /// `interrupt` has been called.
    case interrupted
    /// The input has ended.
    case end
  }

  let output: Output
  private let input: Int32
  private let isReal: Bool
  /// The reading end of a pipe that wakes `read`: `interrupt` writes to the other end, `wakeOutput`.
  private let wakeInput: Int32
  private let wakeOutput: Int32

  /// Returns the terminal to which both the standard input and the standard error belong; nil if one of them is not a
  /// terminal.
  static func standard() -> PromptTerminal? {
    guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return nil }
    return PromptTerminal(input: STDIN_FILENO, output: .standardError, isReal: true)
  }

  /// Creates a terminal; nil if the system provides no pipe.
  ///
  /// - Parameter isReal: true for a terminal, false for a pipe.
  init?(input: Int32, output: Output, isReal: Bool = false) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    self.input = input
    self.output = output
    self.isReal = isReal
    wakeInput = ends[0]
    wakeOutput = ends[1]
  }

  deinit {
    close(wakeInput)
    close(wakeOutput)
  }

  /// True if this process may use the terminal now. The system stops a background process that reads from its terminal.
  var isInForeground: Bool { !isReal || tcgetpgrp(input) == getpgrp() }

  /// Discards input that has been typed but not read.
  func discardInput() {
    if isReal { tcflush(input, TCIFLUSH) }
  }

  /// Makes the current call of `read`, or else the next one, return `interrupted`.
  func interrupt() {
    _ = [UInt8(0)].withUnsafeBytes { systemWrite(wakeOutput, $0) }
  }

  /// Waits for input and returns it.
  func read() -> Input {
    var descriptors = [input, wakeInput].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while poll(&descriptors, nfds_t(descriptors.count), -1) < 0 {
      if errno != EINTR { return .end }
    }
    var buffer = [UInt8](repeating: 0, count: 256)
    if descriptors[1].revents != 0 {
      while buffer.withUnsafeMutableBytes({ systemRead(wakeInput, $0) }) > 0 {}
      return .interrupted
    }
    while true {
      let count = buffer.withUnsafeMutableBytes { systemRead(input, $0) }
      if count > 0 { return .bytes(Array(buffer.prefix(count))) }
      if count == 0 || errno != EINTR { return .end }
    }
  }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(descriptor, buffer.baseAddress, buffer.count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
  write(descriptor, buffer.baseAddress, buffer.count)
}
