import BluetoothWire

/// A packet on the air, or that was.
package struct TransmissionRecord: Sendable {
  /// 1 for a world's first transmission, then 2, and so on.
  package var number: UInt64
  /// `RadioID.none` if it was injected.
  package var radio: RadioID
  package var packet: AirPacket
  package var channel: RadioChannel
  package var modulation: Modulation
  /// dBm.
  package var power: Decibel
  /// When its preamble began.
  package var start: Instant
  package var end: Instant
}

/// How a receiver fared that had locked onto a packet.
package enum ReceptionOutcome: Hashable, Sendable {
  /// Every bit arrived.
  case intact
  /// The CRC is wrong.
  case corrupt
  /// The access address was not found.
  case missed
}

/// What one receiver got of a transmission that has just ended.
package struct Reception: Sendable {
  package var radio: RadioID
  /// As it is, not as the receiver tells it.
  package var level: Decibel
  package var outcome: ReceptionOutcome
  /// The receiver goes on listening, as if nothing had been.
  var stillListens: Bool
  /// What it hears instead of the packet that was sent; nil: that one.
  package var replacement: AirPacket?
}

/// Who watches the air: captures and statistics.
package protocol AirObserver: AnyObject {
  /// A transmission has ended; `receptions` has everybody who had locked onto it.
  func transmissionEnded(_ record: TransmissionRecord, receptions: [Reception])
  /// The observer is released while this transmission, of which it saw the beginning, is on the air. Nobody knows yet who
  /// receives it.
  func observationEnds(during record: TransmissionRecord)
}

extension AirObserver {
  package func observationEnds(during record: TransmissionRecord) {}
}
