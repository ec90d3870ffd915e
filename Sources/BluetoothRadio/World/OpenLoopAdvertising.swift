import BluetoothWire

/// Advertising that the engine can run without the device ("open loop": the device expects no response): legacy
/// advertising that is neither connectable nor scannable, repeats the same packet on the primary advertising channels,
/// and reports nothing to the app.
///
/// The engine transmits the packets itself, and asks the device only for the time of the next event. While the packets
/// can affect no receiver, the engine culls the device and does not transmit them at all (see `CulledTransmitters`).
package struct OpenLoopAdvertising: Sendable {
  /// The packet of every advertising event.
  package let packet: AirPacket
  package let modulation: Modulation
  /// The transmit power without antenna gain, dBm.
  package let power: Decibel
  /// The primary channels, in the order of transmission.
  package let channels: PrimaryChannels
  /// The time from the end of one packet of an event to the start of the next.
  package let pause: TimeSpan
  /// The time of the device's next activity other than this advertising; nil if none is scheduled.
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

/// The primary advertising channels that a device uses, in ascending order · Vol 6, Part B, 4.4.2.
package struct PrimaryChannels: Sendable {
  /// The channel map: bits 0, 1 and 2 for channels 37, 38 and 39.
  private let map: UInt8

  /// Creates a set of channels.
  ///
  /// - Parameter map: bits 0 to 2 for channels 37 to 39, at least one of them.
  package init(map: UInt8) { self.map = map & 0b111 }

  static let all = PrimaryChannels(map: 0b111)
  private static let channels = (RadioChannel(0), RadioChannel(12), RadioChannel(39))

  var count: Int { map.nonzeroBitCount }

  /// The channel at index `place` in the order of transmission, 0 to `count` − 1.
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

/// The packets of the advertising events that a culled device has skipped: they were not transmitted, but count in the
/// statistics.
package struct SkippedPackets: Sendable {
  package var count: Int
  /// The air time of all packets together.
  package var airTime: TimeSpan
  /// The transmit power, dBm.
  package var power: Decibel
  /// The end of the last packet.
  package var end: Instant

  package init(count: Int, airTime: TimeSpan, power: Decibel, end: Instant) {
    self.count = count
    self.airTime = airTime
    self.power = power
    self.end = end
  }
}

/// The advertising that the engine runs on behalf of devices, by device index.
///
/// The packets are stored in a separate array, because copying an element with a packet would count references.
struct ScheduledAdvertisers {
  struct ScheduledAdvertiser {
    let channels: PrimaryChannels
    let modulation: Modulation
    let power: Decibel
    let pause: TimeSpan
    let until: Instant
    /// The duration of an advertising event, from the start of its first packet to the end of its last.
    let span: TimeSpan
    /// The number of packets of the current event that have begun; −1 if the engine does not advertise for this device.
    fileprivate(set) var begun: Int8

    /// True if the next packet is the first one of an event.
    var isBetweenEvents: Bool { begun == 0 }
    /// The channel of the next packet.
    var channel: RadioChannel { channels[Int(begun)] }

    fileprivate init(_ openLoopAdvertising: OpenLoopAdvertising) {
      channels = openLoopAdvertising.channels
      modulation = openLoopAdvertising.modulation
      power = openLoopAdvertising.power
      pause = openLoopAdvertising.pause
      until = openLoopAdvertising.until ?? .distantFuture
      let packets = Int64(channels.count)
      span = openLoopAdvertising.packet.airTime(modulation) * packets + pause * (packets - 1)
      begun = 0
    }

    fileprivate init() {
      (channels, modulation, power) = (.all, .le1M, Decibel(0))
      (pause, span, until, begun) = (.zero, .zero, .zero, -1)
    }
  }

  private var all: ContiguousArray<ScheduledAdvertiser> = []
  private var packets: ContiguousArray<AirPacket?> = []

  var indices: Range<Int> { all.indices }

  func contains(_ index: Int) -> Bool { index < all.count && all[index].begun >= 0 }

  /// The advertising of a device for which `contains` returns true.
  subscript(index: Int) -> ScheduledAdvertiser { all[index] }

  mutating func begin(_ index: Int, _ openLoopAdvertising: OpenLoopAdvertising) {
    while all.count <= index {
      all.append(ScheduledAdvertiser())
      packets.append(nil)
    }
    all[index] = ScheduledAdvertiser(openLoopAdvertising)
    packets[index] = openLoopAdvertising.packet
  }

  /// Ends the advertising on behalf of a device. Returns true if an advertising event is in progress.
  mutating func end(_ index: Int) -> Bool {
    defer {
      all[index].begun = -1
      packets[index] = nil
    }
    return all[index].begun > 0
  }

  /// Starts the next packet of the event, and returns it.
  mutating func takePacket(_ index: Int) -> AirPacket? {
    all[index].begun += 1
    return packets[index]
  }

  /// Records the end of a packet. Returns the time to the start of the event's next packet; nil if that packet was the
  /// event's last.
  mutating func pause(_ index: Int) -> TimeSpan? {
    if Int(all[index].begun) < all[index].channels.count { return all[index].pause }
    all[index].begun = 0
    return nil
  }
}
