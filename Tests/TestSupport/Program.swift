import Foundation
import Testing

/// The programs of this package, for tests that run one as a process.
package enum Program {
  /// The end of a process, and its output.
  package struct Ending: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String
  }

  /// Returns the location of the program, which is built with the tests.
  package static func url(_ name: String) throws -> URL {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let url = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent(name)
    try #require(FileManager.default.isExecutableFile(atPath: url.path), "\(url.path) is missing")
    return url
  }

  /// Runs the program to its end, without blocking a thread of the tests. Its output must fit into a pipe.
  ///
  /// - Parameter environment: variables that the program gets beside those of the test.
  package static func run(
    _ name: String, _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> Ending {
    let process = Process()
    let (output, errors) = (Pipe(), Pipe())
    process.executableURL = try url(name)
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
    return Ending(status: process.terminationStatus, output: text(output), errors: text(errors))
  }

  private static func text(_ pipe: Pipe) -> String {
    String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }
}
