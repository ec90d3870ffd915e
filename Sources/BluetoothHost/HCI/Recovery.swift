// Design: controllers that fail
//
// - A command without an answer for 2 s counts as failed. The controller counts as broken if nothing can continue
//   without the command (advertising, scanning, connecting, the resolving list, Disconnect, an app's Read RSSI,
//   switching off), if it is the third consecutive failure, if the controller accepts no command at all, after Hardware
//   Error, or if it does not know an advertising set that it has accepted. Other commands that fail are not sent to
//   this controller again.
// - A controller outside the process may stop while no command is pending. With
//   `HostConfiguration.checksSilentController`, which `TransportRunner` sets, the host sends LE Read Buffer Size when
//   nothing has arrived for 10 s, and the controller counts as broken if it does not answer. The command changes
//   nothing, and each controller has answered it during start-up. A packet stores its arrival time and moves no timer:
//   the timer compares the time with the latest arrival, at most once in 10 s while packets arrive. For the attempts
//   below, a controller has worked until its latest packet. Simulated controllers are not asked: their commands and
//   counts stay the same.
// - A broken controller is reset: at once, then after 1, 2, 4 and 8 s. A controller that has worked for 10 s gets all
//   attempts again. A controller that has not worked since the host was switched on is reset once, without a pause. If
//   no attempt helps, `TransportRunner` closes and reopens the transport, with backoff and without end
//   (`Host.needsNewTransport`); a simulated controller stays unused. Links end with 0x03, all pending requests fail,
//   and `powerChanged` reports starting and then on: the layer above must request its activities again. Published
//   services stay in the host.
// - `HostEvent.trouble` reports each of these problems once, as a line; `DaemonLog` writes it.

import BluetoothWire

/// The number of resets of a failed controller and the pauses before them (backoff).
struct Recovery {
  /// The time of faultless operation after which a controller counts as healthy, so that earlier failures no longer
  /// matter.
  static let trialTime = TimeSpan.seconds(10)
  /// The pause before each attempt, for a controller that has worked.
  private static let pauses: [TimeSpan] = [.zero, .seconds(1), .seconds(2), .seconds(4), .seconds(8)]
  /// The pauses for a controller that has not worked since the host was switched on: there may be no controller.
  private static let firstPauses: [TimeSpan] = [.zero]

  struct Attempt {
    var number: Int
    var of: Int
    var pause: TimeSpan
  }

  private var failures = 0
  private var hasWorked = false
  private var worksSince: Instant?

  /// Notes that the controller is ready. Returns true if it had failed before.
  mutating func succeeded(at now: Instant) -> Bool {
    hasWorked = true
    worksSince = now
    return failures > 0
  }

  /// Notes a failure of the controller, which worked until the given time. Returns the attempt to make now; nil: the
  /// maximum number of attempts is reached.
  mutating func failed(afterWorkUntil end: Instant) -> Attempt? {
    if let worksSince, end - worksSince >= Self.trialTime { failures = 0 }
    worksSince = nil
    let pauses = hasWorked ? Self.pauses : Self.firstPauses
    guard failures < pauses.count else { return nil }
    failures += 1
    return Attempt(number: failures, of: pauses.count, pause: pauses[failures - 1])
  }
}
