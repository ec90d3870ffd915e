extension AdvertisingData.Field {
  /// The AD structure that encodes this field.
  package var structure: AdvertisingData.Structure {
    AdvertisingData.Structure(type: type, data: ByteSlice(octets))
  }

  package var type: ADType {
    switch self {
    case .flags: .flags
    case .services(let list, let isComplete): list.width.listType(isComplete: isComplete)
    case .localName(_, let isComplete): isComplete ? .completeLocalName : .shortenedLocalName
    case .txPowerLevel: .txPowerLevel
    case .classOfDevice: .classOfDevice
    case .simplePairingHash192: .simplePairingHash192
    case .simplePairingRandomizer192: .simplePairingRandomizer192
    case .simplePairingHash256: .simplePairingHash256
    case .simplePairingRandomizer256: .simplePairingRandomizer256
    case .deviceID, .securityManagerTK: .securityManagerTKValue
    case .outOfBandFlags: .outOfBandFlags
    case .connectionIntervalRange: .peripheralConnectionIntervalRange
    case .solicitedServices(let list): list.width.solicitationType
    case .serviceData(let service, _): service.advertisedWidth.dataType
    case .targetAddresses(_, let kind): kind == .public ? .publicTargetAddress : .randomTargetAddress
    case .appearance: .appearance
    case .advertisingInterval(let interval): interval <= 0xFFFF ? .advertisingInterval : .advertisingIntervalLong
    case .leDeviceAddress: .leDeviceAddress
    case .leRole: .leRole
    case .leSecureConnectionsConfirmation: .leSecureConnectionsConfirmation
    case .leSecureConnectionsRandom: .leSecureConnectionsRandom
    case .uri: .uri
    case .leSupportedFeatures: .leSupportedFeatures
    case .channelMapUpdate: .channelMapUpdateIndication
    case .broadcastCode: .broadcastCode
    case .resolvableSetIdentifier: .resolvableSetIdentifier
    case .broadcastName: .broadcastName
    case .encryptedData: .encryptedAdvertisingData
    case .periodicResponseTiming: .periodicAdvertisingResponseTiming
    case .manufacturerData: .manufacturerData
    case .other(let type, _): type
    }
  }

  /// The data of the structure.
  private var octets: [UInt8] {
    switch self {
    case .flags(let flags): [flags.rawValue]
    case .services(let list, _), .solicitedServices(let list): list.data.bytes
    case .localName(let text, _), .broadcastName(let text): Array(text.utf8)
    case .txPowerLevel(let level): [UInt8(bitPattern: level)]
    case .outOfBandFlags(let flags): [flags.rawValue]
    case .leRole(let role): [role.rawValue]
    case .classOfDevice(let number): little(number, 3)
    case .appearance(let number): little(number, 2)
    case .advertisingInterval(let number): little(number, number <= 0xFFFF ? 2 : number <= 0xFF_FFFF ? 3 : 4)
    case .simplePairingHash192(let key), .simplePairingRandomizer192(let key), .simplePairingHash256(let key),
      .simplePairingRandomizer256(let key), .securityManagerTK(let key), .leSecureConnectionsConfirmation(let key),
      .leSecureConnectionsRandom(let key), .broadcastCode(let key):
      little(key, 16)
    case .deviceID(let id):
      little(id.vendorSource, 2) + little(id.vendor, 2) + little(id.product, 2) + little(id.version, 2)
    case .connectionIntervalRange(let range):
      [range.minimum, range.maximum].flatMap { little($0 ?? AdvertisingData.Structure.anyInterval, 2) }
    case .serviceData(let service, let data): service.advertisedOctets + data.bytes
    case .targetAddresses(let addresses, _): addresses.flatMap { little($0.value, 6) }
    case .leDeviceAddress(let address): little(address.value, 6) + [address.kind.rawValue]
    case .uri(let uri): URIScheme.octets(of: uri)
    case .leSupportedFeatures(let features):
      little(features.rawValue, max(1, 8 - features.rawValue.leadingZeroBitCount / 8))
    case .channelMapUpdate(let map, let instant): little(map.bits, 5) + little(instant, 2)
    case .resolvableSetIdentifier(let hash, let random): little(hash, 3) + little(random, 3)
    case .encryptedData(let data):
      little(data.randomizer, 5) + data.payload.bytes + little(data.messageIntegrityCheck, 4)
    case .periodicResponseTiming(let timing):
      little(timing.accessAddress, 4) + [
        timing.subevents, timing.subeventInterval, timing.responseSlotDelay, timing.responseSlotSpacing,
      ]
    case .manufacturerData(let company, let data): little(company, 2) + data.bytes
    case .other(_, let data): data.bytes
    }
  }

  /// Returns the low `count` octets, least significant first.
  private func little(_ number: some FixedWidthInteger & UnsignedInteger, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }
}

extension AdvertisingDataBuilder {
  /// Appends any field whose structure has at most 254 octets of data.
  @discardableResult
  package mutating func append(_ field: AdvertisingData.Field) -> Bool {
    let structure = field.structure
    return append(structure.type, structure.data.bytes)
  }
}

extension UUIDList {
  /// Creates a list of the UUIDs in the form of `width`. Returns nil if one of them has no such form.
  package init?(_ services: [BluetoothUUID], width: BluetoothUUID.Width) {
    var octets: [UInt8] = []
    for service in services {
      switch width {
      case .bits16: guard service.shortValue != nil else { return nil }
      case .bits32: guard service.value32 != nil else { return nil }
      case .bits128: break
      }
      octets += service.octets(width)
    }
    self.init(width: width, data: ByteSlice(octets))
  }
}

extension URIScheme {
  fileprivate static func octets(of uri: String) -> [UInt8] {
    let (code, rest) = split(uri)
    guard let character = Unicode.Scalar(code) else { return [] }
    return Array(String(Character(character)).utf8) + Array(rest.utf8)
  }
}
