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
    /// The retransmissions of packets that are not empty.
    var retransmissions = 0
    /// The packets that their receiver did not receive, as far as the capture tells it, apart from skipped ones.
    var lost = 0
  }

  /// The result of a transmission, as far as the capture tells it.
  enum Fate {
    case received
    /// The peripheral did not listen, as the latency of the connection permits.
    case skipped
    case lost
  }

  /// The attempts of a central to connect to a peripheral.
  struct Attempts: Hashable {
    let interface: CaptureInterface
    /// The initiator's and the advertiser's address.
    let addresses: [DeviceAddress]
    /// The connection requests: CONNECT_IND or AUX_CONNECT_REQ.
    var count = 0
    /// The requests that the peripheral did not receive.
    var lostRequests = 0
    /// The other requests that no packet of the peripheral followed.
    var unanswered = 0

    var failed: Int { lostRequests + unanswered }
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
    /// The events without a packet of the peripheral that the latency permits it to skip.
    var skipped = 0
    /// The other events in which no packet of the peripheral was captured.
    var unanswered = 0
    var isEncrypted = false
    var endReason: HCIErrorCode?
    /// Nanoseconds.
    var start: Int64
    var end: Int64

    /// False if the peripheral has not received the connection request; nil: the beginning was not captured.
    fileprivate var hasRequest: Bool?
    fileprivate var lastPacketEnd: Int64?
    fileprivate var lastChannel: UInt8?
    fileprivate var hasAnswer = true
    /// True if the peripheral has listened in the present event, whether or not it has received the packet.
    fileprivate var isAttended = false
    /// The number of successive events before the present one in which the peripheral has not transmitted.
    fileprivate var silentEvents = 0
    /// The latency before an update, which may count until this event.
    fileprivate var formerLatency: (value: UInt16, until: Int) = (0, 0)

    /// The duration in seconds.
    var duration: Double { Double(end - start) / 1e9 }

    /// Octets of a direction as bits per second of the connection.
    func throughput(_ direction: Direction) -> Double { duration > 0 ? Double(8 * direction.octets) / duration : 0 }
  }

  private(set) var interfaces: [Interface] = []
  private(set) var channels: [UInt8: Channel] = [:]
  private var allConnections: [Connection] = []
  /// The names of devices that a capture of a world tells, by their addresses.
  private(set) var names: [DeviceAddress: String] = [:]
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
  /// The indices in `allConnections`, by the numbers of the links.
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

  /// The connections that were established, or of which the beginning was not captured.
  var connections: [Connection] { allConnections.filter { !isFailedAttempt($0) } }

  /// The numbers of the links that were not established.
  var failedLinks: Set<Int> {
    Set(current.filter { isFailedAttempt(allConnections[$0.value]) }.keys)
  }

  /// The attempts to connect, by pair of devices, in the order of the first attempts.
  var attempts: [Attempts] {
    var result: [Attempts] = []
    // The hosts of a capture of a world report the same attempts again.
    let hasAir = allConnections.contains { $0.interface.link.isAir }
    for connection in allConnections where connection.interface.link.isAir == hasAir {
      guard let wasReceived = connection.hasRequest else { continue }
      let place =
        result.firstIndex { $0.interface == connection.interface && $0.addresses == connection.addresses }
        ?? result.count
      if place == result.count {
        result.append(Attempts(interface: connection.interface, addresses: connection.addresses))
      }
      result[place].count += 1
      guard isFailedAttempt(connection) else { continue }
      if wasReceived { result[place].unanswered += 1 } else { result[place].lostRequests += 1 }
    }
    return result
  }

  /// A central gives up after six intervals without a packet of the peripheral · Vol 6, Part B, 4.5.2.
  private static let establishmentEvents = 6

  private func isFailedAttempt(_ connection: Connection) -> Bool {
    guard connection.interface.link.isAir else { return connection.endReason == .connectionFailedToBeEstablished }
    guard connection.hasRequest != nil, connection.toCentral.packets == connection.toCentral.lost,
      connection.events <= Self.establishmentEvents, let interval = connection.intervals.last
    else { return false }
    // Units of 1.25 ms. An attempt that the end of the capture cuts off has not failed.
    return end - connection.end > Int64(interval) * 1_250_000 * 2
  }

  /// Returns the names of devices, or nil if the capture does not tell all of them.
  func names(of addresses: [DeviceAddress]) -> [String]? {
    let known = addresses.compactMap { names[$0] }
    return known.count == addresses.count && !known.isEmpty ? known : nil
  }

  /// Adds the next packet.
  ///
  /// - Returns: the result of its transmission.
  @discardableResult
  mutating func add(_ packet: CapturedPacket, _ description: PacketDescription) -> Fate {
    packets += 1
    octets += packet.originalLength
    start = min(start ?? packet.time, packet.time)
    end = max(end, packet.time + description.airTime)
    update(packet.interface) {
      $0.packets += 1
      $0.octets += packet.originalLength
    }
    noteName(description)
    let fate = follow(description)
    if let channel = description.channel {
      channels[channel, default: Channel()].add(description, fate)
    }
    return fate
  }

  /// Takes the name of a packet's sender.
  private mutating func noteName(_ packet: PacketDescription) {
    // The addresses of a connection are those of CONNECT_IND: the initiator's and the advertiser's.
    let address =
      switch packet.direction {
      case _ where packet.content == .advertising && packet.timing == nil: packet.advertising.first?.address
      case .toPeripheral?, nil: packet.addresses.first
      case .toCentral?: packet.addresses.dropFirst().first
      case .toHost?, .toController?: nil as DeviceAddress?
      }
    guard let address, names[address] == nil, let sender = packet.sender else { return }
    names[address] = sender
  }

  private mutating func follow(_ packet: PacketDescription) -> Fate {
    let fate: Fate = packet.isLost ? .lost : .received
    guard let number = packet.connection, let link = packet.link else { return fate }
    let isAir = packet.interface.link.isAir
    // A periodic advertising train has an access address, and is no connection.
    guard !isAir || packet.content != .advertising || packet.timing != nil else { return fate }
    let begins =
      !isAir && packet.content == .event && packet.timing != nil && packet.name.hasSuffix("Connection Complete")
    let index: Int
    if let known = current[link] {
      index = known
    } else {
      guard isAir || begins || packet.endReason == nil else { return fate }
      guard allConnections.count < Self.maximumConnections else {
        if link > lastOmitted { (lastOmitted, omittedConnections) = (link, omittedConnections + 1) }
        return fate
      }
      index = allConnections.count
      allConnections.append(
        Connection(
          interface: packet.interface, number: number, addresses: packet.addresses, start: packet.time, end: packet.time
        )
      )
      current[link] = index
    }
    if begins { allConnections[index].hasRequest = true }
    if isAir, packet.content == .advertising {
      let peripheral = packet.addresses.last.flatMap { names[$0] }
      allConnections[index].hasRequest = !packet.isLost && packet.isReceived(by: peripheral) ?? true
    }
    return allConnections[index].add(
      packet, fate, peripheral: packet.addresses.last.flatMap { names[$0] }, pause: Self.eventPause)
  }
}

extension CaptureStatistics.Channel {
  fileprivate mutating func add(_ packet: PacketDescription, _ fate: CaptureStatistics.Fate) {
    if packet.content == .advertising { advertising += 1 } else { data += 1 }
    octets += packet.payloadLength
    airTime += packet.airTime
    if packet.repeatsData { retransmissions += 1 }
    if fate == .lost { lost += 1 }
  }
}

extension CaptureStatistics.Connection {
  /// Adds a packet and returns the result of its transmission.
  ///
  /// - Parameters:
  ///   - fate: the result apart from the latency of the connection.
  ///   - peripheral: the name of the peripheral; nil: not known.
  fileprivate mutating func add(
    _ packet: PacketDescription, _ fate: CaptureStatistics.Fate, peripheral: String?, pause: Int64
  ) -> CaptureStatistics.Fate {
    end = max(end, packet.time + packet.airTime)
    if let timing = packet.timing { set(timing) }
    if packet.isEncrypted { isEncrypted = true }
    if let reason = packet.endReason { endReason = reason }
    // CONNECT_IND, commands and events are not packets of the connection.
    guard packet.content != .advertising, packet.content != .command, packet.content != .event else { return fate }
    if let phy = packet.phy, phys.last != phy { phys.append(phy) }
    var fate = fate
    if packet.interface.link.isAir {
      let isNewEvent =
        lastChannel != packet.channel || lastPacketEnd.map { packet.time - $0 > pause } ?? true
      if isNewEvent { beginEvent() }
      let hasListener = packet.isAttended(by: peripheral)
      if packet.direction == .toPeripheral, fate == .lost, hasListener == false, !hasAnswer,
        silentEvents < permittedSilence
      {
        fate = .skipped
      }
      if packet.direction == .toPeripheral, hasListener == true { isAttended = true }
      if packet.direction == .toCentral { hasAnswer = true }
      lastChannel = packet.channel
      lastPacketEnd = packet.time + packet.airTime
    }
    switch packet.direction {
    case .toPeripheral?, .toController?: toPeripheral.add(packet, fate)
    case .toCentral?, .toHost?: toCentral.add(packet, fate)
    case nil: break
    }
    return fate
  }

  private mutating func set(_ timing: (interval: UInt16, latency: UInt16, timeout: UInt16)) {
    if intervals.last != timing.interval { intervals.append(timing.interval) }
    if let latency, latency != timing.latency {
      // An update takes effect after at least six events that the peripheral attends · Vol 6, Part B, 5.1.1.
      formerLatency = (latency, events + 7 * (Int(latency) + 1))
    }
    (latency, timeout) = (timing.latency, timing.timeout)
  }

  /// The number of successive events that the peripheral may skip.
  private var permittedSilence: Int {
    guard toCentral.packets > 0 else { return 0 }
    let latency = latency ?? 0
    return Int(events <= formerLatency.until ? max(latency, formerLatency.value) : latency)
  }

  /// Ends an event and begins the next one.
  private mutating func beginEvent() {
    if hasAnswer {
      silentEvents = 0
    } else if !isAttended, silentEvents < permittedSilence {
      skipped += 1
      silentEvents += 1
    } else {
      unanswered += 1
      silentEvents = .max
    }
    events += 1
    hasAnswer = false
    isAttended = false
  }
}

extension CaptureStatistics.Direction {
  fileprivate mutating func add(_ packet: PacketDescription, _ fate: CaptureStatistics.Fate) {
    packets += 1
    if fate == .lost { lost += 1 }
    if packet.repeatsData { retransmissions += 1 }
    if !packet.isRetransmission, packet.content != .ll { octets += packet.payloadLength }
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

  /// The comment of a capture of a world: the sender, and the list of receivers.
  private var transmission: (sender: Substring, receivers: Substring)? {
    guard interface.link.isAir, let comment = comments.first(where: { $0.contains(" → ") }),
      let arrow = comment.range(of: " → ")
    else { return nil }
    return (comment[..<arrow.lowerBound], comment[arrow.upperBound...])
  }

  /// The name of the device that has transmitted the packet; nil: not known.
  var sender: String? {
    transmission.flatMap { $0.sender == "fault: injected" ? nil : String($0.sender) }
  }

  /// The receptions of the packet; nil: the capture does not tell them.
  var receptions: [Reception]? {
    guard let list = transmission?.receivers else { return nil }
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

  /// Returns true if a device has received the packet intact; nil: the capture does not tell, or the device has no name.
  func isReceived(by name: String?) -> Bool? {
    guard let name, let receptions else { return nil }
    return receptions.contains { $0.receiver == name && $0.isIntact }
  }

  /// Returns true if a device has listened to the packet, whether or not it has received it; nil: the capture does not
  /// tell.
  func isAttended(by name: String?) -> Bool? {
    guard let receptions else { return nil }
    return receptions.contains { name == nil || $0.receiver == name }
  }

  /// True if the packet repeats one that is not empty. An empty packet is repeated until it is acknowledged, too, which
  /// loses nothing.
  var repeatsData: Bool { isRetransmission && payloadLength > 0 }

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
