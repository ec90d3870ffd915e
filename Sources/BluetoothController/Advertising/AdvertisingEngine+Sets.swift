import BluetoothWire

/// The commands for advertising sets · Vol 4, Part E, 7.8.52 to 7.8.60, 7.8.122.
extension AdvertisingEngine {
  /// Executes LE Set Data Related Address Changes. Advertising_Handle is ignored while the host uses the legacy
  /// commands · 7.8.122.
  mutating func setAddressChanges(
    _ reasons: HCI.AddressChangeReasons, of handle: HCI.AdvertisingHandle, isLegacy: Bool
  ) -> HCI.ErrorCode {
    guard reasons.isSubset(of: [.advertisingData, .scanResponseData]) else {
      return .unsupportedFeatureOrParameterValue
    }
    if isLegacy {
      setLegacyAddressChanges(reasons)
    } else {
      guard let index = sets.index(of: handle) else { return .unknownAdvertisingIdentifier }
      sets[index]?.addressChanges = reasons
    }
    return .success
  }

  // MARK: Parameters · 7.8.52, 7.8.53

  /// Executes LE Set Advertising Set Random Address.
  mutating func setRandomAddress(
    _ value: UInt64, of handle: HCI.AdvertisingHandle, device: inout LocalDevice
  ) -> HCI.ErrorCode {
    guard let index = sets.index(of: handle) else { return .unknownAdvertisingIdentifier }
    let address = DeviceAddress(value, .random)
    if let advertiser = sets[index]?.advertiser, let set = sets[index] {
      // A central that has received the old address may be about to connect to it.
      guard !set.properties.isConnectable else { return .commandDisallowed }
      if advertiser.identity.own.kind == .random, !device.resolvingList.isOwn(advertiser.identity.own) {
        let identity = AdvertiserIdentity(set.properties, own: address, target: advertiser.identity.target)
        sets[index]?.advertiser?.setIdentity(identity, content: set.content, in: device.pool)
      }
    }
    sets[index]?.randomAddress = address
    return .success
  }

  /// Executes LE Set Extended Advertising Parameters.
  mutating func setParameters(
    _ parameters: HCI.ExtendedAdvertisingParameters, device: inout LocalDevice
  ) -> HCI.ReturnParameters {
    var properties: AdvertisingProperties
    do throws(HCI.ErrorCode) {
      properties = try AdvertisingProperties(parameters, defaultPower: device.configuration.transmitPower)
    } catch {
      return .status(error)
    }
    let phys = HCI.PHYs(properties.primary.phy).union(HCI.PHYs(properties.secondary.phy))
    guard device.features.phys.isSuperset(of: phys) else {
      return .status(.unsupportedFeatureOrParameterValue)
    }
    properties.knowsAlgorithm2 = device.features.contains(.channelSelectionAlgorithm2)
    if let index = sets.index(of: parameters.handle), let set = sets[index] {
      if let refusal = set.refusal(of: properties) { return .status(refusal) }
      sets[index]?.properties = properties
      sets[index]?.chooseInterval()
      guard sets[index]?.canCarryContent == true else {
        sets[index]?.properties = set.properties
        return .status(.packetTooLong)
      }
    } else {
      var set = ControllerAdvertisingSet(handle: parameters.handle, properties: properties)
      set.content.renewDataID(random: &device.random)
      guard sets.insert(set) != nil else { return .status(.memoryCapacityExceeded) }
    }
    return .leSelectedTransmitPower(properties.power.hciLevel)
  }

  // MARK: Data · 7.8.54, 7.8.55

  /// Executes LE Set Extended Advertising Data.
  mutating func setData(
    _ fragment: HCI.AdvertisingDataFragment, of handle: HCI.AdvertisingHandle, device: inout LocalDevice,
    radio: inout RadioControl
  ) -> HCI.ErrorCode {
    guard let index = sets.index(of: handle), let set = sets[index] else { return .unknownAdvertisingIdentifier }
    let properties = set.properties
    guard properties.hasData else { return .invalidHCICommandParameters }
    if case .unchanged = fragment.operation {
      guard fragment.data.isEmpty, set.advertiser != nil, !set.content.data.isEmpty, !properties.usesLegacyPDUs
      else { return .invalidHCICommandParameters }
      sets[index]?.content.renewDataID(random: &device.random)
      contentChanged(index, device: &device, radio: &radio)
      return .success
    }
    var content = set.content
    let status = content.data.take(
      fragment, isPartial: &content.isDataPartial, isLegacy: properties.usesLegacyPDUs,
      isInUse: set.advertiser != nil)
    return setContent(content, status, because: .advertisingData, of: index, device: &device, radio: &radio)
  }

  /// Executes LE Set Extended Scan Response Data.
  mutating func setResponse(
    _ fragment: HCI.AdvertisingDataFragment, of handle: HCI.AdvertisingHandle, device: inout LocalDevice,
    radio: inout RadioControl
  ) -> HCI.ErrorCode {
    guard let index = sets.index(of: handle), let set = sets[index] else { return .unknownAdvertisingIdentifier }
    let properties = set.properties
    // A set that is not scannable can only discard a response.
    guard properties.isScannable || fragment.operation == .complete && fragment.data.isEmpty else {
      return .invalidHCICommandParameters
    }
    guard fragment.operation != .unchanged else { return .invalidHCICommandParameters }
    // A scannable extended set must have a response while it advertises.
    if set.advertiser != nil, properties.isScannable, !properties.usesLegacyPDUs, fragment.data.isEmpty {
      return .commandDisallowed
    }
    var content = set.content
    let status = content.response.take(
      fragment, isPartial: &content.isResponsePartial, isLegacy: properties.usesLegacyPDUs,
      isInUse: set.advertiser != nil)
    return setContent(content, status, because: .scanResponseData, of: index, device: &device, radio: &radio)
  }

  private mutating func setContent(
    _ new: AdvertisingContent, _ status: HCI.ErrorCode, because reason: HCI.AddressChangeReasons, of index: Int,
    device: inout LocalDevice, radio: inout RadioControl
  ) -> HCI.ErrorCode {
    guard status == .success || status == .memoryCapacityExceeded, var set = sets[index] else { return status }
    set.content = new
    if set.advertiser == nil { set.chooseInterval() }
    let isTooLong = !set.canCarryContent
    if isTooLong { set.content.discard(reason) }
    set.content.renewDataID(random: &device.random)
    sets[index]?.content = set.content
    sets[index]?.properties.interval = set.properties.interval
    dataChanged(reason, of: index, device: &device)
    contentChanged(index, device: &device, radio: &radio)
    return isTooLong ? .packetTooLong : status
  }

  // MARK: Enabling · 7.8.56

  /// Enables sets with LE Set Extended Advertising Enable.
  mutating func enable(
    _ elements: HCI.AdvertisingSetEnables, connectionCount: Int, device: inout LocalDevice,
    radio: inout RadioControl, at now: Instant
  ) -> HCI.ErrorCode {
    guard !elements.isEmpty else { return .invalidHCICommandParameters }
    if let refusal = refusal(of: elements) { return refusal }
    // The command enables all sets or none.
    for element in elements {
      guard let index = sets.index(of: element.handle) else { continue }
      let status = checkEnabling(
        index, duration: element.duration, connectionCount: connectionCount, device: &device, at: now)
      guard status == .success else { return status }
    }
    for element in elements {
      guard let index = sets.index(of: element.handle), let set = sets[index],
        let own = set.usableAddress(on: &device, at: now)
      else { continue }
      start(
        index, own: own, duration: .milliseconds(10) * Int64(element.duration), maximumEvents: element.maximumEvents,
        device: &device, radio: &radio, at: now)
    }
    return .success
  }

  /// Returns the error for a set that is named twice or does not exist; nil: no error.
  private mutating func refusal(of elements: HCI.AdvertisingSetEnables) -> HCI.ErrorCode? {
    var known: Set<HCI.AdvertisingHandle> = []
    for element in elements {
      guard known.insert(element.handle).inserted else { return .invalidHCICommandParameters }
      guard sets.index(of: element.handle) != nil else { return .unknownAdvertisingIdentifier }
    }
    return nil
  }

  private mutating func checkEnabling(
    _ index: Int, duration: UInt16, connectionCount: Int, device: inout LocalDevice, at now: Instant
  ) -> HCI.ErrorCode {
    guard let set = sets[index] else { return .unknownAdvertisingIdentifier }
    let properties = set.properties
    if set.content.isDataPartial || set.content.isResponsePartial { return .commandDisallowed }
    if properties.isScannable && !properties.usesLegacyPDUs && set.content.response.isEmpty {
      return .commandDisallowed
    }
    // The maximum is 1.28 s.
    if properties.isHighDutyCycle && !(1...128 ~= duration) { return .invalidHCICommandParameters }
    if set.usableAddress(on: &device, at: now) == nil { return .invalidHCICommandParameters }
    if properties.isConnectable && connectionCount >= device.configuration.connectionLimit {
      return .connectionLimitExceeded
    }
    return set.canCarryContent ? .success : .packetTooLong
  }

  /// Disables sets, or all sets, with LE Set Extended Advertising Enable.
  mutating func disable(_ elements: HCI.AdvertisingSetEnables, radio: inout RadioControl) -> HCI.ErrorCode {
    if let refusal = refusal(of: elements) { return refusal }
    for index in sets.indices where elements.isEmpty { stop(index, radio: &radio) }
    for element in elements {
      if let index = sets.index(of: element.handle) { stop(index, radio: &radio) }
    }
    return .success
  }

  // MARK: Removing · 7.8.59, 7.8.60

  /// Executes LE Remove Advertising Set.
  mutating func removeSet(_ handle: HCI.AdvertisingHandle) -> HCI.ErrorCode {
    guard let index = sets.index(of: handle) else { return .unknownAdvertisingIdentifier }
    guard let set = sets[index], !set.isInUse else { return .commandDisallowed }
    sets.remove(index)
    return .success
  }

  /// Executes LE Clear Advertising Sets.
  mutating func clearSets() -> HCI.ErrorCode {
    guard !sets.contains(where: { $0.isInUse }) else { return .commandDisallowed }
    for index in sets.indices { sets.remove(index) }
    return .success
  }
}
