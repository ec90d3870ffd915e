import Foundation
import Testing

/// The programs of this package, for tests that run one as a process.
package enum Program {
  /// The end of a process, and its output.
  package struct Ending: Sendable {
    package let reason: Process.TerminationReason
    package let status: Int32
    package let output: String
    package let errors: String
  }

  /// Returns the location of the program, which is built with the tests.
  ///
  /// - Parameter isProgram: false for a library.
  package static func url(_ name: String, isProgram: Bool = true) throws -> URL {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let url = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent(name)
    let isThere = isProgram ? FileManager.default.isExecutableFile : FileManager.default.isReadableFile
    try #require(isThere(url.path), "\(url.path) is missing")
    return url
  }

  /// Runs the program to its end, without blocking a thread of the tests. Its output must fit into a pipe.
  ///
  /// - Parameter environment: variables that the program gets beside those of the test.
  package static func run(
    _ name: String, _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> Ending {
    try await run(url(name), arguments, environment: environment)
  }

  /// Runs the program at this place to its end, like one of this package.
  package static func run(
    _ program: URL, _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> Ending {
    let process = Process()
    let (output, errors) = (Pipe(), Pipe())
    process.executableURL = program
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    (process.standardOutput, process.standardError) = (output, errors)
    try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in ended.resume() }
      do { try process.run() } catch {
        process.terminationHandler = nil
        ended.resume(throwing: error)
      }
    }
    return Ending(
      reason: process.terminationReason, status: process.terminationStatus, output: await text(of: output),
      errors: await text(of: errors))
  }

  /// Returns what a process writes until the condition holds, or until the end.
  ///
  /// Reads on a thread of its own, because it may take long: a process that another test has started at the same moment
  /// may have inherited the other end of the pipe, and then the pipe ends with that process.
  package static func text(
    of pipe: Pipe, until isComplete: @escaping @Sendable (String) -> Bool = { _ in false }
  ) async -> String {
    let handle = pipe.fileHandleForReading
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var octets = Data()
        while true {
          let more = handle.availableData
          octets += more
          let text = String(decoding: octets, as: UTF8.self)
          if more.isEmpty || isComplete(text) { return continuation.resume(returning: text) }
        }
      }
    }
  }
}
