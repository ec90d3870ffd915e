import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// The properties of a link to a peripheral.
public struct LinkProperties: Hashable, Sendable {
  /// The connection parameters.
  public let connectionParameters: ConnectionParameters
  /// The PHY on which this device transmits.
  public let transmitPHY: PHY
  /// The PHY on which this device receives.
  public let receivePHY: PHY
  /// The maximum length of the packets that this device transmits.
  public let transmitDataLength: DataLength
  /// The maximum length of the packets that this device receives.
  public let receiveDataLength: DataLength
  /// ATT_MTU, the maximum length of an ATT PDU in octets, 23 to 517. This device requests the largest one as soon as
  /// the link exists; the protocol permits one request on a link · Vol 3, Part F, 3.4.2.
  public let maximumTransmissionUnit: Int
  /// The encryption of the link.
  public let security: LinkSecurity

  init(_ info: LinkInfo) {
    connectionParameters = ConnectionParameters(info.properties.values)
    transmitPHY = PHY(info.properties.transmitPHY)
    receivePHY = PHY(info.properties.receivePHY)
    transmitDataLength = DataLength(info.properties.transmitLength)
    receiveDataLength = DataLength(info.properties.receiveLength)
    maximumTransmissionUnit = info.mtu
    security = LinkSecurity(info.security)
  }
}

/// A physical layer · Vol 6, Part A, 1.
public enum PHY: Hashable, Sendable, CaseIterable, CustomStringConvertible {
  /// 1 Mbit/s, which every device has.
  case le1M
  /// 2 Mbit/s.
  case le2M
  /// 500 or 125 kbit/s, for long distances.
  case leCoded

  /// The specification's name, such as "LE 2M".
  public var description: String {
    switch self {
    case .le1M: "LE 1M"
    case .le2M: "LE 2M"
    case .leCoded: "LE Coded"
    }
  }

  init(_ phy: HCI.PHYs) { self = phy == .le2M ? .le2M : phy == .leCoded ? .leCoded : .le1M }

  var wire: HCI.PHYs {
    switch self {
    case .le1M: .le1M
    case .le2M: .le2M
    case .leCoded: .leCoded
    }
  }
}

/// The coding on LE Coded · Vol 6, Part B, 3.3.
public enum CodingScheme: Hashable, Sendable {
  /// Two symbols for a bit: 500 kbit/s.
  case s2
  /// Eight symbols for a bit: 125 kbit/s.
  case s8
}

/// The maximum length of the packets in one direction of a link · Vol 6, Part B, 4.5.10.
public struct DataLength: Hashable, Sendable {
  /// The maximum number of octets in a packet, 27 to 251.
  public let octets: Int
  /// The maximum time of a packet on the air, 328 to 17,040 µs.
  public let time: Duration

  /// Creates a length. The default time permits each number of octets on each PHY.
  public init(octets: Int, time: Duration = .microseconds(17_040)) {
    self.octets = octets
    self.time = time
  }

  /// The largest length: 251 octets.
  public static let maximum = DataLength(octets: 251)

  init(_ length: HCI.DataLength) {
    self.init(octets: Int(length.octets), time: .microseconds(Int(length.time)))
  }

  /// The form for the controller; nil: a value is out of its range.
  var wire: HCI.DataLength? {
    guard 27...251 ~= octets, let time = time.steps(of: .microseconds(1), roundedUp: false), 328...17_040 ~= time else {
      return nil
    }
    return HCI.DataLength(octets: UInt16(octets), time: time)
  }
}

/// The encryption of a link · Vol 3, Part C, 10.2.1.
public struct LinkSecurity: Hashable, Sendable {
  /// True if the link is encrypted.
  public let isEncrypted: Bool
  /// True if the key was generated with protection against a man in the middle.
  public let isAuthenticated: Bool
  /// The length of the key in octets, 7 to 16; 0: the link is not encrypted.
  public let keySize: Int
  /// True if the key is that of a bond, which proves that the peripheral is the bonded device.
  public let isBonded: Bool

  init(_ security: HostLinkSecurity) {
    isEncrypted = security.level != .none
    isAuthenticated = security.level == .authenticated
    keySize = Int(security.keySize)
    isBonded = security.isBonded
  }
}

/// The bond of this device and a peripheral.
public struct Bond: Hashable, Sendable {
  /// True if the devices have paired with LE Secure Connections, false with LE legacy pairing.
  public let isSecureConnections: Bool
  /// True if the keys were generated with protection against a man in the middle.
  public let isAuthenticated: Bool
  /// The length of the keys in octets, 7 to 16.
  public let keySize: Int

  init(_ info: BondInfo) {
    isSecureConnections = info.isSecureConnections
    isAuthenticated = info.isAuthenticated
    keySize = info.keySize
  }
}
