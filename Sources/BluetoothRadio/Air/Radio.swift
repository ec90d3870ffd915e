import BluetoothWire

/// The number of a radio.
package struct RadioID: Hashable, Sendable {
  /// The index of the device in its world: from 0, in the order in which devices were added.
  package let index: Int

  package init(index: Int) { self.index = index }

  /// The sender of injected packets.
  package static let none = RadioID(index: -1)
}

/// A radio of the medium: its properties and its current activity.
struct Radio {
  enum Activity {
    case idle
    /// The radio listens; `place` is the index of its `ListeningRadio` in the channel's list.
    case listening(on: RadioChannel, place: Int)
    /// The radio transmits; the associated value is the number of its `Transmission`, or nil if the radio is muted and nothing
    /// is on the air.
    case transmitting(UInt64?)

    var isTransmitting: Bool { if case .transmitting = self { true } else { false } }
  }

  var properties: RadioProperties
  var activity = Activity.idle
  var meter: RadioMeter
  var isMuted = false
  /// True if the radio has a path, so that its position changes with time.
  var isMoving = false
  /// The place where the radio stands; `passing` while it moves.
  var place: PlaceNumber
  /// The packet in transmission.
  var packet: AirPacket?
}

/// A receiver in the list of its channel.
struct ListeningRadio {
  /// The packet that a receiver has locked onto.
  struct Lock {
    let transmission: UInt64
    let level: Decibel
    /// The end of the access address. The detection is decided then, or later when its result is first needed.
    let foundAt: Instant
    var isFound = false
  }

  let radio: Int32
  let phy: PHY
  /// The raw value of `phy`, which can be compared in place.
  let phyNumber: UInt8
  let accessAddress: UInt32
  let crcInit: UInt32
  let until: Instant?
  var lock: Lock?

  /// Returns true if the listening time has not ended, so that a packet may still begin.
  func goesOn(at now: Instant) -> Bool { until.map { $0 > now } ?? true }
}
