import BluetoothWire
import Testing

@testable import BluetoothRadio

@Suite("Real time")
struct RealTimeRunnerTests {
  @Test("A world in real time sleeps as long as its speed says, but never so long that the time can't be counted")
  func wallTime() {
    #expect(RealTimeRunner.wallTime(for: .milliseconds(30), speedPerMille: 1_000) == 30_000_000)
    #expect(RealTimeRunner.wallTime(for: .milliseconds(30), speedPerMille: 10_000) == 3_000_000)
    #expect(RealTimeRunner.wallTime(for: TimeSpan(nanoseconds: -1), speedPerMille: 1_000) == 0)
    // A year, which is the longest that an app's attempt may be delayed.
    #expect(RealTimeRunner.wallTime(for: .seconds(31_536_000), speedPerMille: 1_000) == 3_600_000_000_000)
    #expect(RealTimeRunner.wallTime(for: TimeSpan(nanoseconds: .max), speedPerMille: 1) == 3_600_000_000_000_000)
  }

  @Test("A speed that is not a number counts as 1")
  func speed() {
    _ = RealTimeRunner(WorldEngine(seed: 1), speed: .nan)
  }
}
