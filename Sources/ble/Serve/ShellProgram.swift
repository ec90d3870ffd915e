import BluetoothAir
import Dispatch
import Foundation
import NIOConcurrencyHelpers

/// A command that the shell runs, whose output is a value or a sequence of values.
final class ShellProgram: Sendable {
  /// The reasons why a program gives no value.
  struct NoValue: Error {
    let reason: String
  }

  private struct State {
    var id: pid_t?
    /// True if the process began a process group, which the programs that it starts belong to.
    var hasGroup = false
    var isStopped = false
  }

  /// The most octets of output that are kept. A value has at most 512.
  private static let maximumOutput = 65_536

  private let command: String
  private let state = NIOLockedValueBox(State())

  init(_ command: String) { self.command = command }

  /// Stops the program, or prevents its start.
  func stop() {
    let (id, hasGroup) = state.withLockedValue { state in
      state.isStopped = true
      return (state.id, state.hasGroup)
    }
    guard let id else { return }
    // The programs that the shell has started may outlive the shell, and keep its process group. They ignore the signals
    // that this program ignores, such as SIGTERM.
    kill(hasGroup ? -id : id, SIGKILL)
  }

  /// Runs the program on this thread until it has ended and closed its output.
  ///
  /// - Parameter take: gets the pieces of the output.
  /// - Returns: the exit status.
  private func run(_ take: ([UInt8]) -> Void) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    process.standardInput = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    let isStarted = try state.withLockedValue { state in
      guard !state.isStopped else { return false }
      try process.run()
      state.id = process.processIdentifier
      // The result is -1 if the process has ended already. Its children keep the group, whose number is its identifier.
      state.hasGroup = getpgid(process.processIdentifier) != getpgid(0)
      return true
    }
    guard isStarted else { throw NoValue(reason: "stopped") }
    defer { state.withLockedValue { $0.id = nil } }
    // A program that has left the process group may keep the output open after the others have been stopped.
    Self.readAll(of: output.fileHandleForReading.fileDescriptor, take) { [state] in
      state.withLockedValue { $0.isStopped }
    }
    ended.wait()
    return process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
  }

  // MARK: One value

  /// Runs the program on this thread, and returns its output.
  ///
  /// - Throws: `NoValue` if its exit status is not 0, or it has not ended within `limit` seconds.
  func output(within limit: Double) throws -> [UInt8] {
    let timer = DispatchWorkItem { [self] in stop() }
    DispatchQueue.global().asyncAfter(deadline: .now() + limit, execute: timer)
    defer { timer.cancel() }
    var octets: [UInt8] = []
    let status: Int32
    do {
      status = try run { if octets.count < Self.maximumOutput { octets += $0 } }
    } catch let error as NoValue {
      throw error
    } catch { throw NoValue(reason: "can't be run: \(error.localizedDescription)") }
    if state.withLockedValue({ $0.isStopped }) { throw NoValue(reason: "has not ended within \(limit.short) s") }
    guard status == 0 else { throw NoValue(reason: "has ended with status \(status)") }
    return octets
  }

  /// Runs the program on a thread of its own, and returns its output. Stops it if the task is cancelled.
  func outputOnThread(within limit: Double) async throws -> [UInt8] {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { [self] in continuation.resume(with: Result { try output(within: limit) }) }
      }
    } onCancel: {
      stop()
    }
  }

  // MARK: Lines

  /// Starts the program on a thread of its own, and returns the lines of its output. The next line is taken when the one
  /// before has been. The program stops with the iteration.
  ///
  /// - Parameter ended: gets the reason of the end, unless the iteration has stopped the program.
  func lines(_ ended: @escaping @Sendable (String) -> Void) -> LineStream {
    LineStream(
      stop: { [self] in stop() },
      { [self] take in
        do {
          let status = try run(take)
          if !state.withLockedValue({ $0.isStopped }) { ended("has ended with status \(status)") }
        } catch { ended("can't be run: \(error.localizedDescription)") }
      })
  }

  /// Returns the lines of the standard input.
  static func standardInputLines() -> LineStream {
    LineStream(
      stop: {},
      { take in readAll(of: STDIN_FILENO, take) })
  }

  /// The time between two questions whether reading has been stopped, in milliseconds.
  private static let patience: Int32 = 100

  /// Reads to the end, in pieces of the sizes in which they arrive, or until `isStopped` returns true.
  private static func readAll(
    of descriptor: Int32, _ take: ([UInt8]) -> Void, until isStopped: () -> Bool = { false }
  ) {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while !isStopped() {
      guard poll(&ready, 1, patience) != 0 else { continue }
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      take(Array(buffer[..<count]))
    }
  }

  // MARK: Values

  /// Returns the value that the output stands for.
  ///
  /// - Throws: `NoValue` if it stands for none.
  static func value(of octets: [UInt8], _ output: ValueProgram.Output) throws -> [UInt8] {
    var line = octets[...]
    if output != .octets {
      if line.last == UInt8(ascii: "\n") { line.removeLast() }
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
    }
    guard output == .value else {
      guard line.count <= 512 else { throw NoValue(reason: "\(line.count) octets; an attribute has at most 512") }
      return Array(line)
    }
    let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespaces)
    do { return Array(try WrittenValue(text).octets) } catch let failure as Failure {
      throw NoValue(reason: failure.description)
    }
  }
}

/// Lines that a thread reads. It reads on when the line before has been taken.
final class LineStream: AsyncSequence, Sendable {
  typealias Element = [UInt8]

  /// The longest line, in octets. What is longer is cut.
  private static let maximumLength = 65_536

  private let stream: AsyncStream<[UInt8]>
  private let taken = DispatchSemaphore(value: 0)

  /// Starts a thread that runs `source`, which gets a closure that takes pieces of the text.
  ///
  /// - Parameter stop: ends the source.
  init(stop: @escaping @Sendable () -> Void, _ source: @escaping @Sendable (([UInt8]) -> Void) -> Void) {
    let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    self.stream = stream
    let taken = taken
    taken.signal()
    continuation.onTermination = { _ in
      stop()
      taken.signal()
    }
    Thread.detachNewThread {
      var line: [UInt8] = []
      func yield() {
        taken.wait()
        if case .terminated = continuation.yield(line) { taken.signal() }
        line = []
      }
      source { piece in
        for octet in piece {
          if octet == UInt8(ascii: "\n") { yield() } else if line.count < Self.maximumLength { line.append(octet) }
        }
      }
      if !line.isEmpty { yield() }
      continuation.finish()
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator(), taken: taken) }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: AsyncStream<[UInt8]>.Iterator
    fileprivate let taken: DispatchSemaphore

    /// Waits for the next line, without its line break. Returns nil at the end.
    mutating func next() async -> [UInt8]? {
      let line = await base.next()
      taken.signal()
      return line
    }
  }
}
