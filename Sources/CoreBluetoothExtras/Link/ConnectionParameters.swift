import BluetoothWire

/// The connection parameters of a link · Vol 6, Part B, 4.5.
public struct ConnectionParameters: Hashable, Sendable {
  /// The time between two connection events, 7.5 ms to 4 s in steps of 1.25 ms.
  public let interval: Duration
  /// The maximum number of consecutive connection events that the peripheral may skip, 0 to 499.
  public let latency: Int
  /// The time without a packet after which the link is lost, 100 ms to 32 s in steps of 10 ms.
  public let supervisionTimeout: Duration

  init(_ values: HCI.ConnectionValues) {
    interval = .microseconds(1_250 * Int(values.interval))
    latency = Int(values.latency)
    supervisionTimeout = .milliseconds(10 * Int(values.supervisionTimeout))
  }
}

extension ConnectionParameters: CustomStringConvertible {
  /// The values with their units.
  public var description: String { "interval \(interval), latency \(latency), timeout \(supervisionTimeout)" }
}

extension LinkParameters {
  /// Creates parameters from times: the interval is rounded inwards to steps of 1.25 ms, the timeout up to steps of
  /// 10 ms. nil: a value is out of its range, the interval has no step, or the timeout is too short for the interval
  /// and the latency.
  init?(interval: ClosedRange<Duration>, latency: Int, supervisionTimeout: Duration) {
    guard let minimum = interval.lowerBound.steps(of: .microseconds(1_250), roundedUp: true),
      let maximum = interval.upperBound.steps(of: .microseconds(1_250), roundedUp: false),
      let timeout = supervisionTimeout.steps(of: .milliseconds(10), roundedUp: true),
      let latency = UInt16(exactly: latency)
    else { return nil }
    self.init(minimumInterval: minimum, maximumInterval: maximum, latency: latency, supervisionTimeout: timeout)
    guard isValid else { return nil }
  }
}

extension Duration {
  /// Returns the duration in steps; nil: negative, or too long for 16 bits.
  func steps(of step: Duration, roundedUp: Bool) -> UInt16? {
    guard self >= .zero, self <= step * Int(UInt16.max) else { return nil }
    let steps = (self / step).rounded(.down)
    return UInt16(steps) + (roundedUp && step * Int(steps) < self ? 1 : 0)
  }
}
