extension AdvertisingData.Structure {
  /// The decoded contents of this structure; nil if they violate the format of its type.
  ///
  /// Truncated structures are decoded as far as possible: trailing octets that are shorter than a list element, and an
  /// incomplete character at the end of a text, are ignored.
  package var field: AdvertisingData.Field? {
    do throws(DecodingError) {
      if let list = services { return list.isEmpty && !data.isEmpty ? nil : .services(list, isComplete: isComplete) }
      if let list = solicitedServices { return list.isEmpty && !data.isEmpty ? nil : .solicitedServices(list) }
      switch type {
      case .serviceData16, .serviceData32, .serviceData128: return serviceData.map { .serviceData($0.service, $0.data) }
      case .shortenedLocalName, .completeLocalName: return .localName(String(received: data), isComplete: isComplete)
      case .publicTargetAddress, .randomTargetAddress: return targetAddresses
      case .uri: return uri
      case .broadcastName:
        let name = String(received: data)
        return 4...32 ~= name.unicodeScalars.count ? .broadcastName(name) : nil
      // Later versions may append octets to these structures. A receiver that knows only the first ones ignores the
      // rest.
      case .flags: return data.isEmpty ? nil : .flags(AdvertisingData.Flags(rawValue: data[0]))
      case .leSupportedFeatures: return .leSupportedFeatures(HCI.LEFeatures(rawValue: number(data.prefix(8))))
      default: return try numbers()
      }
    } catch {
      return nil
    }
  }

  private var isComplete: Bool {
    switch type {
    case .completeServices16, .completeServices32, .completeServices128, .completeLocalName: true
    default: false
    }
  }

  private var targetAddresses: AdvertisingData.Field? {
    let kind: DeviceAddress.Kind = type == .publicTargetAddress ? .public : .random
    let addresses = (0..<data.count / 6).map { DeviceAddress(number(data[$0 * 6..<$0 * 6 + 6]), kind) }
    return addresses.isEmpty ? nil : .targetAddresses(addresses, kind)
  }

  /// The URI; `other` for a scheme number that is not known, because it can't be converted to text.
  private var uri: AdvertisingData.Field? {
    var text = String(received: data)
    guard !text.unicodeScalars.isEmpty else { return nil }
    let code = text.unicodeScalars.removeFirst().value
    return URIScheme.text(of: code).map { .uri($0 + text) } ?? .other(type, data)
  }

  /// Returns the octets as an integer, least significant first.
  private func number(_ octets: ByteSlice) -> UInt64 {
    octets.bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Decodes the types that have fields of a fixed size.
  private func numbers() throws(DecodingError) -> AdvertisingData.Field? {
    var reader = ByteReader(data)
    let field: AdvertisingData.Field?
    switch type {
    case .txPowerLevel: field = .txPowerLevel(try reader.int8())
    case .classOfDevice: field = .classOfDevice(try reader.uint24())
    case .appearance: field = .appearance(try reader.uint16())
    case .leRole: field = AdvertisingData.LERole(rawValue: try reader.uint8()).map { .leRole($0) }
    case .outOfBandFlags: field = .outOfBandFlags(AdvertisingData.OutOfBandFlags(rawValue: try reader.uint8()))
    case .advertisingInterval: field = .advertisingInterval(UInt32(try reader.uint16()))
    case .advertisingIntervalLong:
      field = .advertisingInterval(data.count == 3 ? try reader.uint24() : try reader.uint32())
    case .peripheralConnectionIntervalRange:
      let bounds = (try reader.uint16(), try reader.uint16())
      field = AdvertisingData.ConnectionIntervalRange(
        minimum: bounds.0 == Self.anyInterval ? nil : bounds.0, maximum: bounds.1 == Self.anyInterval ? nil : bounds.1
      ).map { .connectionIntervalRange($0) }
    case .leDeviceAddress:
      let address = try reader.addressValue()
      field = .leDeviceAddress(DeviceAddress(address, try reader.uint8() & 1 == 1 ? .random : .public))
    case .channelMapUpdateIndication:
      let low = try reader.uint32()
      let map = ChannelMap(bits: UInt64(low) | UInt64(try reader.uint8()) << 32)
      field = .channelMapUpdate(map, instant: try reader.uint16())
    case .resolvableSetIdentifier:
      let hash = try reader.uint24()
      field = .resolvableSetIdentifier(hash: hash, random: try reader.uint24())
    case .periodicAdvertisingResponseTiming:
      field = .periodicResponseTiming(try AdvertisingData.PeriodicResponseTiming(from: &reader))
    case .encryptedAdvertisingData: field = .encryptedData(try AdvertisingData.EncryptedData(from: &reader))
    case .manufacturerData:
      let company = try reader.uint16()
      field = .manufacturerData(company: company, reader.rest())
    default: return try keys()
    }
    try reader.end()
    return field
  }

  /// The value 0xFFFF, which means no specific value · 1.9.
  static let anyInterval: UInt16 = 0xFFFF

  /// Decodes the types that consist of 16 octets, and all remaining types as `other`.
  private func keys() throws(DecodingError) -> AdvertisingData.Field? {
    var reader = ByteReader(data)
    let field: AdvertisingData.Field
    switch type {
    case .simplePairingHash192: field = .simplePairingHash192(try reader.integer())
    case .simplePairingRandomizer192: field = .simplePairingRandomizer192(try reader.integer())
    case .simplePairingHash256: field = .simplePairingHash256(try reader.integer())
    case .simplePairingRandomizer256: field = .simplePairingRandomizer256(try reader.integer())
    case .securityManagerTKValue where data.count == 8:
      let source = (try reader.uint16(), try reader.uint16(), try reader.uint16(), try reader.uint16())
      field = .deviceID(
        AdvertisingData.DeviceID(vendorSource: source.0, vendor: source.1, product: source.2, version: source.3))
    case .securityManagerTKValue: field = .securityManagerTK(try reader.integer())
    case .leSecureConnectionsConfirmation: field = .leSecureConnectionsConfirmation(try reader.integer())
    case .leSecureConnectionsRandom: field = .leSecureConnectionsRandom(try reader.integer())
    case .broadcastCode: field = .broadcastCode(try reader.integer())
    default: return .other(type, data)
    }
    try reader.end()
    return field
  }
}

extension AdvertisingData.EncryptedData {
  fileprivate init(from reader: inout ByteReader) throws(DecodingError) {
    let low = try reader.uint32()
    let randomizer = UInt64(low) | UInt64(try reader.uint8()) << 32
    let payload = try reader.take(reader.remaining - 4)
    self.init(randomizer: randomizer, payload: payload, messageIntegrityCheck: try reader.uint32())
  }
}

extension AdvertisingData.PeriodicResponseTiming {
  fileprivate init(from reader: inout ByteReader) throws(DecodingError) {
    accessAddress = try reader.uint32()
    subevents = try reader.uint8()
    subeventInterval = try reader.uint8()
    responseSlotDelay = try reader.uint8()
    responseSlotSpacing = try reader.uint8()
  }
}
