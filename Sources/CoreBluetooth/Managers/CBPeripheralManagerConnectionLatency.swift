/// How soon the link to a central should react, at what cost in energy.
public enum CBPeripheralManagerConnectionLatency: Int, Sendable {
  /// Soon.
  case low = 0
  /// In between.
  case medium = 1
  /// Late, for the least energy.
  case high = 2
}
