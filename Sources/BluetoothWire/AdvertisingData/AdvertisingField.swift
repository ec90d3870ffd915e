extension AdvertisingData {
  /// The decoded contents of an AD structure · Core Specification Supplement, Part A, 1. A structure whose format is
  /// defined in another specification, or nowhere, is `other`.
  package enum Field: Hashable, Sendable {
    /// 1.3
    case flags(Flags)
    /// 1.1
    case services(UUIDList, isComplete: Bool)
    /// 1.2
    case localName(String, isComplete: Bool)
    /// Level in dBm · 1.5
    case txPowerLevel(Int8)
    /// 24 bits · 1.6
    case classOfDevice(UInt32)
    /// 1.6
    case simplePairingHash192(UInt128)
    /// 1.6
    case simplePairingRandomizer192(UInt128)
    /// 1.6
    case simplePairingHash256(UInt128)
    /// 1.6
    case simplePairingRandomizer256(UInt128)
    /// Device ID, in data of BR/EDR only; it shares the AD type of `securityManagerTK`.
    case deviceID(DeviceID)
    /// 1.8
    case securityManagerTK(UInt128)
    /// 1.7
    case outOfBandFlags(OutOfBandFlags)
    /// 1.9
    case connectionIntervalRange(ConnectionIntervalRange)
    /// 1.10
    case solicitedServices(UUIDList)
    /// 1.11; encoded as the structure of the shortest width that the service has.
    case serviceData(BluetoothUUID, ByteSlice)
    /// All public or all random addresses, as the kind specifies · 1.13, 1.14
    case targetAddresses([DeviceAddress], DeviceAddress.Kind)
    /// 1.12
    case appearance(UInt16)
    /// Units of 0.625 ms · 1.15; 16 bits if the value fits, else 24 or 32.
    case advertisingInterval(UInt32)
    /// 1.16
    case leDeviceAddress(DeviceAddress)
    /// 1.17
    case leRole(LERole)
    /// 1.6
    case leSecureConnectionsConfirmation(UInt128)
    /// 1.6
    case leSecureConnectionsRandom(UInt128)
    /// The URI including its scheme · 1.18
    case uri(String)
    /// 1.19
    case leSupportedFeatures(HCI.LEFeatures)
    /// The map takes effect at the event with number `instant` · 1.20
    case channelMapUpdate(ChannelMap, instant: UInt16)
    /// 1.22
    case broadcastCode(UInt128)
    /// 24 bits each · Coordinated Set Identification Profile
    case resolvableSetIdentifier(hash: UInt32, random: UInt32)
    /// 4 to 32 characters · Public Broadcast Profile
    case broadcastName(String)
    /// 1.23
    case encryptedData(EncryptedData)
    /// 1.24
    case periodicResponseTiming(PeriodicResponseTiming)
    /// The Company Identifier and company-specific data · 1.4
    case manufacturerData(company: UInt16, ByteSlice)
    case other(ADType, ByteSlice)
  }

  /// The Flags · 1.3; bits above 4 are reserved.
  package struct Flags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let limitedDiscoverable = Flags(rawValue: 1 << 0)
    package static let generalDiscoverable = Flags(rawValue: 1 << 1)
    package static let bredrNotSupported = Flags(rawValue: 1 << 2)
    package static let simultaneousController = Flags(rawValue: 1 << 3)
  }

  /// The Security Manager Out of Band flags · 1.7; bits above 3 are reserved.
  package struct OutOfBandFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let dataPresent = OutOfBandFlags(rawValue: 1 << 0)
    package static let leSupported = OutOfBandFlags(rawValue: 1 << 1)
    package static let simultaneous = OutOfBandFlags(rawValue: 1 << 2)
    package static let randomAddress = OutOfBandFlags(rawValue: 1 << 3)
  }

  /// The LE Role · 1.17
  package enum LERole: UInt8, Hashable, Sendable, CaseIterable {
    case peripheralOnly = 0
    case centralOnly = 1
    case peripheralPreferred = 2
    case centralPreferred = 3
  }

  /// The Device ID · Device Identification Profile, 6
  package struct DeviceID: Hashable, Sendable {
    /// The source of the vendor ID: 1 for company identifiers, 2 for USB.
    package var vendorSource: UInt16
    package var vendor: UInt16
    package var product: UInt16
    package var version: UInt16
  }

  /// The Peripheral Connection Interval Range · 1.9; units of 1.25 ms, 6 to 3,200; nil: no specific value.
  package struct ConnectionIntervalRange: Hashable, Sendable {
    package let minimum: UInt16?
    package let maximum: UInt16?

    /// Returns nil for a range that is not allowed.
    package init?(minimum: UInt16?, maximum: UInt16?) {
      let bounds = [minimum, maximum].compactMap { $0 }
      guard bounds.allSatisfy({ 6...3200 ~= $0 }), bounds == bounds.sorted() else { return nil }
      self.minimum = minimum
      self.maximum = maximum
    }
  }

  /// The Encrypted Data · 1.23
  package struct EncryptedData: Hashable, Sendable {
    /// 40 bits.
    package var randomizer: UInt64
    package var payload: ByteSlice
    package var messageIntegrityCheck: UInt32
    package init(randomizer: UInt64, payload: ByteSlice, messageIntegrityCheck: UInt32) {
      self.randomizer = randomizer & 0xFF_FFFF_FFFF
      self.payload = payload
      self.messageIntegrityCheck = messageIntegrityCheck
    }
  }

  /// The Periodic Advertising Response Timing Information · 1.24
  package struct PeriodicResponseTiming: Hashable, Sendable {
    package var accessAddress: UInt32
    package var subevents: UInt8
    /// Units of 1.25 ms.
    package var subeventInterval: UInt8
    /// Units of 1.25 ms.
    package var responseSlotDelay: UInt8
    /// Units of 0.125 ms.
    package var responseSlotSpacing: UInt8
  }
}
