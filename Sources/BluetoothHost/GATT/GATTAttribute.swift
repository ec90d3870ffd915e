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

  /// Whether Read By Group Type may ask for it · Vol 3, Part G, 2.5.3.
  static func isGrouping(_ type: BluetoothUUID) -> Bool { type == primaryService || type == secondaryService }
}

/// What a link must have for one direction of access to an attribute · Vol 3, Part F, 3.2.5.
struct GATTRequirement: Hashable {
  var level = LinkSecurity.Level.none
  /// The shortest key, in octets; 0: no matter.
  var keySize: UInt8 = 0
  var authorization = false

  /// Why access is refused to a link with this security; nil: it is not · Vol 3, Part C, 10.3.1.
  @inline(__always)
  func refusal(for security: LinkSecurity) -> ATT.ErrorCode? {
    if level == .none, keySize == 0, !authorization { return nil }
    return reason(for: security)
  }

  private func reason(for security: LinkSecurity) -> ATT.ErrorCode? {
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
    /// The database has the value.
    case stored(ByteSlice)
    /// Device Name: the database has it beside its attributes · Vol 3, Part C, 12.1.
    case deviceName
    /// Whoever stands above the host has it.
    case dynamic
    /// Each client has its own, of the characteristic with this value handle · Vol 3, Part G, 3.3.3.3.
    case clientConfiguration(of: AttributeHandle, allowed: GATTSubscription)
    /// All clients have one, of the characteristic with this value handle · Vol 3, Part G, 3.3.3.4.
    case serverConfiguration(of: AttributeHandle, isBroadcast: Bool)
    /// Client Supported Features: each client has its own · Vol 3, Part G, 7.2.
    case clientFeatures
    /// Database Hash · Vol 3, Part G, 7.3.
    case databaseHash
  }

  /// What may be done, by property and permission together.
  struct Access: OptionSet {
    let rawValue: UInt8
    static let read = Access(rawValue: 0x01)
    static let write = Access(rawValue: 0x02)
    static let writeCommand = Access(rawValue: 0x04)
    static let signedWrite = Access(rawValue: 0x08)
  }

  let handle: AttributeHandle
  /// The last handle of the group that this attribute opens; its own handle if it opens none.
  var groupEnd: AttributeHandle
  let type: BluetoothUUID
  let access: Access
  let reading: GATTRequirement
  let writing: GATTRequirement
  /// How many octets the value may have, at least and at most.
  let lengths: (minimum: UInt16, maximum: UInt16)
  var content: Content

  /// An attribute with a fixed value that anybody may read.
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

  /// Why this link may not read it; nil if it may.
  // Inlined: a call would be handed a copy of the attribute.
  @inline(__always)
  func readError(_ security: LinkSecurity) -> ATT.ErrorCode? {
    access.contains(.read) ? reading.refusal(for: security) : .readNotPermitted
  }

  /// Why this link may not write it in this way; nil if it may.
  @inline(__always)
  func writeError(_ way: Access, _ security: LinkSecurity) -> ATT.ErrorCode? {
    access.contains(way) || takesUnsigned(way, security) ? writing.refusal(for: security) : .writeNotPermitted
  }

  /// On an encrypted link a Write Command takes the place of a signed one · Vol 3, Part G, 4.9.2.
  private func takesUnsigned(_ way: Access, _ security: LinkSecurity) -> Bool {
    way == .writeCommand && security.level > .none && access.contains(.signedWrite)
  }

  @inline(__always)
  func allowsLength(_ count: Int) -> Bool { count >= Int(lengths.minimum) && count <= Int(lengths.maximum) }
}

extension GATTAttribute.Access {
  /// A characteristic's value may be read when both a property and a permission say so; the same for each way to write.
  init(_ properties: GATTProperties, _ permissions: GATTPermissions) {
    self = []
    if properties.contains(.read), permissions.allowReading { insert(.read) }
    guard permissions.allowWriting else { return }
    if properties.contains(.write) { insert(.write) }
    if properties.contains(.writeWithoutResponse) { insert(.writeCommand) }
    if properties.contains(.authenticatedSignedWrites) { insert(.signedWrite) }
  }

  /// A descriptor has no properties.
  init(_ permissions: GATTPermissions) { self.init([.read, .write], permissions) }
}

extension GATTPermissions {
  fileprivate static let reading: GATTPermissions = [
    .readable, .readEncryptionRequired, .readAuthenticationRequired, .readAuthorizationRequired,
  ]
  fileprivate static let writing: GATTPermissions = [
    .writeable, .writeEncryptionRequired, .writeAuthenticationRequired, .writeAuthorizationRequired,
  ]

  var allowReading: Bool { !isDisjoint(with: Self.reading) }
  var allowWriting: Bool { !isDisjoint(with: Self.writing) }

  /// What reading needs.
  func reading(keySize: UInt8) -> GATTRequirement {
    GATTRequirement(
      level: contains(.readAuthenticationRequired)
        ? .authenticated : contains(.readEncryptionRequired) ? .encrypted : .none,
      keySize: keySize, authorization: contains(.readAuthorizationRequired))
  }

  /// What writing needs.
  func writing(keySize: UInt8) -> GATTRequirement {
    GATTRequirement(
      level: contains(.writeAuthenticationRequired)
        ? .authenticated : contains(.writeEncryptionRequired) ? .encrypted : .none,
      keySize: keySize, authorization: contains(.writeAuthorizationRequired))
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
