import BluetoothWire

/// The commands for advertising sets · Vol 4, Part E, 7.8.52 to 7.8.60, 7.8.122.
extension Controller {
  /// Executes LE Set Data Related Address Changes. Advertising_Handle is ignored while the host uses the legacy
  /// commands.
  mutating func setAddressChanges(
    _ reasons: HCI.AddressChangeReasons, of handle: HCI.AdvertisingHandle
  ) -> HCI.ErrorCode {
    guard reasons.isSubset(of: [.advertisingData, .scanResponseData]) else {
      return .unsupportedFeatureOrParameterValue
    }
    guard host.commandGeneration == .legacy else {
      return withSet(handle) {
        $0.sets[$1]?.addressChanges = reasons
        return .success
      }
    }
    host.addressChanges = reasons
    if let index = sets.index(of: nil) { sets[index]?.addressChanges = reasons }
    return .success
  }

  /// Runs `body` with the index of the set with this handle, or returns an error if the set does not exist.
  mutating func withSet(
    _ handle: HCI.AdvertisingHandle, _ body: (inout Controller, Int) -> HCI.ErrorCode
  ) -> HCI.ErrorCode {
    guard let index = sets.index(of: handle) else { return .unknownAdvertisingIdentifier }
    return body(&self, index)
  }

  // MARK: Parameters · 7.8.52, 7.8.53

  /// Executes LE Set Advertising Set Random Address.
  mutating func setRandomAddress(_ value: UInt64, of index: Int) -> HCI.ErrorCode {
    let address = DeviceAddress(value, .random)
    if let advertiser = sets[index]?.advertiser, let set = sets[index] {
      // A central that has received the old address may be about to connect to it.
      guard !set.properties.isConnectable else { return .commandDisallowed }
      if advertiser.identity.own.kind == .random, !resolvingList.isOwn(advertiser.identity.own) {
        let identity = AdvertiserIdentity(set.properties, own: address, target: advertiser.identity.target)
        sets[index]?.advertiser?.setIdentity(identity, content: set.content, in: pool)
      }
    }
    sets[index]?.randomAddress = address
    return .success
  }

  /// Executes LE Set Extended Advertising Parameters.
  mutating func setParameters(_ parameters: HCI.ExtendedAdvertisingParameters) -> HCI.ReturnParameters {
    var properties: AdvertisingProperties
    do throws(HCI.ErrorCode) {
      properties = try AdvertisingProperties(parameters, defaultPower: configuration.transmitPower)
    } catch {
      return .status(error)
    }
    guard features.phys.isSuperset(of: [HCI.PHYs(properties.primary.phy), HCI.PHYs(properties.secondary.phy)]) else {
      return .status(.unsupportedFeatureOrParameterValue)
    }
    properties.knowsAlgorithm2 = features.contains(.channelSelectionAlgorithm2)
    if let index = sets.index(of: parameters.handle), let set = sets[index] {
      if let refusal = set.refusal(of: properties) { return .status(refusal) }
      sets[index]?.properties = properties
      sets[index]?.chooseInterval()
      guard sets[index]?.canCarryContent == true else {
        sets[index]?.properties = set.properties
        return .status(.packetTooLong)
      }
    } else {
      var set = AdvertisingSet(handle: parameters.handle, properties: properties)
      set.content.renewDataID(random: &random)
      guard sets.insert(set) != nil else { return .status(.memoryCapacityExceeded) }
    }
    return .leSelectedTransmitPower(properties.power.hciLevel)
  }

  // MARK: Data · 7.8.54, 7.8.55

  /// Executes LE Set Extended Advertising Data.
  mutating func setData(_ fragment: HCI.AdvertisingDataFragment, of index: Int) -> HCI.ErrorCode {
    guard let set = sets[index] else { return .unknownAdvertisingIdentifier }
    let properties = set.properties
    guard properties.hasData else { return .invalidHCICommandParameters }
    if case .unchanged = fragment.operation {
      guard fragment.data.isEmpty, set.advertiser != nil, !set.content.data.isEmpty, !properties.usesLegacyPDUs
      else { return .invalidHCICommandParameters }
      sets[index]?.content.renewDataID(random: &random)
      contentChanged(index)
      return .success
    }
    var content = set.content
    let status = content.data.take(
      fragment, isPartial: &content.isDataPartial, isLegacy: properties.usesLegacyPDUs,
      isInUse: set.advertiser != nil)
    return setContent(content, status, because: .advertisingData, of: index)
  }

  /// Executes LE Set Extended Scan Response Data.
  mutating func setResponse(_ fragment: HCI.AdvertisingDataFragment, of index: Int) -> HCI.ErrorCode {
    guard let set = sets[index] else { return .unknownAdvertisingIdentifier }
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
    return setContent(content, status, because: .scanResponseData, of: index)
  }

  private mutating func setContent(
    _ new: AdvertisingContent, _ status: HCI.ErrorCode, because reason: HCI.AddressChangeReasons, of index: Int
  ) -> HCI.ErrorCode {
    guard status == .success || status == .memoryCapacityExceeded, var set = sets[index] else { return status }
    set.content = new
    if set.advertiser == nil { set.chooseInterval() }
    let isTooLong = !set.canCarryContent
    if isTooLong { set.content.discard(reason) }
    set.content.renewDataID(random: &random)
    sets[index]?.content = set.content
    sets[index]?.properties.interval = set.properties.interval
    dataChanged(reason, of: index)
    contentChanged(index)
    return isTooLong ? .packetTooLong : status
  }

  // MARK: Enabling · 7.8.56

  /// Executes LE Set Extended Advertising Enable for sets that the command enables.
  mutating func enable(_ elements: HCI.AdvertisingSetEnables, at now: Instant) -> HCI.ErrorCode {
    guard !elements.isEmpty else { return .invalidHCICommandParameters }
    if let refusal = refusal(of: elements) { return refusal }
    // The command enables all sets or none.
    for element in elements {
      guard let index = sets.index(of: element.handle) else { continue }
      let status = checkEnabling(index, duration: element.duration, at: now)
      guard status == .success else { return status }
    }
    for element in elements {
      guard let index = sets.index(of: element.handle), let set = sets[index], let own = usableAddress(of: set, at: now)
      else { continue }
      startAdvertising(
        index, own: own, duration: .milliseconds(10) * Int64(element.duration), maximumEvents: element.maximumEvents,
        at: now)
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

  private mutating func checkEnabling(_ index: Int, duration: UInt16, at now: Instant) -> HCI.ErrorCode {
    guard let set = sets[index] else { return .unknownAdvertisingIdentifier }
    let properties = set.properties
    if set.content.isDataPartial || set.content.isResponsePartial { return .commandDisallowed }
    if properties.isScannable && !properties.usesLegacyPDUs && set.content.response.isEmpty {
      return .commandDisallowed
    }
    // The maximum is 1.28 s.
    if properties.isHighDutyCycle && !(1...128 ~= duration) { return .invalidHCICommandParameters }
    if usableAddress(of: set, at: now) == nil { return .invalidHCICommandParameters }
    if properties.isConnectable && connections.count >= configuration.connectionLimit {
      return .connectionLimitExceeded
    }
    return set.canCarryContent ? .success : .packetTooLong
  }

  /// Returns the identity address of a set; each set has a separate random address · 7.8.52.
  mutating func ownAddress(of set: AdvertisingSet) -> DeviceAddress? {
    switch set.properties.ownAddressType {
    case .public, .resolvableOrPublic: configuration.address.kind == .public ? configuration.address : nil
    case .random, .resolvableOrRandom: set.randomAddress
    }
  }

  /// Returns the address that a set can use: its identity address, or the private one for its peer · 7.8.56. An
  /// undirected anonymous set sends no address, so its own address type does not matter · 7.8.53.
  private mutating func usableAddress(of set: AdvertisingSet, at now: Instant) -> DeviceAddress? {
    if set.properties.isAnonymous && !set.properties.isDirected { return ownAddress(of: set) ?? configuration.address }
    return usableAddress(
      set.properties.ownAddressType, to: set.properties.peer.deviceAddress, identity: ownAddress(of: set), at: now)
  }

  /// Executes LE Set Extended Advertising Enable for sets that the command disables.
  mutating func disable(_ elements: HCI.AdvertisingSetEnables) -> HCI.ErrorCode {
    if let refusal = refusal(of: elements) { return refusal }
    for index in sets.indices where elements.isEmpty { stopAdvertising(index) }
    for element in elements {
      if let index = sets.index(of: element.handle) { stopAdvertising(index) }
    }
    return .success
  }

  // MARK: Removing · 7.8.59, 7.8.60

  /// Executes LE Remove Advertising Set.
  mutating func removeSet(_ index: Int) -> HCI.ErrorCode {
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

extension ByteSlice {
  /// Adds a fragment from the host · Vol 4, Part E, 7.8.54. Data that are too long are discarded.
  mutating func take(
    _ fragment: HCI.AdvertisingDataFragment, isPartial: inout Bool, isLegacy: Bool, isInUse: Bool
  ) -> HCI.ErrorCode {
    switch fragment.operation {
    case .complete:
      guard !isLegacy || fragment.data.count <= LL.maximumAdvertisingDataLength else {
        return .invalidHCICommandParameters
      }
      // A copy, so that the buffer of the whole command can be reused.
      self = fragment.data.withUnsafeBytes { ByteSlice($0) }
      isPartial = false
      return .success
    case .first, .intermediate, .last:
      guard !isLegacy, !fragment.data.isEmpty else { return .invalidHCICommandParameters }
      guard !isInUse else { return .commandDisallowed }
      guard isPartial || fragment.operation == .first else { return .invalidHCICommandParameters }
      let before = fragment.operation == .first ? [] : bytes
      guard before.count + fragment.data.count <= AdvertisingContent.maximumLength else {
        self = ByteSlice()
        isPartial = false
        return .memoryCapacityExceeded
      }
      self = ByteSlice(before + fragment.data.bytes)
      isPartial = fragment.operation != .last
      return .success
    case .unchanged: return .invalidHCICommandParameters
    }
  }
}
