/// A pattern for the transmissions that a fault affects. It matches the content before encryption.
public struct AirMatch: Hashable, Sendable {
  /// The content of a transmission.
  public enum Content: Hashable, Sendable {
    /// Any content.
    case anything
    /// A PDU on an advertising physical channel with this PDU_Type (Vol 6, Part B, 2.3); nil matches any type.
    case advertising(UInt8? = nil)
    /// An LL Control PDU with this opcode (Vol 6, Part B, 2.4.2); nil matches any opcode.
    case control(UInt8? = nil)
    /// The first fragment of an L2CAP frame on the channel with this CID (Vol 3, Part A, 2.1).
    case channel(UInt16)
    /// The first fragment of an ATT PDU with this opcode (Vol 3, Part F, 3.4.8) and attribute handle; nil matches any
    /// PDU. A handle matches only PDUs that refer to exactly one attribute.
    case attribute(opcode: UInt8? = nil, handle: UInt16? = nil)
    /// An empty data PDU, which only acknowledges.
    case empty
  }

  /// The content to match.
  public var content: Content
  /// The name of the sending device; nil matches any.
  public var sender: String?
  /// The name of the receiving device; nil matches any. With a receiver, a fault affects only the reception by that
  /// device. It counts the packets that the device's radio locked onto, even those that it misses or receives with a
  /// wrong CRC without the fault.
  public var receiver: String?

  /// Creates a pattern for transmissions with this content between these devices.
  public init(_ content: Content, from sender: String? = nil, to receiver: String? = nil) {
    self.content = content
    self.sender = sender
    self.receiver = receiver
  }

  /// Matches every transmission.
  public static let anything = AirMatch(.anything)
  /// Returns a pattern for every transmission of this device.
  public static func from(_ sender: String) -> AirMatch { AirMatch(.anything, from: sender) }
  /// Matches CONNECT_IND · Vol 6, Part B, 2.3.3.1.
  public static let connectIndications = AirMatch(.advertising(0b0101))
  /// Returns a pattern for Handle Value Notifications of this attribute; nil matches any · Vol 3, Part F, 3.4.7.1.
  public static func notifications(of handle: UInt16? = nil, from sender: String? = nil) -> AirMatch {
    AirMatch(.attribute(opcode: 0x1B, handle: handle), from: sender)
  }
  /// Returns a pattern for LL Control PDUs with this opcode; nil matches any.
  public static func control(_ opcode: UInt8? = nil, from sender: String? = nil) -> AirMatch {
    AirMatch(.control(opcode), from: sender)
  }
}

/// A pattern for the packets between hosts and controllers that a fault affects.
public struct HCIMatch: Hashable, Sendable {
  /// The content of an HCI packet.
  public enum Content: Hashable, Sendable {
    /// Any content.
    case anything
    /// A command with this opcode; nil matches any · Vol 4, Part E, 5.4.1.
    case command(UInt16? = nil)
    /// An event with this code and, for an LE Meta event, this subevent code; nil matches any · Vol 4, Part E, 5.4.4.
    case event(UInt8? = nil, subevent: UInt8? = nil)
    /// ACL data · Vol 4, Part E, 5.4.2.
    case data
  }

  /// The direction of an HCI packet.
  public enum Direction: String, Hashable, Sendable, Codable {
    case toController, toHost
  }

  /// The content to match.
  public var content: Content
  /// The name of the device; nil matches any.
  public var device: String?
  /// The direction to match; nil matches both.
  public var direction: Direction?

  /// Creates a pattern for packets of this device with this content and direction.
  public init(_ content: Content, on device: String? = nil, direction: Direction? = nil) {
    self.content = content
    self.device = device
    self.direction = direction
  }

  /// Matches every packet.
  public static let anything = HCIMatch(.anything)
}
