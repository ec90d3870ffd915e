/// The purpose of radio use.
public enum RadioPurpose: String, Hashable, Sendable, Codable, CaseIterable, CodingKeyRepresentable {
  /// Advertising, including reception of scan and connection requests.
  case advertising
  /// Scanning, including scan requests and connection requests to advertisers.
  case scanning
  /// Connection events.
  case connections
}

/// The activity of a device since it was added, or between two snapshots.
public struct DeviceStatistics: Hashable, Sendable, Codable {
  /// The radio time spent for one purpose.
  public struct Use: Hashable, Sendable, Codable {
    /// The time spent receiving, with or without a packet.
    public var receiving: Duration = .zero
    /// The time spent transmitting, by power in whole dBm.
    public var transmitting: [Int: Duration] = [:]

    /// Creates a record without radio time.
    public init() {}
  }

  /// A number of packets and their time on the air.
  public struct Traffic: Hashable, Sendable, Codable {
    /// The number of packets, including retransmissions.
    public var packets = 0
    /// The packets' time on the air.
    public var airTime: Duration = .zero

    /// Creates a record without packets.
    public init() {}
  }

  /// The name of the device.
  public var name: String
  /// The time that the statistics cover.
  public var time: Duration
  /// The packets transmitted.
  public var transmitted = Traffic()
  /// The number of packets received without a bit error.
  public var receivedPackets = 0
  /// The number of packets received with a wrong CRC.
  public var crcErrors = 0
  /// The number of packets that began at a sufficient level, but whose access address was not detected, or that a fault
  /// suppressed.
  public var missedPackets = 0
  /// The use of the radio, by purpose.
  public var uses: [RadioPurpose: Use] = [:]
  /// The established connections: the latest 64 ended ones in the order of their ends, then the current ones.
  public var links: [LinkStatistics] = []
  /// The attempts to connect to other devices, by peripheral, in the order of the first attempts.
  public var attempts: [ConnectionAttempts] = []
  /// The current consumption of the device's chip.
  public var chip = CurrentProfile.modern
  /// The device's battery.
  public var cell = Cell.cr2032

  /// Creates statistics without activity.
  public init(name: String, time: Duration = .zero) {
    self.name = name
    self.time = time
  }

  /// The time spent receiving, for all purposes.
  public var receiving: Duration { uses.values.reduce(.zero) { $0 + $1.receiving } }
  /// The time spent transmitting, for all purposes.
  public var transmitting: Duration { uses.values.reduce(.zero) { $0 + $1.transmitting.values.reduce(.zero, +) } }
  /// The time spent neither receiving nor transmitting.
  public var sleeping: Duration { time - receiving - transmitting }

  /// The number of attempts to connect that failed.
  public var failedAttempts: Int { attempts.reduce(0) { $0 + $1.failed } }
  /// The number of packets retransmitted on the connections in `links`.
  public var retransmissions: Int { links.reduce(0) { $0 + $1.retransmissions } }
  /// The number of connection events missed because the radio was in use for something else, on the connections in
  /// `links`.
  public var missedEvents: Int { links.reduce(0) { $0 + $1.missedEvents } }
  /// The throughput sent on the connections in `links`, averaged over `time`, in bits per second.
  public var throughputSent: Double { throughput(\.sent) }
  /// The throughput received on the connections in `links`, averaged over `time`, in bits per second.
  public var throughputReceived: Double { throughput(\.received) }

  private func throughput(_ direction: KeyPath<LinkStatistics, LinkStatistics.Direction>) -> Double {
    time > .zero ? Double(8 * links.reduce(0) { $0 + $1[keyPath: direction].octets }) / time.seconds : 0
  }
}

/// The attempts of a central to connect to one peripheral. An attempt is a connection request (CONNECT_IND or
/// AUX_CONNECT_REQ), and succeeds with the first packet of the peripheral on the connection.
public struct ConnectionAttempts: Hashable, Sendable, Codable {
  /// The name of the peripheral; its address if no device of the world has it.
  public var peer: String
  /// The number of connection requests that the central has sent.
  public var count = 0
  /// The number of attempts that failed because the peripheral did not receive the connection request.
  public var lostRequests = 0
  /// The number of attempts that failed although the peripheral received the connection request: no packet of the
  /// peripheral arrived within six connection intervals.
  public var unanswered = 0

  /// Creates a record without attempts.
  public init(peer: String) { self.peer = peer }

  /// The number of attempts that failed.
  public var failed: Int { lostRequests + unanswered }
}

/// The activity on one connection as one of its devices sees it.
public struct LinkStatistics: Hashable, Sendable, Codable {
  /// The packets in one direction.
  public struct Direction: Hashable, Sendable, Codable {
    /// The number of packets, including retransmissions and empty packets.
    public var packets = 0
    /// The number of octets of data and LL Control PDUs, without retransmissions.
    public var octets = 0
    /// The packets' time on the air.
    public var airTime: Duration = .zero

    /// Creates a record without packets.
    public init() {}
  }

  /// The access address of the connection, which identifies it on both its devices.
  public var number: UInt32
  /// The name of the peer device; its address if no device of the world has it.
  public var peer: String
  /// True if this device is the central.
  public var isCentral: Bool
  /// True while the connection exists.
  public var isConnected: Bool
  /// The packets that this device sent.
  public var sent = Direction()
  /// The packets that this device received, without those with a wrong CRC.
  public var received = Direction()
  /// The number of packets that this device retransmitted.
  public var retransmissions = 0
  /// The number of packets received with a wrong CRC.
  public var crcErrors = 0
  /// The number of times that this device listened for its peer and received nothing.
  public var receiveTimeouts = 0
  /// The number of connection events in which this device used its radio.
  public var attendedEvents = 0
  /// The number of connection events missed because the radio was in use for something else.
  public var missedEvents = 0
  /// The RSSI of the last packet, in dBm; nil if none was received.
  public var rssi: Double?
  /// The mean RSSI of the packets, in dBm; nil if none was received.
  public var meanRSSI: Double?
  /// The time from the first packet to the last.
  public var time: Duration = .zero

  /// The keys in JSON.
  private enum CodingKeys: String, CodingKey {
    case number, peer, isCentral, isConnected, sent, received, retransmissions, crcErrors
    case receiveTimeouts = "silences"
    case attendedEvents, missedEvents, rssi, meanRSSI, time
  }

  /// Creates statistics of a connection without activity.
  public init(number: UInt32, peer: String, isCentral: Bool, isConnected: Bool = true) {
    self.number = number
    self.peer = peer
    self.isCentral = isCentral
    self.isConnected = isConnected
  }

  /// The throughput sent, in bits per second; 0 before the second packet.
  public var throughputSent: Double { time > .zero ? Double(8 * sent.octets) / time.seconds : 0 }
  /// The throughput received, in bits per second; 0 before the second packet.
  public var throughputReceived: Double { time > .zero ? Double(8 * received.octets) / time.seconds : 0 }
}
