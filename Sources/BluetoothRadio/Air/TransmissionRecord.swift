import BluetoothWire

/// A transmission, current or past.
package struct TransmissionRecord: Sendable {
  /// The number of the transmission: 1 for the first of a world, then 2, and so on.
  package var number: UInt64
  /// The transmitting radio; `RadioID.none` for an injected packet.
  package var radio: RadioID
  package var packet: AirPacket
  package var channel: RadioChannel
  package var modulation: Modulation
  /// The transmit power without antenna gain, dBm.
  package var power: Decibel
  /// The start of the preamble.
  package var start: Instant
  package var end: Instant
}

/// The result of a reception by a receiver that locked onto the packet.
package enum ReceptionOutcome: Hashable, Sendable {
  /// Every bit is correct.
  case intact
  /// The CRC is wrong.
  case corrupt
  /// The access address was not detected.
  case missed
}

/// The reception of a transmission that has just ended, by one receiver.
package struct Reception: Sendable {
  package var radio: RadioID
  /// The true level at the receiver, dBm, before the receiver's RSSI error.
  package var level: Decibel
  package var outcome: ReceptionOutcome
  /// True if the receiver continues to listen because it missed the packet.
  var stillListens: Bool
  /// The packet that a fault gives to the receiver in place of the transmitted packet; nil: the transmitted packet.
  package var replacement: AirPacket?
}

/// An observer of all transmissions, such as a capture or statistics.
package protocol AirObserver: AnyObject {
  /// Called when a transmission has ended. `receptions` has an entry for each receiver that was still locked onto it.
  func transmissionEnded(_ record: TransmissionRecord, receptions: [Reception])
  /// Called when the observer is removed while this transmission, whose start it observed, is on the air. Its
  /// receptions are not known yet.
  func observationEnds(during record: TransmissionRecord)
}

extension AirObserver {
  package func observationEnds(during record: TransmissionRecord) {}
}
