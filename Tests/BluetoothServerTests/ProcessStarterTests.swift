import BluetoothServer
import CTestSupport
import Foundation
import TestSupport
import Testing

/// The processes that a server starts.
@Suite(.timeLimit(.minutes(10)))
struct ProcessStarterTests {
  /// Runs a command of the shell, and returns the lines of the file `$1`.
  ///
  /// - Parameter prepare: called on the thread that starts the command; returns 0 or an `errno`.
  private func lines(of command: String, prepare: @Sendable () -> CInt = { 0 }) async throws -> [String] {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = folder.file("output")
    let shell = RegisteredApp(name: "test", executable: "/bin/sh", arguments: ["-c", command, "sh", file])
    let environment = ProcessInfo.processInfo.environment
    let hasFailed = try await withCheckedThrowingContinuation { (end: CheckedContinuation<Bool, any Error>) in
      #expect(prepare() == 0)
      do throws(ServerError) {
        _ = try ProcessStarter().start(shell, environment: environment) { end.resume(returning: $0) }
      } catch {
        end.resume(throwing: error)
      }
    }
    #expect(!hasFailed)
    return try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  @Test("A started program has the standard descriptors and no other one of the server")
  func descriptors() async throws {
    // Not close-on-exec, as the sockets of a server.
    let descriptor = open("/dev/null", O_RDONLY)
    try #require(descriptor > 2)
    defer { close(descriptor) }
    // 3 is the folder that the program lists.
    #expect(try await lines(of: "ls /proc/self/fd >\"$1\"") == ["0", "1", "2", "3"])
  }

  @Test(
    "A started program has no ambient capabilities",
    .enabled(if: test_can_raise_ambient_capability(), "this process may not have ambient capabilities"))
  func capabilities() async throws {
    let found = try await lines(of: "grep ^CapAmb /proc/self/status >\"$1\"") { test_raise_ambient_capability() }
    #expect(found == ["CapAmb:\t0000000000000000"])
  }
}
