import BluetoothRadio
import BluetoothWire

/// What has happened on one connection since it was made.
package struct LinkStatistics: Hashable, Sendable {
  /// Packets of one direction.
  package struct Direction: Hashable, Sendable {
    /// With what was sent more than once, and with packets without octets.
    package var packets = 0
    /// Octets of data and of LL Control PDUs, without headers and MICs; what was sent again is not counted again.
    package var octets = 0
    package var airTime = TimeSpan.zero
  }

  package var sent = Direction()
  /// Intact packets; of what came more than once, the octets count once.
  package var received = Direction()
  /// Packets that were sent again because the peer did not acknowledge them.
  package var retransmissions = 0
  /// Packets that began and came to nothing: a wrong CRC, or a length that was not agreed on.
  package var crcErrors = 0
  /// Times that this device listened for the peer and heard nothing.
  package var silences = 0
  /// Connection events in which this device had the radio.
  package var attendedEvents = 0
  /// Connection events that came while the radio was taken.
  package var missedEvents = 0
  /// How strong the last intact packet was.
  package var lastLevel: Decibel?
  private var levelSum = 0
  private var firstPacket: Instant?
  private var lastPacket = Instant.zero

  package init() {}

  /// How strong the intact packets were on average, in decibels; nil: there was none.
  package var meanLevel: Decibel? {
    received.packets == 0 ? nil : Decibel(steps: Int32(clamping: levelSum / received.packets))
  }

  /// From the end of the first intact packet to that of the last one.
  package var time: TimeSpan { firstPacket.map { lastPacket - $0 } ?? .zero }

  mutating func sent(octets: Int, for time: TimeSpan, isAgain: Bool) {
    sent.packets += 1
    sent.airTime += time
    if isAgain { retransmissions += 1 } else { sent.octets += octets }
  }

  mutating func received(level: Decibel, for time: TimeSpan, until end: Instant) {
    if firstPacket == nil { firstPacket = end }
    lastPacket = end
    received.packets += 1
    received.airTime += time
    lastLevel = level
    levelSum += Int(level.steps)
  }
}
