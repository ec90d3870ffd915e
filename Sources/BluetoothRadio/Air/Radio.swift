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
    /// The radio transmits. The associated value is the number of its `Transmission`; nil if the radio is muted, so
    /// that nothing is on the air.
    case transmitting(UInt64?)

    var isTransmitting: Bool { if case .transmitting = self { true } else { false } }
  }

  var properties: RadioProperties
  var activity = Activity.idle
  var meter: RadioMeter
  var isMuted = false
  /// True if the radio has a path, so that its position changes with time.
  var isMoving = false
  /// The key of the radio's position in the loss cache; `passing` while the radio moves.
  var place: PlaceNumber
  /// The packet in transmission.
  var packet: AirPacket?
}

/// A listening radio, as an element of `Medium.listeners`.
struct ListeningRadio {
  /// The packet that a receiver has locked onto.
  struct Lock {
    /// The number of the transmission.
    let transmission: UInt64
    let level: Decibel
    /// The end of the access address. The detection is decided at that time or later, when its result is needed.
    let foundAt: Instant
    /// True after a successful detection. A failed detection removes the lock.
    var isFound = false
  }

  let radio: Int32
  let phy: RadioPHY
  /// The raw value of `phy`, which is cheaper to compare.
  let phyNumber: UInt8
  let accessAddress: UInt32
  let crcInit: UInt32
  let until: Instant?
  var lock: Lock?

  /// Returns true if the listening time has not ended, so that a packet may still begin.
  func goesOn(at now: Instant) -> Bool { until.map { $0 > now } ?? true }
}
