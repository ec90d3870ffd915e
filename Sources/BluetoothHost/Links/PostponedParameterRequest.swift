import BluetoothWire

/// The connection parameters that a peripheral will request.
struct PostponedParameterRequest {
  /// TGAP(conn_pause_peripheral): the minimum age of a link at which its peripheral requests parameters
  /// · Vol 3, Part C, Appendix A.
  private static let pause = TimeSpan.seconds(5)
  /// TGAP(conn_pause_central): the time without initiatives of the central before its peripheral requests parameters
  /// · Vol 3, Part C, Appendix A.
  private static let quietTime = TimeSpan.seconds(1)
  /// The time after which a peripheral sends its request even though the central is never quiet.
  private static let maximumDelay = TimeSpan.seconds(5)

  let parameters: LinkParameters
  /// The earliest and the latest time of the request.
  private let bounds: ClosedRange<Instant>
  /// The time of the request, unless the central sends data before.
  private(set) var due: Instant

  /// Creates the request for a link.
  ///
  /// - Parameters:
  ///   - beginning: The time at which the link was created.
  ///   - lastData: The time at which the central last sent data.
  init(_ parameters: LinkParameters, beginning: Instant, lastData: Instant, at now: Instant) {
    self.parameters = parameters
    let earliest = beginning + Self.pause
    bounds = earliest...max(earliest, now + Self.maximumDelay)
    due = bounds.upperBound
    update(lastData: lastData)
  }

  /// Postpones the request after traffic of the central.
  ///
  /// - Parameter lastData: The time at which the central last sent data.
  mutating func update(lastData: Instant) {
    due = min(bounds.upperBound, max(bounds.lowerBound, lastData + Self.quietTime))
  }
}
