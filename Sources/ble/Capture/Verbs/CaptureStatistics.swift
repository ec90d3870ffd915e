import BluetoothDissection
import BluetoothTypes
import BluetoothWire
import Foundation

/// The sums over the packets of a capture, by interface, channel and connection.
struct CaptureStatistics {
  /// The packets of an interface.
  struct Interface {
    let interface: CaptureInterface
    var packets = 0
    var octets = 0
    var dropped: UInt64 = 0
  }

  /// The packets of a channel.
  struct Channel {
    var advertising = 0
    var data = 0
    var octets = 0
    var retransmissions = 0
    var lost = 0
    /// Nanoseconds.
    var airTime: Int64 = 0
  }

  /// The packets of a connection in one direction.
  struct Direction {
    var packets = 0
    /// The octets of the payloads, without those of retransmissions and of LL Control PDUs.
    var octets = 0
    var retransmissions = 0
    /// The packets that their receiver did not receive, as far as the capture tells it.
    var lost = 0
  }

  /// A connection on the air, or of a host.
  struct Connection {
    let interface: CaptureInterface
    let number: UInt32
    /// The initiator's and the advertiser's address on the air; the peer's in HCI.
    var addresses: [DeviceAddress] = []
    /// The connection intervals, in the order in which they were set, in units of 1.25 ms.
    var intervals: [UInt16] = []
    var latency: UInt16?
    var timeout: UInt16?
    var phys: [String] = []
    var toPeripheral = Direction()
    var toCentral = Direction()
    /// The connection events in which the central has transmitted.
    var events = 0
    /// The events in which no packet of the peripheral was captured.
    var unanswered = 0
    var isEncrypted = false
    var endReason: HCIErrorCode?
    /// Nanoseconds.
    var start: Int64
    var end: Int64

    fileprivate var lastPacketEnd: Int64?
    fileprivate var lastChannel: UInt8?
    fileprivate var hasAnswer = true

    /// The duration in seconds.
    var duration: Double { Double(end - start) / 1e9 }

    /// Octets of a direction as bits per second of the connection.
    func throughput(_ direction: Direction) -> Double { duration > 0 ? Double(8 * direction.octets) / duration : 0 }
  }

  private(set) var interfaces: [Interface] = []
  private(set) var channels: [UInt8: Channel] = [:]
  private(set) var connections: [Connection] = []
  private(set) var packets = 0
  private(set) var octets = 0
  /// Nanoseconds; nil: no packets.
  private(set) var start: Int64?
  private(set) var end: Int64 = 0
  /// The number of connections after the first ones, which alone are described. An access address in a damaged packet
  /// looks like another connection.
  private(set) var omittedConnections = 0
  private var lastOmitted = 0
  private static let maximumConnections = 1 << 16
  /// The indices in `connections`, by the numbers of the links.
  private var current: [Int: Int] = [:]

  /// The pause after which a packet begins another connection event, in nanoseconds. Within an event, packets follow
  /// after T_IFS, 150 µs.
  private static let eventPause: Int64 = 1_000_000

  /// The indices in `interfaces`.
  private var positions: [CaptureInterface: Int] = [:]

  mutating func add(_ interface: CaptureInterface) {
    positions[interface] = interfaces.count
    interfaces.append(Interface(interface: interface))
  }

  /// Takes the number of packets dropped on an interface since the capture began; a later block has a later count.
  mutating func set(dropped count: UInt64, on interface: CaptureInterface) {
    update(interface) { $0.dropped = count }
  }

  private mutating func update(_ interface: CaptureInterface, _ change: (inout Interface) -> Void) {
    guard let index = positions[interface] else { return }
    change(&interfaces[index])
  }

  /// Adds the next packet.
  mutating func add(_ packet: CapturedPacket, _ description: PacketDescription) {
    packets += 1
    octets += packet.originalLength
    start = min(start ?? packet.time, packet.time)
    end = max(end, packet.time + description.airTime)
    update(packet.interface) {
      $0.packets += 1
      $0.octets += packet.originalLength
    }
    if let channel = description.channel {
      channels[channel, default: Channel()].add(description)
    }
    follow(description)
  }

  private mutating func follow(_ packet: PacketDescription) {
    guard let number = packet.connection, let link = packet.link else { return }
    let index: Int
    if let known = current[link] {
      index = known
    } else {
      guard connections.count < Self.maximumConnections else {
        if link > lastOmitted { (lastOmitted, omittedConnections) = (link, omittedConnections + 1) }
        return
      }
      index = connections.count
      connections.append(
        Connection(
          interface: packet.interface, number: number, addresses: packet.addresses, start: packet.time, end: packet.time
        )
      )
      current[link] = index
    }
    connections[index].add(packet, pause: Self.eventPause)
  }
}

extension CaptureStatistics.Channel {
  fileprivate mutating func add(_ packet: PacketDescription) {
    if packet.content == .advertising { advertising += 1 } else { data += 1 }
    octets += packet.payloadLength
    airTime += packet.airTime
    if packet.isRetransmission { retransmissions += 1 }
    if packet.isLost { lost += 1 }
  }
}

extension CaptureStatistics.Connection {
  fileprivate mutating func add(_ packet: PacketDescription, pause: Int64) {
    end = max(end, packet.time + packet.airTime)
    if let timing = packet.timing {
      if intervals.last != timing.interval { intervals.append(timing.interval) }
      (latency, timeout) = (timing.latency, timing.timeout)
    }
    if packet.isEncrypted { isEncrypted = true }
    if let reason = packet.endReason { endReason = reason }
    // CONNECT_IND, commands and events are not packets of the connection.
    guard packet.content != .advertising, packet.content != .command, packet.content != .event else { return }
    if let phy = packet.phy, phys.last != phy { phys.append(phy) }
    switch packet.direction {
    case .toPeripheral?, .toController?: toPeripheral.add(packet)
    case .toCentral?, .toHost?: toCentral.add(packet)
    case nil: break
    }
    guard packet.interface.link.isAir else { return }
    let isNewEvent =
      lastChannel != packet.channel || lastPacketEnd.map { packet.time - $0 > pause } ?? true
    if isNewEvent {
      if !hasAnswer { unanswered += 1 }
      events += 1
      hasAnswer = false
    }
    if packet.direction == .toCentral { hasAnswer = true }
    lastChannel = packet.channel
    lastPacketEnd = packet.time + packet.airTime
  }
}

extension CaptureStatistics.Direction {
  fileprivate mutating func add(_ packet: PacketDescription) {
    packets += 1
    if packet.isLost { lost += 1 }
    if packet.isRetransmission { retransmissions += 1 } else if packet.content != .ll { octets += packet.payloadLength }
  }
}

// MARK: Receptions

extension PacketDescription {
  /// A reception that a capture of a world tells in a comment: `sensor → phone corrupt -89 dBm, tablet -60 dBm`.
  struct Reception {
    var receiver: String
    var level: Int
    var isIntact: Bool
  }

  /// The levels of receptions, in dBm. Another program can have written any number in the comment, and a picture has an
  /// axis with numbers for all of them.
  private static let levels = -1_000...1_000

  /// The receptions of the packet; nil: the capture does not tell them.
  var receptions: [Reception]? {
    guard interface.link.isAir, let comment = comments.first(where: { $0.contains(" → ") }),
      let arrow = comment.range(of: " → ")
    else { return nil }
    let list = comment[arrow.upperBound...]
    if list == "nobody" { return [] }
    return list.components(separatedBy: ", ").compactMap { text in
      var words = text.split(separator: " ")
      guard words.count >= 3, words.removeLast() == "dBm", let level = Int(words.removeLast()),
        Self.levels.contains(level)
      else { return nil }
      let isIntact = words.last != "corrupt" && words.last != "missed"
      if !isIntact { words.removeLast() }
      return Reception(receiver: words.joined(separator: " "), level: level, isIntact: isIntact)
    }
  }

  /// True if the capture tells that no device has received the packet intact. An advertiser has no certain receiver, so
  /// its packets are not lost.
  var isLost: Bool {
    if hasWrongCRC { return true }
    guard content != .advertising, let receptions else { return false }
    return !receptions.contains(where: \.isIntact)
  }

  /// The received level in dBm; nil: not known.
  var level: Int? {
    guard let receptions else { return comments.isEmpty ? power : nil }
    return receptions.filter(\.isIntact).map(\.level).max()
  }
}
