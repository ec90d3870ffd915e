/// Which transmissions a fault is about. What they carry is looked at before encryption.
public struct AirMatch: Hashable, Sendable {
  /// What a transmission carries.
  public enum Content: Hashable, Sendable {
    /// Whatever it is.
    case anything
    /// A PDU of the advertising physical channels, of this PDU_Type (Vol 6, Part B, 2.3) or (nil) of any.
    case advertising(UInt8? = nil)
    /// An LL Control PDU with this opcode (Vol 6, Part B, 2.4.2) or (nil) with any.
    case control(UInt8? = nil)
    /// The beginning of an L2CAP frame on the channel with this CID (Vol 3, Part A, 2.1).
    case channel(UInt16)
    /// The beginning of an ATT PDU with this opcode (Vol 3, Part F, 3.4.8) and about this attribute's handle; nil: any.
    case attribute(opcode: UInt8? = nil, handle: UInt16? = nil)
    /// A data PDU that carries nothing but acknowledgements.
    case empty
  }

  /// What they carry.
  public var content: Content
  /// The name of the device that sends; nil: any.
  public var sender: String?
  /// The name of the device that hears it; nil: any. A fault with a receiver strikes only what that one hears, and counts
  /// only what it would have heard.
  public var receiver: String?

  /// Transmissions with this content, between these devices.
  public init(_ content: Content, from sender: String? = nil, to receiver: String? = nil) {
    self.content = content
    self.sender = sender
    self.receiver = receiver
  }

  /// Every transmission.
  public static let anything = AirMatch(.anything)
  /// Every transmission of this device.
  public static func from(_ sender: String) -> AirMatch { AirMatch(.anything, from: sender) }
  /// CONNECT_IND · Vol 6, Part B, 2.3.3.1.
  public static let connectIndications = AirMatch(.advertising(0b0101))
  /// Handle Value Notifications of this attribute, or of any · Vol 3, Part F, 3.4.7.1.
  public static func notifications(of handle: UInt16? = nil, from sender: String? = nil) -> AirMatch {
    AirMatch(.attribute(opcode: 0x1B, handle: handle), from: sender)
  }
  /// LL Control PDUs with this opcode, or with any.
  public static func control(_ opcode: UInt8? = nil, from sender: String? = nil) -> AirMatch {
    AirMatch(.control(opcode), from: sender)
  }
}

/// Which packets between hosts and controllers a fault is about.
public struct HCIMatch: Hashable, Sendable {
  /// What a packet is.
  public enum Content: Hashable, Sendable {
    /// Whatever it is.
    case anything
    /// A command with this opcode or (nil) any · Vol 4, Part E, 5.4.1.
    case command(UInt16? = nil)
    /// An event with this code and, for an LE Meta event, this subevent code; nil: any · Vol 4, Part E, 5.4.4.
    case event(UInt8? = nil, subevent: UInt8? = nil)
    /// ACL data · Vol 4, Part E, 5.4.2.
    case data
  }

  /// Where a packet goes.
  public enum Direction: String, Hashable, Sendable, Codable {
    case toController, toHost
  }

  /// What it is.
  public var content: Content
  /// The name of the device; nil: any.
  public var device: String?
  /// Where it goes; nil: either way.
  public var direction: Direction?

  /// Packets with this content, of this device.
  public init(_ content: Content, on device: String? = nil, direction: Direction? = nil) {
    self.content = content
    self.device = device
    self.direction = direction
  }

  /// Every packet.
  public static let anything = HCIMatch(.anything)
}
