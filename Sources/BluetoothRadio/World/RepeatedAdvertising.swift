import BluetoothWire

/// Advertising that the engine can run without the device: legacy advertising that repeats the same packet on the
/// primary advertising channels while the device does nothing else.
///
/// The engine transmits the packets itself and, after each of them, listens for a request if the advertising is
/// connectable or scannable. It asks the device only for the time of the next event, until a request arrives: then the
/// device handles the request. While the packets of advertising without requests can affect no receiver, the engine
/// culls the device and does not transmit them at all (see `CulledTransmitters`).
package struct RepeatedAdvertising: Sendable {
  /// The packet of every advertising event.
  package let packet: AirPacket
  package let modulation: Modulation
  /// The transmit power without antenna gain, dBm.
  package let power: Decibel
  /// The primary channels, in the order of transmission.
  package let channels: PrimaryChannels
  /// The time from the end of one packet of an event, or from the end of its request window, to the start of the next
  /// packet.
  package let pause: TimeSpan
  /// The time after each packet in which the device listens for a request; nil: it does not listen.
  package let requestWindow: RequestWindow?
  /// The time of the device's next activity other than this advertising; nil if none is scheduled.
  package var until: Instant?

  package init(
    packet: AirPacket, modulation: Modulation, power: Decibel, channels: PrimaryChannels, pause: TimeSpan,
    requestWindow: RequestWindow?, until: Instant? = nil
  ) {
    self.packet = packet
    self.modulation = modulation
    self.power = power
    self.channels = channels
    self.pause = pause
    self.requestWindow = requestWindow
    self.until = until
  }
}

/// The time after an advertising packet in which an advertiser listens for a request on the same channel.
package struct RequestWindow: Sendable {
  /// The time from the end of the packet until which a request must begin.
  package let length: TimeSpan
  /// The PDU types of requests: bit n for the type n · Vol 6, Part B, 2.3. The device does not react to others.
  package let requestTypes: UInt16

  package init(length: TimeSpan, requestTypes: UInt16) {
    self.length = length
    self.requestTypes = requestTypes
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
    /// The longest duration of an advertising event without a request, from the start of its first packet to the end of
    /// its last, or of the request window after it.
    let span: TimeSpan
    let requestWindow: RequestWindow?
    /// The air time of one packet.
    private let airTime: TimeSpan
    /// The number of packets of the current event that have begun; −1 if the engine does not advertise for this device.
    fileprivate(set) var begun: Int8
    /// The ends of the request windows of the current event, first to last.
    fileprivate(set) var windowEnds = WindowEnds()
    /// The duration of these windows together.
    fileprivate var listeningTime = TimeSpan.zero
    /// The start of the request window in progress.
    fileprivate var windowStart = Instant.zero

    /// True if the next packet is the first one of an event.
    var isBetweenEvents: Bool { begun == 0 }
    /// The channel of the next packet.
    var channel: RadioChannel { channels[Int(begun)] }
    /// The channel of the packet in progress, or of the request window after it.
    var currentChannel: RadioChannel { channels[Int(begun) - 1] }

    /// The event that has ended at `now`.
    func packets(endedAt now: Instant) -> SkippedPackets {
      SkippedPackets(
        count: channels.count, airTime: airTime * Int64(channels.count), listeningTime: listeningTime, power: power,
        end: now)
    }

    fileprivate init(_ repeatedAdvertising: RepeatedAdvertising) {
      channels = repeatedAdvertising.channels
      modulation = repeatedAdvertising.modulation
      power = repeatedAdvertising.power
      pause = repeatedAdvertising.pause
      until = repeatedAdvertising.until ?? .distantFuture
      airTime = repeatedAdvertising.packet.airTime(modulation)
      requestWindow = repeatedAdvertising.requestWindow
      let packets = Int64(channels.count)
      // A packet that begins within a request window is received to its end.
      let window = requestWindow.map { $0.length + Self.longestPacket } ?? .zero
      span = (airTime + window) * packets + pause * (packets - 1)
      begun = 0
    }

    fileprivate init() {
      (channels, modulation, power) = (.all, .le1M, Decibel(0))
      (pause, span, until, begun) = (.zero, .zero, .zero, -1)
      (airTime, requestWindow) = (.zero, nil)
    }

    /// The duration of the longest packet on LE 1M, 2,120 µs · Vol 6, Part B, 4.5.10.
    private static let longestPacket = Modulation.le1M.airTime(payloadOctets: 255)
  }

  /// The ends of up to three request windows.
  struct WindowEnds {
    private var first = Instant.zero
    private var second = Instant.zero
    private var third = Instant.zero
    private var count: Int8 = 0

    fileprivate mutating func append(_ end: Instant) {
      switch count {
      case 0: first = end
      case 1: second = end
      default: third = end
      }
      count += 1
    }

    /// Removes and returns the first end; nil: there is none.
    mutating func popFirst() -> Instant? {
      guard count > 0 else { return nil }
      defer { (first, second, count) = (second, third, count - 1) }
      return first
    }
  }

  private var all: ContiguousArray<ScheduledAdvertiser> = []
  private var packets: ContiguousArray<AirPacket?> = []

  var indices: Range<Int> { all.indices }

  func contains(_ index: Int) -> Bool { index < all.count && all[index].begun >= 0 }

  /// The advertising of a device for which `contains` returns true.
  subscript(index: Int) -> ScheduledAdvertiser { all[index] }

  /// The packet of a device's advertising; nil if the engine does not advertise for the device.
  func packet(_ index: Int) -> AirPacket? { packets[index] }

  mutating func begin(_ index: Int, _ repeatedAdvertising: RepeatedAdvertising) {
    while all.count <= index {
      all.append(ScheduledAdvertiser())
      packets.append(nil)
    }
    all[index] = ScheduledAdvertiser(repeatedAdvertising)
    packets[index] = repeatedAdvertising.packet
  }

  /// Ends the advertising on behalf of a device. If an advertising event is in progress, returns the ends of its request
  /// windows so far.
  mutating func end(_ index: Int) -> WindowEnds? {
    defer {
      all[index].begun = -1
      packets[index] = nil
    }
    return all[index].begun > 0 ? all[index].windowEnds : nil
  }

  /// Starts the next packet of the event, and returns it.
  mutating func takePacket(_ index: Int) -> AirPacket? {
    all[index].begun += 1
    return packets[index]
  }

  /// Records the start of a request window, after the end of a packet. Returns the end of the window; nil if the device
  /// does not listen.
  mutating func beginWindow(_ index: Int, at now: Instant) -> Instant? {
    guard let window = all[index].requestWindow else { return nil }
    all[index].windowStart = now
    return now + window.length
  }

  /// Records the end of a request window.
  mutating func endWindow(_ index: Int, at now: Instant) {
    all[index].windowEnds.append(now)
    all[index].listeningTime += now - all[index].windowStart
  }

  /// Returns true if the device must handle a packet that it has received in a request window.
  func isRequest(_ packet: AirPacket, to index: Int) -> Bool {
    guard let window = all[index].requestWindow else { return true }
    return window.requestTypes >> (packet.header & 0b1111) & 1 == 1
  }

  /// Returns the time to the start of the event's next packet; nil if the event has ended. Called at the end of a packet
  /// or of the request window after it.
  func pause(_ index: Int) -> TimeSpan? {
    Int(all[index].begun) < all[index].channels.count ? all[index].pause : nil
  }

  /// Ends the event, and returns its packets.
  mutating func endEvent(_ index: Int, at now: Instant) -> SkippedPackets {
    let packets = all[index].packets(endedAt: now)
    all[index].begun = 0
    all[index].windowEnds = WindowEnds()
    all[index].listeningTime = .zero
    return packets
  }
}
