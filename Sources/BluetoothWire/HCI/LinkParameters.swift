/// Connection parameters as a host or peripheral requests them · Vol 4, Part E, 7.8.12; Vol 3, Part A, 4.20.
package struct LinkParameters: Hashable, Sendable {
  /// The unit of the connection interval.
  package static let intervalUnit = TimeSpan.microseconds(1_250)
  /// The unit of the supervision timeout.
  package static let supervisionTimeoutUnit = TimeSpan.milliseconds(10)

  /// Units of 1.25 ms, 6 to 3200.
  package var minimumInterval: UInt16
  /// Units of 1.25 ms, `minimumInterval` to 3200.
  package var maximumInterval: UInt16
  /// The maximum number of consecutive connection events that the peripheral may skip, 0 to 499.
  package var latency: UInt16
  /// Units of 10 ms, 10 to 3200.
  package var supervisionTimeout: UInt16

  package init(minimumInterval: UInt16, maximumInterval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
    self.minimumInterval = minimumInterval
    self.maximumInterval = maximumInterval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }

  /// True if all values are within their ranges and the supervision timeout exceeds twice the interval multiplied by
  /// (1 + latency).
  package var isValid: Bool {
    guard 6...3200 ~= minimumInterval, 6...3200 ~= maximumInterval, minimumInterval <= maximumInterval,
      latency <= 499, 10...3200 ~= supervisionTimeout
    else { return false }
    // In units of 1.25 ms: timeout × 8 > (1 + latency) × interval × 2.
    return Int(supervisionTimeout) * 8 > (1 + Int(latency)) * Int(maximumInterval) * 2
  }
}

extension LinkParameters {
  package init(from reader: inout ByteReader) throws(DecodingError) {
    minimumInterval = try reader.uint16()
    maximumInterval = try reader.uint16()
    latency = try reader.uint16()
    supervisionTimeout = try reader.uint16()
  }

  package func encode(into writer: inout ByteWriter) {
    writer.append(minimumInterval)
    writer.append(maximumInterval)
    writer.append(latency)
    writer.append(supervisionTimeout)
  }
}
