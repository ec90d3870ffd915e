/// The type of an AD structure · Core Specification Supplement, Part A; Assigned Numbers, 2.3. Any octet can arrive.
@frozen public struct ADType: RawRepresentable, Hashable, Sendable {
  /// The number of the type.
  public let rawValue: UInt8

  /// Creates the type with this number.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

  // Written out, because the synthesized function can't be inlined in other modules.
  @inlinable public static func == (left: ADType, right: ADType) -> Bool { left.rawValue == right.rawValue }

  /// Flags · 1.3.
  @inlinable public static var flags: ADType { ADType(rawValue: 0x01) }
  /// Incomplete List of 16-bit Service UUIDs · 1.1.
  @inlinable public static var incompleteServices16: ADType { ADType(rawValue: 0x02) }
  /// Complete List of 16-bit Service UUIDs · 1.1.
  @inlinable public static var completeServices16: ADType { ADType(rawValue: 0x03) }
  /// Incomplete List of 32-bit Service UUIDs · 1.1.
  @inlinable public static var incompleteServices32: ADType { ADType(rawValue: 0x04) }
  /// Complete List of 32-bit Service UUIDs · 1.1.
  @inlinable public static var completeServices32: ADType { ADType(rawValue: 0x05) }
  /// Incomplete List of 128-bit Service UUIDs · 1.1.
  @inlinable public static var incompleteServices128: ADType { ADType(rawValue: 0x06) }
  /// Complete List of 128-bit Service UUIDs · 1.1.
  @inlinable public static var completeServices128: ADType { ADType(rawValue: 0x07) }
  /// Shortened Local Name · 1.2.
  @inlinable public static var shortenedLocalName: ADType { ADType(rawValue: 0x08) }
  /// Complete Local Name · 1.2.
  @inlinable public static var completeLocalName: ADType { ADType(rawValue: 0x09) }
  /// TX Power Level · 1.5.
  @inlinable public static var txPowerLevel: ADType { ADType(rawValue: 0x0A) }
  /// Class of Device.
  @inlinable public static var classOfDevice: ADType { ADType(rawValue: 0x0D) }
  /// Simple Pairing Hash C-192.
  @inlinable public static var simplePairingHash192: ADType { ADType(rawValue: 0x0E) }
  /// Simple Pairing Randomizer R-192.
  @inlinable public static var simplePairingRandomizer192: ADType { ADType(rawValue: 0x0F) }
  /// Security Manager TK Value. In BR/EDR data, the same number is the type of Device ID.
  @inlinable public static var securityManagerTKValue: ADType { ADType(rawValue: 0x10) }
  /// Security Manager Out of Band Flags.
  @inlinable public static var outOfBandFlags: ADType { ADType(rawValue: 0x11) }
  /// Peripheral Connection Interval Range · 1.9.
  @inlinable public static var peripheralConnectionIntervalRange: ADType { ADType(rawValue: 0x12) }
  /// List of 16-bit Service Solicitation UUIDs · 1.10.
  @inlinable public static var solicitedServices16: ADType { ADType(rawValue: 0x14) }
  /// List of 128-bit Service Solicitation UUIDs · 1.10.
  @inlinable public static var solicitedServices128: ADType { ADType(rawValue: 0x15) }
  /// Service Data with a 16-bit UUID · 1.11.
  @inlinable public static var serviceData16: ADType { ADType(rawValue: 0x16) }
  /// Public Target Address.
  @inlinable public static var publicTargetAddress: ADType { ADType(rawValue: 0x17) }
  /// Random Target Address.
  @inlinable public static var randomTargetAddress: ADType { ADType(rawValue: 0x18) }
  /// Appearance · 1.12.
  @inlinable public static var appearance: ADType { ADType(rawValue: 0x19) }
  /// Advertising Interval.
  @inlinable public static var advertisingInterval: ADType { ADType(rawValue: 0x1A) }
  /// LE Bluetooth Device Address.
  @inlinable public static var leDeviceAddress: ADType { ADType(rawValue: 0x1B) }
  /// LE Role.
  @inlinable public static var leRole: ADType { ADType(rawValue: 0x1C) }
  /// Simple Pairing Hash C-256.
  @inlinable public static var simplePairingHash256: ADType { ADType(rawValue: 0x1D) }
  /// Simple Pairing Randomizer R-256.
  @inlinable public static var simplePairingRandomizer256: ADType { ADType(rawValue: 0x1E) }
  /// List of 32-bit Service Solicitation UUIDs · 1.10.
  @inlinable public static var solicitedServices32: ADType { ADType(rawValue: 0x1F) }
  /// Service Data with a 32-bit UUID · 1.11.
  @inlinable public static var serviceData32: ADType { ADType(rawValue: 0x20) }
  /// Service Data with a 128-bit UUID · 1.11.
  @inlinable public static var serviceData128: ADType { ADType(rawValue: 0x21) }
  /// LE Secure Connections Confirmation Value.
  @inlinable public static var leSecureConnectionsConfirmation: ADType { ADType(rawValue: 0x22) }
  /// LE Secure Connections Random Value.
  @inlinable public static var leSecureConnectionsRandom: ADType { ADType(rawValue: 0x23) }
  /// URI.
  @inlinable public static var uri: ADType { ADType(rawValue: 0x24) }
  /// Indoor Positioning.
  @inlinable public static var indoorPositioning: ADType { ADType(rawValue: 0x25) }
  /// Transport Discovery Data.
  @inlinable public static var transportDiscoveryData: ADType { ADType(rawValue: 0x26) }
  /// LE Supported Features.
  @inlinable public static var leSupportedFeatures: ADType { ADType(rawValue: 0x27) }
  /// Channel Map Update Indication.
  @inlinable public static var channelMapUpdateIndication: ADType { ADType(rawValue: 0x28) }
  /// PB-ADV, a bearer of mesh provisioning.
  @inlinable public static var pbADV: ADType { ADType(rawValue: 0x29) }
  /// Mesh Message.
  @inlinable public static var meshMessage: ADType { ADType(rawValue: 0x2A) }
  /// Mesh Beacon.
  @inlinable public static var meshBeacon: ADType { ADType(rawValue: 0x2B) }
  /// BIGInfo.
  @inlinable public static var bigInfo: ADType { ADType(rawValue: 0x2C) }
  /// Broadcast_Code.
  @inlinable public static var broadcastCode: ADType { ADType(rawValue: 0x2D) }
  /// Resolvable Set Identifier.
  @inlinable public static var resolvableSetIdentifier: ADType { ADType(rawValue: 0x2E) }
  /// Advertising Interval - long.
  @inlinable public static var advertisingIntervalLong: ADType { ADType(rawValue: 0x2F) }
  /// Broadcast_Name.
  @inlinable public static var broadcastName: ADType { ADType(rawValue: 0x30) }
  /// Encrypted Advertising Data.
  @inlinable public static var encryptedAdvertisingData: ADType { ADType(rawValue: 0x31) }
  /// Periodic Advertising Response Timing Information.
  @inlinable public static var periodicAdvertisingResponseTiming: ADType { ADType(rawValue: 0x32) }
  /// Electronic Shelf Label.
  @inlinable public static var electronicShelfLabel: ADType { ADType(rawValue: 0x34) }
  /// 3D Information Data.
  @inlinable public static var information3D: ADType { ADType(rawValue: 0x3D) }
  /// Manufacturer Specific Data · 1.4.
  @inlinable public static var manufacturerData: ADType { ADType(rawValue: 0xFF) }
}

extension BluetoothUUID.Width {
  /// Returns the type of a list of service UUIDs of this width.
  package func listType(isComplete: Bool) -> ADType {
    switch self {
    case .bits16: isComplete ? .completeServices16 : .incompleteServices16
    case .bits32: isComplete ? .completeServices32 : .incompleteServices32
    case .bits128: isComplete ? .completeServices128 : .incompleteServices128
    }
  }

  /// The type of a list of Service Solicitation UUIDs of this width.
  package var solicitationType: ADType {
    switch self {
    case .bits16: .solicitedServices16
    case .bits32: .solicitedServices32
    case .bits128: .solicitedServices128
    }
  }

  /// The type of Service Data with a UUID of this width.
  package var dataType: ADType {
    switch self {
    case .bits16: .serviceData16
    case .bits32: .serviceData32
    case .bits128: .serviceData128
    }
  }
}
