import BluetoothRadio
import BluetoothWire

/// The statistics of one connection since it was created.
package struct ConnectionStatistics: Hashable, Sendable {
  /// The packets of one direction.
  package struct Direction: Hashable, Sendable {
    /// The number of packets, including retransmissions and empty packets.
    package var packets = 0
    /// The octets of data and of LL Control PDUs, without headers and MICs; retransmissions are not counted.
    package var octets = 0
    package var airTime = TimeSpan.zero
  }

  package var sent = Direction()
  /// The intact packets received; the octets of a repeated packet count once.
  package var received = Direction()
  /// The number of packets sent again because the peer did not acknowledge them.
  package var retransmissions = 0
  /// The number of corrupt packets: with a wrong CRC, or with a length that was not negotiated.
  package var crcErrors = 0
  /// The number of times that this device listened for the peer and received nothing.
  package var receiveTimeouts = 0
  /// The number of connection events in which this device had the radio.
  package var attendedEvents = 0
  /// The number of connection events that this device missed because the radio was in use.
  package var missedEvents = 0
  /// The level of the last intact packet.
  package var lastLevel: Decibel?
  private var levelSum = 0
  private var firstPacket: Instant?
  private var lastPacket = Instant.zero

  package init() {}

  /// The average level of the intact packets, in decibels; nil: there was none.
  package var meanLevel: Decibel? {
    received.packets == 0 ? nil : Decibel(steps: Int32(clamping: levelSum / received.packets))
  }

  /// The time from the end of the first intact packet to the end of the last one.
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
