/// What a radio is used for.
public enum RadioPurpose: String, Hashable, Sendable, Codable, CaseIterable, CodingKeyRepresentable {
  /// Advertising, and listening to those who answer it.
  case advertising
  /// Listening to advertisers, asking them, and connecting to them.
  case scanning
  /// Connections.
  case connections
}

/// What a device has done: from when it was added, or between two snapshots.
public struct DeviceStatistics: Hashable, Sendable, Codable {
  /// What a radio has done for one purpose.
  public struct Use: Hashable, Sendable, Codable {
    /// Time spent listening, whether something came or not.
    public var receiving: Duration = .zero
    /// Time spent sending, by power in whole dBm.
    public var transmitting: [Int: Duration] = [:]

    /// No time.
    public init() {}
  }

  /// Packets and their time on the air.
  public struct Traffic: Hashable, Sendable, Codable {
    /// All packets, with what was sent again.
    public var packets = 0
    /// Their time on the air.
    public var airTime: Duration = .zero

    /// No packet.
    public init() {}
  }

  /// The device.
  public var name: String
  /// The time that this is about.
  public var time: Duration
  /// What it has sent.
  public var transmitted = Traffic()
  /// How many packets it has received without a wrong bit.
  public var receivedPackets = 0
  /// How many packets it has received with a wrong CRC.
  public var crcErrors = 0
  /// How many packets it has heard the beginning of, but not their access address.
  public var missedPackets = 0
  /// What its radio was used for.
  public var uses: [RadioPurpose: Use] = [:]
  /// Its connections, in the order in which they came about, those that have ended first: of these the latest 64.
  public var links: [LinkStatistics] = []
  /// What its chip draws.
  public var chip = CurrentProfile.modern
  /// Its battery.
  public var cell = Cell.cr2032

  /// Nothing, in no time.
  public init(name: String, time: Duration = .zero) {
    self.name = name
    self.time = time
  }

  /// Time spent listening.
  public var receiving: Duration { uses.values.reduce(.zero) { $0 + $1.receiving } }
  /// Time spent sending.
  public var transmitting: Duration { uses.values.reduce(.zero) { $0 + $1.transmitting.values.reduce(.zero, +) } }
  /// All other time.
  public var sleeping: Duration { time - receiving - transmitting }

  /// Packets that it sent again, on the connections in `links`.
  public var retransmissions: Int { links.reduce(0) { $0 + $1.retransmissions } }
  /// Connection events that came while its radio was used for something else, of the connections in `links`.
  public var missedEvents: Int { links.reduce(0) { $0 + $1.missedEvents } }
  /// Octets that it sent on the connections in `links`, in bits per second of the whole time.
  public var throughputSent: Double { throughput(\.sent) }
  /// Octets that it received on the connections in `links`, in bits per second of the whole time.
  public var throughputReceived: Double { throughput(\.received) }

  private func throughput(_ direction: KeyPath<LinkStatistics, LinkStatistics.Direction>) -> Double {
    time > .zero ? Double(8 * links.reduce(0) { $0 + $1[keyPath: direction].octets }) / time.seconds : 0
  }
}

/// What has happened on one connection, as one of its devices saw it.
public struct LinkStatistics: Hashable, Sendable, Codable {
  /// Packets of one direction.
  public struct Direction: Hashable, Sendable, Codable {
    /// With what was sent more than once, and with packets without data.
    public var packets = 0
    /// Octets of data and of LL Control PDUs; what was sent again is not counted again.
    public var octets = 0
    /// Time on the air.
    public var airTime: Duration = .zero

    /// Nothing.
    public init() {}
  }

  /// Which connection it is: both its devices have the same number.
  public var number: UInt32
  /// The name of the device at the other end; nil: it is not known.
  public var peer: String?
  /// Whether this device is the central.
  public var isCentral: Bool
  /// Whether the connection is still there.
  public var isConnected: Bool
  /// What this device has sent.
  public var sent = Direction()
  /// What this device has received, without what had a wrong CRC.
  public var received = Direction()
  /// Packets that this device sent again.
  public var retransmissions = 0
  /// Packets that came with a wrong CRC.
  public var crcErrors = 0
  /// Times that this device listened for the other one and heard nothing.
  public var silences = 0
  /// Connection events in which this device had its radio.
  public var attendedEvents = 0
  /// Connection events that came while its radio was used for something else.
  public var missedEvents = 0
  /// How strong the last packet was, dBm; nil: none came.
  public var rssi: Double?
  /// How strong the packets were on average, dBm; nil: none came.
  public var meanRSSI: Double?
  /// From the first packet to the last one.
  public var time: Duration = .zero

  /// A connection on which nothing has happened.
  public init(number: UInt32, isCentral: Bool, isConnected: Bool = true) {
    self.number = number
    self.isCentral = isCentral
    self.isConnected = isConnected
  }

  /// Octets sent, in bits per second; 0 before the second packet.
  public var throughputSent: Double { time > .zero ? Double(8 * sent.octets) / time.seconds : 0 }
  /// Octets received, in bits per second; 0 before the second packet.
  public var throughputReceived: Double { time > .zero ? Double(8 * received.octets) / time.seconds : 0 }
}
