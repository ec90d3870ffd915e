/// The latency of the link to a central, a trade-off between response time and energy.
public enum CBPeripheralManagerConnectionLatency: Int, Sendable {
  /// The shortest response time.
  case low = 0
  /// A compromise between response time and energy.
  case medium = 1
  /// The lowest energy consumption, with the longest response time.
  case high = 2
}
