import Foundation
import TestSupport
import Testing

/// Runs of `ble lockstep`, with the programs that the build makes beside the tests.
enum LockstepRun {
  /// The program whose arguments are names of calls: Tests/LockstepHost.
  static func host() throws -> String { try Program.url("lockstep-host").path }

  static func run(
    _ programs: [String]..., options: [String] = [], environment: [String: String] = [:]
  ) async throws -> Program.Ending {
    try await Program.run(
      "ble", ["lockstep"] + options + ["--"] + Array(programs.joined(separator: ["--and"])), environment: environment)
  }

  /// Returns a folder for the files of a test, which the test removes.
  static func makeFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lockstep-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }
}
