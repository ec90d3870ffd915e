import Foundation
import NIOConcurrencyHelpers

/// Runs the seeds of a sweep in processes of this program, several at a time.
final class SweepJobs: Sendable {
  private struct State {
    /// The parts that no process has taken.
    var next = 0
    /// The outputs that wait until those of the parts before them have been delivered.
    var outputs: [Int: String] = [:]
    var failure: Failure?
    /// The identifiers of the running processes.
    var running: Set<Int32> = []
  }

  private let arguments: [String]
  private let parts: [SeedList]
  private let jobs: Int
  private let state = NIOLockedValueBox(State())

  /// - Parameter arguments: the arguments of a process, to which `--seeds` is added.
  init(arguments: [String], seeds: SeedList, jobs: Int) {
    // Small parts keep all processors busy until the end, and begin to deliver results soon.
    let size = max(1, min(50, seeds.seeds.count / (jobs * 4)))
    parts = stride(from: 0, to: seeds.seeds.count, by: size).map { start in
      SeedList(Array(seeds.seeds[start..<min(start + size, seeds.seeds.count)]))
    }
    self.arguments = arguments
    self.jobs = min(jobs, max(1, parts.count))
  }

  /// Runs all parts. Calls `deliver` with the output of each, in the order of the seeds.
  ///
  /// - Throws: the failure of a process, or what `deliver` throws.
  func run(_ deliver: (String) throws -> Void) throws {
    let changes = DispatchSemaphore(value: 0)
    for _ in 0..<jobs {
      let thread = Thread { [self] in
        while let part = takePart() {
          let outcome = Result { try output(of: part) }
          state.withLockedValue { state in
            switch outcome {
            case .success(let text): state.outputs[part] = text
            case .failure(let error): state.failure = state.failure ?? error as? Failure ?? Failure("\(error)")
            }
          }
          changes.signal()
        }
      }
      thread.start()
    }
    for part in parts.indices {
      while true {
        let (text, failure) = state.withLockedValue { ($0.outputs.removeValue(forKey: part), $0.failure) }
        if let failure { throw failure }
        if let text {
          try deliver(text)
          break
        }
        changes.wait()
      }
    }
  }

  /// Ends the running processes, and begins no others.
  func stop() {
    let running = state.withLockedValue { state in
      state.failure = state.failure ?? Failure("interrupted", status: 128 + SIGINT)
      return state.running
    }
    // They may have inherited that other signals are ignored.
    for process in running { kill(process, SIGKILL) }
  }

  private func takePart() -> Int? {
    state.withLockedValue { state in
      guard state.failure == nil, state.next < parts.count else { return nil }
      defer { state.next += 1 }
      return state.next
    }
  }

  private func output(of part: Int) throws -> String {
    let process = Process()
    process.executableURL = URL(
      fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    process.arguments = arguments + ["--seeds", parts[part].argument]
    let pipe = Pipe()
    process.standardOutput = pipe
    let errors = Pipe()
    process.standardError = errors
    process.standardInput = FileHandle.nullDevice
    try state.withLockedValue { state in
      if let failure = state.failure { throw failure }
      try process.run()
      state.running.insert(process.processIdentifier)
    }
    let relay = Self.relay(errors.fileHandleForReading)
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    relay.wait()
    process.waitUntilExit()
    state.withLockedValue { _ = $0.running.remove(process.processIdentifier) }
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw Failure(
        "the run with the seeds \(parts[part].argument) has failed with status \(process.terminationStatus)",
        status: process.terminationReason == .exit ? process.terminationStatus : EXIT_FAILURE)
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// Passes on what a process writes to its standard error, in whole lines: the progress of the sweep stays below them.
  ///
  /// - Returns: what is signalled at the end of the file.
  static func relay(
    _ file: FileHandle,
    to output: @escaping @Sendable ([UInt8]) -> Void = { lines in
      Terminal.aside { try? put(octets: lines, to: STDERR_FILENO) }
    }
  ) -> DispatchSemaphore {
    let end = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      var rest: [UInt8] = []
      while true {
        let data = file.availableData
        rest += data
        let count = data.isEmpty ? rest.count : (rest.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        if count > 0 {
          output(Array(rest.prefix(count)))
          rest.removeFirst(count)
        }
        if data.isEmpty { break }
      }
      end.signal()
    }
    return end
  }
}
