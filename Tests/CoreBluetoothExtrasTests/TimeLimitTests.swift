import AsyncTestSupport
import CoreBluetoothExtras
import Testing

@Suite struct TimeLimitTests {
  private static func waitForCancellation() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    withExtendedLifetime(continuation) {}
    try Task.checkCancellation()
  }

  @Test("A time limit that is infinite, too long for a duration, or not a number does not end")
  func unlimited() async throws {
    for length in [Double.infinity, 1e300, .nan] {
      for limit in [TimeLimit.seconds(length), .milliseconds(length)] {
        let value = try await withTimeLimit(limit) {
          await Task.yield()
          return 1
        }
        #expect(value == 1)
        // The operation is cancelled with its task.
        let waiting = Task { try await withTimeLimit(limit) { try await Self.waitForCancellation() } }
        waiting.cancel()
        #expect(await asyncOutcome { try await waiting.value } == .cancelled)
      }
    }
  }

  @Test("A time limit of 0 s or less has ended when it begins")
  func ended() async {
    for length in [0, -1, -Double.infinity] {
      for limit in [TimeLimit.seconds(length), .milliseconds(length)] {
        let end = await asyncOutcome {
          try await withTimeLimit(limit) { try await Self.waitForCancellation() }
        }
        #expect(end == .timeLimit)
      }
    }
  }
}
