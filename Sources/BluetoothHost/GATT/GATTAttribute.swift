import BluetoothWire

/// The attribute types that GATT itself defines · Vol 3, Part G, 3.
enum GATTType {
  static let primaryService: BluetoothUUID = 0x2800
  static let secondaryService: BluetoothUUID = 0x2801
  static let include: BluetoothUUID = 0x2802
  static let characteristic: BluetoothUUID = 0x2803
  static let clientCharacteristicConfiguration: BluetoothUUID = 0x2902

  static let gapService: BluetoothUUID = 0x1800
  static let deviceName: BluetoothUUID = 0x2A00
  static let appearance: BluetoothUUID = 0x2A01
  static let gattService: BluetoothUUID = 0x1801
  static let serviceChanged: BluetoothUUID = 0x2A05

  /// Whether Read By Group Type may ask for it · Vol 3, Part G, 2.5.3.
  static func isGrouping(_ type: BluetoothUUID) -> Bool { type == primaryService || type == secondaryService }
}

/// One attribute of the local server · Vol 3, Part F, 3.2.
struct GATTAttribute {
  enum Content {
    /// The database has the value.
    case stored(ByteSlice)
    /// Whoever stands above the host has it.
    case dynamic
    /// Each client has its own, of the characteristic with this value handle · Vol 3, Part G, 3.3.3.3.
    case clientConfiguration(of: AttributeHandle, allowed: GATTSubscription)
  }

  /// What may be done, by property and permission together.
  struct Access: OptionSet {
    let rawValue: UInt8
    static let read = Access(rawValue: 0x01)
    static let write = Access(rawValue: 0x02)
    static let writeCommand = Access(rawValue: 0x04)
    static let readNeedsEncryption = Access(rawValue: 0x08)
    static let writeNeedsEncryption = Access(rawValue: 0x10)
  }

  let handle: AttributeHandle
  let type: BluetoothUUID
  /// The last handle of the group that this attribute opens; its own handle if it opens none.
  var groupEnd: AttributeHandle
  let access: Access
  var content: Content

  /// An attribute with a fixed value that anybody may read.
  init(readable type: BluetoothUUID, at handle: AttributeHandle, value: [UInt8], groupEnd: AttributeHandle? = nil) {
    self.handle = handle
    self.type = type
    self.groupEnd = groupEnd ?? handle
    access = .read
    content = .stored(ByteSlice(value))
  }

  init(_ type: BluetoothUUID, at handle: AttributeHandle, access: Access, content: Content) {
    self.handle = handle
    self.type = type
    groupEnd = handle
    self.access = access
    self.content = content
  }

  /// Why this link may not read it; nil if it may.
  func readError(isEncrypted: Bool) -> ATT.ErrorCode? {
    guard access.contains(.read) else { return .readNotPermitted }
    if access.contains(.readNeedsEncryption), !isEncrypted { return .insufficientEncryption }
    return nil
  }

  /// Why this link may not write it in this way; nil if it may.
  func writeError(_ way: Access, isEncrypted: Bool) -> ATT.ErrorCode? {
    guard access.contains(way) else { return .writeNotPermitted }
    if access.contains(.writeNeedsEncryption), !isEncrypted { return .insufficientEncryption }
    return nil
  }
}

extension GATTAttribute.Access {
  /// A characteristic's value may be read when both a property and a permission say so; the same for each way to write.
  init(_ properties: GATTProperties, _ permissions: GATTPermissions) {
    self = []
    if properties.contains(.read), !permissions.isDisjoint(with: [.readable, .readEncryptionRequired]) {
      insert(.read)
    }
    if !permissions.isDisjoint(with: [.writeable, .writeEncryptionRequired]) {
      if properties.contains(.write) { insert(.write) }
      if properties.contains(.writeWithoutResponse) { insert(.writeCommand) }
    }
    if permissions.contains(.readEncryptionRequired) { insert(.readNeedsEncryption) }
    if permissions.contains(.writeEncryptionRequired) { insert(.writeNeedsEncryption) }
  }
}

extension BluetoothUUID {
  /// The octets of a UUID in an attribute's value: 2 or 16 · Vol 3, Part F, 3.2.1.
  var attributeValue: [UInt8] {
    if let short = shortValue { return short.octets }
    return low.octets + high.octets
  }

  /// The UUID in a value of 2 or 16 octets; nil for another length.
  init?(attributeValue: ByteSlice) {
    var reader = ByteReader(attributeValue)
    guard let width = Width(rawValue: attributeValue.count), width != .bits32, let uuid = try? reader.uuid(width) else {
      return nil
    }
    self = uuid
  }
}

extension FixedWidthInteger {
  /// This number's octets, least significant first.
  var octets: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
  }
}
