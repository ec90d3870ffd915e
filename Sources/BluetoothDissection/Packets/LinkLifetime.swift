import BluetoothWire

/// Tells if packets on the air with the same access address belong to the same connection. A connection ends after
/// LL_TERMINATE_IND, and after a silence that is longer than its supervision timeout · Vol 6, Part B, 5.1.6, 4.5.2.
package struct LinkLifetime {
  /// The supervision timeout in nanoseconds; nil: the capture does not tell it.
  private var timeout: Int64?
  private var lastTime: Int64?
  /// The packet that ended the connection, which its sender repeats until it is acknowledged.
  private struct Termination {
    let direction: CapturedAirPacket.Direction?
    let sequenceNumber: Bool
    let payload: ByteSlice
    var isAcknowledged = false
  }

  private var termination: Termination?

  /// - Parameter timeout: the supervision timeout in units of 10 ms; nil: it is not known.
  package init(timeout: UInt16? = nil) { self.timeout = timeout.map(Self.nanoseconds) }

  private static func nanoseconds(_ timeout: UInt16) -> Int64 { Int64(timeout) * 10_000_000 }

  /// Returns true if the connection has ended before a packet with its access address.
  package mutating func isOver(before air: CapturedAirPacket, at time: Int64) -> Bool {
    defer { lastTime = time }
    if let lastTime, let timeout, time - lastTime > timeout { return true }
    guard let termination else { return false }
    let header = LL.DataHeader(rawValue: air.header)
    if air.direction != termination.direction, !termination.isAcknowledged {
      // The peer may acknowledge with data.
      self.termination?.isAcknowledged = header.nextExpectedSequenceNumber != termination.sequenceNumber
      return false
    }
    return !air.payload.isEmpty
      && (header.sequenceNumber != termination.sequenceNumber || air.payload != termination.payload)
  }

  /// Follows a control PDU in plain text, which `air` carries.
  package mutating func follow(_ pdu: LL.ControlPDU, in air: CapturedAirPacket) {
    switch pdu {
    case .connectionUpdateInd(let timing, _): timeout = Self.nanoseconds(timing.timeout)
    case .terminateInd:
      termination = Termination(
        direction: air.direction, sequenceNumber: LL.DataHeader(rawValue: air.header).sequenceNumber,
        payload: air.payload)
    default: break
    }
  }
}
