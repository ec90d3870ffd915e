import BluetoothWire

/// One radio on the air, by number.
package struct RadioID: Hashable, Sendable {
  /// The devices of a world are numbered from 0 on, in the order in which they were added.
  package let index: Int

  package init(index: Int) { self.index = index }

  /// Nobody's: of what was injected.
  package static let none = RadioID(index: -1)
}

/// A radio of the medium: what it is, and what it does at the moment.
struct Radio {
  enum Activity {
    case idle
    /// Its ear is at this place of the channel's list.
    case listening(on: RadioChannel, place: Int)
    /// The number of its burst; nil: it is muted, and nothing goes out.
    case transmitting(UInt64?)

    var isTransmitting: Bool { if case .transmitting = self { true } else { false } }
  }

  var properties: RadioProperties
  var activity = Activity.idle
  var meter: RadioMeter
  var isMuted = false
  /// It has a path, so its position changes with time.
  var isMoving = false
  /// Where it stands; `passing` as long as it is moving.
  var place: PlaceNumber
  /// What it sends.
  var packet: AirPacket?
}

/// A radio that listens, in its channel's list.
struct Ear {
  /// How far it is with a packet.
  struct Lock {
    let burst: UInt64
    let level: Decibel
    /// When the access address ends: what becomes of it is decided then or later, when somebody wants to know.
    let foundAt: Instant
    var isFound = false
  }

  let radio: Int32
  let phy: PHY
  /// Its raw value, which is compared in place.
  let phyNumber: UInt8
  let accessAddress: UInt32
  let crcInit: UInt32
  let until: Instant?
  var lock: Lock?

  /// Whether there is still time for a packet to begin.
  func goesOn(at now: Instant) -> Bool { until.map { $0 > now } ?? true }
}
