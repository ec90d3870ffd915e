import BluetoothWire

/// What a device does that sends the same on the primary advertising channels again and again, asks for no answer, and has
/// nothing to tell its app of it. The engine sends its packets itself, and asks the device for the time of the next event
/// only; while nobody could notice them, not even that: see `UnheardDevices`.
package struct Soliloquy: Sendable {
  /// What is sent in each event.
  package let packet: AirPacket
  package let modulation: Modulation
  /// dBm, without the antenna's gain.
  package let power: Decibel
  /// Where, in this order.
  package let channels: PrimaryChannels
  /// From the end of one packet of an event to the beginning of the next.
  package let pause: TimeSpan
  /// When the device would do something else besides; nil: not by itself.
  package var until: Instant?

  package init(
    packet: AirPacket, modulation: Modulation, power: Decibel, channels: PrimaryChannels, pause: TimeSpan,
    until: Instant? = nil
  ) {
    self.packet = packet
    self.modulation = modulation
    self.power = power
    self.channels = channels
    self.pause = pause
    self.until = until
  }

}

/// Those of the primary advertising channels that a device uses, in their order · Vol 6, Part B, 4.4.2.
package struct PrimaryChannels: Sendable {
  /// The places of 37, 38 and 39 in the map: 1, 2, 4.
  private let map: UInt8

  /// - Parameter map: bits 0 to 2 for channels 37 to 39, at least one of them.
  package init(map: UInt8) { self.map = map & 0b111 }

  static let all = PrimaryChannels(map: 0b111)
  private static let channels = (RadioChannel(0), RadioChannel(12), RadioChannel(39))

  var count: Int { map.nonzeroBitCount }

  subscript(place: Int) -> RadioChannel {
    var rest = map
    for _ in 0..<place { rest &= rest &- 1 }
    return switch rest.trailingZeroBitCount {
    case 0: Self.channels.0
    case 1: Self.channels.1
    default: Self.channels.2
    }
  }
}

/// The packets of a device that has passed over them.
package struct SkippedPackets: Sendable {
  package var count: Int
  /// Of all of them.
  package var airTime: TimeSpan
  /// dBm.
  package var power: Decibel
  /// When the last one has ended.
  package var end: Instant

  package init(count: Int, airTime: TimeSpan, power: Decibel, end: Instant) {
    self.count = count
    self.airTime = airTime
    self.power = power
    self.end = end
  }
}

/// The devices whose packets the engine sends for them, by number.
///
/// What is asked again and again stands apart from the packet: a copy of that would count references, up and down.
struct Recitals {
  struct Recital {
    let channels: PrimaryChannels
    let modulation: Modulation
    let power: Decibel
    let pause: TimeSpan
    let until: Instant
    /// How long an event takes.
    let span: TimeSpan
    /// How many of the event's packets have begun; −1: the engine does nothing for this device.
    fileprivate(set) var begun: Int8

    /// The next packet is the first one of an event.
    var isBetweenEvents: Bool { begun == 0 }
    /// Where the next packet is sent.
    var channel: RadioChannel { channels[Int(begun)] }

    fileprivate init(_ soliloquy: Soliloquy) {
      channels = soliloquy.channels
      modulation = soliloquy.modulation
      power = soliloquy.power
      pause = soliloquy.pause
      until = soliloquy.until ?? .distantFuture
      let packets = Int64(channels.count)
      span = soliloquy.packet.airTime(modulation) * packets + pause * (packets - 1)
      begun = 0
    }

    fileprivate init() {
      (channels, modulation, power) = (.all, .le1M, Decibel(0))
      (pause, span, until, begun) = (.zero, .zero, .zero, -1)
    }
  }

  private var all: ContiguousArray<Recital> = []
  private var packets: ContiguousArray<AirPacket?> = []

  var indices: Range<Int> { all.indices }

  func contains(_ index: Int) -> Bool { index < all.count && all[index].begun >= 0 }

  /// Of a device that is there.
  subscript(index: Int) -> Recital { all[index] }

  mutating func begin(_ index: Int, _ soliloquy: Soliloquy) {
    while all.count <= index {
      all.append(Recital())
      packets.append(nil)
    }
    all[index] = Recital(soliloquy)
    packets[index] = soliloquy.packet
  }

  /// The device does it itself again; says whether it is in the middle of an event.
  mutating func end(_ index: Int) -> Bool {
    defer {
      all[index].begun = -1
      packets[index] = nil
    }
    return all[index].begun > 0
  }

  /// A packet begins.
  mutating func takePacket(_ index: Int) -> AirPacket? {
    all[index].begun += 1
    return packets[index]
  }

  /// A packet has ended: how long it is to the next one; nil: so has the event.
  mutating func pause(_ index: Int) -> TimeSpan? {
    if Int(all[index].begun) < all[index].channels.count { return all[index].pause }
    all[index].begun = 0
    return nil
  }
}
