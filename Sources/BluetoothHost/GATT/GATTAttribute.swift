import BluetoothWire

/// The attribute types that GATT itself defines · Vol 3, Part G, 3.
enum GATTType {
  static let primaryService: BluetoothUUID = 0x2800
  static let secondaryService: BluetoothUUID = 0x2801
  static let include: BluetoothUUID = 0x2802
  static let characteristic: BluetoothUUID = 0x2803
  static let extendedProperties: BluetoothUUID = 0x2900
  static let userDescription: BluetoothUUID = 0x2901
  static let clientCharacteristicConfiguration: BluetoothUUID = 0x2902
  static let serverCharacteristicConfiguration: BluetoothUUID = 0x2903
  static let presentationFormat: BluetoothUUID = 0x2904
  static let aggregateFormat: BluetoothUUID = 0x2905

  static let gapService: BluetoothUUID = 0x1800
  static let deviceName: BluetoothUUID = 0x2A00
  static let appearance: BluetoothUUID = 0x2A01
  static let preferredConnectionParameters: BluetoothUUID = 0x2A04
  static let centralAddressResolution: BluetoothUUID = 0x2AA6
  static let gattService: BluetoothUUID = 0x1801
  static let serviceChanged: BluetoothUUID = 0x2A05
  static let clientSupportedFeatures: BluetoothUUID = 0x2B29
  static let databaseHash: BluetoothUUID = 0x2B2A
  static let serverSupportedFeatures: BluetoothUUID = 0x2B3A

  /// Returns true if Read By Group Type accepts this type · Vol 3, Part G, 2.5.3.
  static func isGrouping(_ type: BluetoothUUID) -> Bool { type == primaryService || type == secondaryService }
}

/// The security that a link needs to read an attribute, or to write it · Vol 3, Part F, 3.2.5.
struct GATTRequirement: Hashable {
  var level = HostLinkSecurity.Level.none
  /// The minimum length of the encryption key in octets; 0: any.
  var keySize: UInt8 = 0
  var authorization = false

  /// Returns the reason why a link with this security is denied access; nil: access is permitted
  /// · Vol 3, Part C, 10.3.1.
  @inline(__always)
  func refusal(for security: HostLinkSecurity) -> ATT.ErrorCode? {
    if level == .none, keySize == 0, !authorization { return nil }
    return reason(for: security)
  }

  private func reason(for security: HostLinkSecurity) -> ATT.ErrorCode? {
    if level != .none || keySize > 0 {
      guard security.level > .none else {
        return security.hasKey ? .insufficientEncryption : .insufficientAuthentication
      }
      guard security.level >= level else { return .insufficientAuthentication }
      guard security.keySize >= keySize else { return .insufficientEncryptionKeySize }
    }
    return authorization && !security.isAuthorized ? .insufficientAuthorization : nil
  }
}

/// One attribute of the local server · Vol 3, Part F, 3.2.
struct GATTAttribute {
  enum Content {
    /// A value that the database stores.
    case stored(ByteSlice)
    /// The Device Name, which the database stores beside its attributes · Vol 3, Part C, 12.1.
    case deviceName
    /// A value that the upper layer has.
    case dynamic
    /// The Client Characteristic Configuration of the characteristic with this value handle; each client has its own
    /// · Vol 3, Part G, 3.3.3.3.
    case clientConfiguration(of: AttributeHandle, allowed: GATTSubscription)
    /// The Server Characteristic Configuration of the characteristic with this value handle, common to all clients
    /// · Vol 3, Part G, 3.3.3.4.
    case serverConfiguration(of: AttributeHandle, isBroadcast: Bool)
    /// Client Supported Features; each client has its own · Vol 3, Part G, 7.2.
    case clientFeatures
    /// Database Hash · Vol 3, Part G, 7.3.
    case databaseHash
  }

  /// The accesses that both the properties and the permissions allow.
  struct Access: OptionSet {
    let rawValue: UInt8
    static let read = Access(rawValue: 0x01)
    static let write = Access(rawValue: 0x02)
    static let writeCommand = Access(rawValue: 0x04)
    static let signedWrite = Access(rawValue: 0x08)
  }

  let handle: AttributeHandle
  /// The last handle of the group that this attribute begins; its own handle if it begins none.
  var groupEnd: AttributeHandle
  let type: BluetoothUUID
  let access: Access
  let reading: GATTRequirement
  let writing: GATTRequirement
  /// The minimum and the maximum length of the value in octets.
  let lengths: (minimum: UInt16, maximum: UInt16)
  var content: Content

  /// Creates an attribute with a fixed value that every client may read.
  init(readable type: BluetoothUUID, at handle: AttributeHandle, value: [UInt8], groupEnd: AttributeHandle? = nil) {
    self.init(type, at: handle, access: .read, content: .stored(ByteSlice(value)))
    self.groupEnd = groupEnd ?? handle
  }

  init(
    _ type: BluetoothUUID, at handle: AttributeHandle, access: Access, reading: GATTRequirement = GATTRequirement(),
    writing: GATTRequirement = GATTRequirement(), lengths: ClosedRange<Int> = 0...ATT.maximumValueLength,
    content: Content
  ) {
    self.handle = handle
    groupEnd = handle
    self.type = type
    self.access = access
    self.reading = reading
    self.writing = writing
    self.lengths = (UInt16(clamping: lengths.lowerBound), UInt16(clamping: lengths.upperBound))
    self.content = content
  }

  /// Returns the reason why this link may not read the attribute; nil: it may.
  // Inlined: a call would copy the attribute.
  @inline(__always)
  func readError(_ security: HostLinkSecurity) -> ATT.ErrorCode? {
    access.contains(.read) ? reading.refusal(for: security) : .readNotPermitted
  }

  /// Returns the reason why this link may not write the attribute in this way; nil: it may.
  @inline(__always)
  func writeError(_ way: Access, _ security: HostLinkSecurity) -> ATT.ErrorCode? {
    access.contains(way) || takesUnsigned(way, security) ? writing.refusal(for: security) : .writeNotPermitted
  }

  /// Returns true if a Write Command is accepted in place of a signed one, as on an encrypted link
  /// · Vol 3, Part G, 4.9.2.
  private func takesUnsigned(_ way: Access, _ security: HostLinkSecurity) -> Bool {
    way == .writeCommand && security.level > .none && access.contains(.signedWrite)
  }

  @inline(__always)
  func allowsLength(_ count: Int) -> Bool { count >= Int(lengths.minimum) && count <= Int(lengths.maximum) }
}

extension GATTAttribute.Access {
  /// Creates the accesses of a characteristic's value: each needs both a property and a permission.
  init(_ properties: CharacteristicProperties, _ permissions: AttributePermissions) {
    self = []
    if properties.contains(.read), permissions.allowReading { insert(.read) }
    guard permissions.allowWriting else { return }
    if properties.contains(.write) { insert(.write) }
    if properties.contains(.writeWithoutResponse) { insert(.writeCommand) }
    if properties.contains(.authenticatedSignedWrites) { insert(.signedWrite) }
  }

  /// Creates the accesses of a descriptor, which has no properties.
  init(_ permissions: AttributePermissions) { self.init([.read, .write], permissions) }
}

extension AttributePermissions {
  fileprivate static let reading: AttributePermissions = [
    .readable, .readEncryptionRequired, .readAuthenticationRequired, .readAuthorizationRequired,
  ]
  fileprivate static let writing: AttributePermissions = [
    .writeable, .writeEncryptionRequired, .writeAuthenticationRequired, .writeAuthorizationRequired,
  ]

  var allowReading: Bool { !isDisjoint(with: Self.reading) }
  var allowWriting: Bool { !isDisjoint(with: Self.writing) }

  /// Returns the security that reading requires.
  func reading(keySize: UInt8) -> GATTRequirement {
    GATTRequirement(
      level: contains(.readAuthenticationRequired)
        ? .authenticated : contains(.readEncryptionRequired) ? .encrypted : .none,
      keySize: keySize, authorization: contains(.readAuthorizationRequired))
  }

  /// Returns the security that writing requires.
  func writing(keySize: UInt8) -> GATTRequirement {
    GATTRequirement(
      level: contains(.writeAuthenticationRequired)
        ? .authenticated : contains(.writeEncryptionRequired) ? .encrypted : .none,
      keySize: keySize, authorization: contains(.writeAuthorizationRequired))
  }
}

extension BluetoothUUID {
  /// The octets of the UUID in an attribute's value: 2 or 16 · Vol 3, Part F, 3.2.1.
  var attributeValue: [UInt8] {
    if let short = shortValue { return short.octets }
    return low.octets + high.octets
  }

  /// Creates the UUID from a value of 2 or 16 octets; nil for any other length.
  init?(attributeValue: ByteSlice) {
    var reader = ByteReader(attributeValue)
    guard let width = Width(rawValue: attributeValue.count), width != .bits32, let uuid = try? reader.uuid(width) else {
      return nil
    }
    self = uuid
  }
}

extension FixedWidthInteger {
  /// The octets of the number, least significant first.
  var octets: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
  }
}
