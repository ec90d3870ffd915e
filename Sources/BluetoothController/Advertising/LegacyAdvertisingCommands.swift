import BluetoothWire

/// Advertising with the legacy commands: one set without a handle, which exists while it is enabled · Vol 4, Part E,
/// 7.8.5 to 7.8.9.
extension Controller {
  /// Executes LE Set Advertising Enable.
  mutating func setAdvertisingEnable(_ isEnabled: Bool, at now: Instant) -> HCI.ErrorCode {
    guard isEnabled else {
      if let index = sets.index(of: nil) {
        stopAdvertising(index)
        sets.remove(index)
      }
      return .success
    }
    guard sets.index(of: nil) == nil else { return .success }
    var properties = AdvertisingProperties(host.advertisingParameters, power: configuration.transmitPower)
    properties.knowsAlgorithm2 = features.contains(.channelSelectionAlgorithm2)
    if properties.isConnectable && connections.count >= configuration.connectionLimit {
      return .connectionLimitExceeded
    }
    let type = properties.ownAddressType
    guard
      let own = usableAddress(type, to: properties.peer.deviceAddress, identity: ownAddress(type), at: now)
    else { return .invalidHCICommandParameters }
    var set = AdvertisingSet(handle: nil, properties: properties)
    set.content.data = host.advertisingData
    set.content.response = host.scanResponse
    set.addressChanges = host.addressChanges
    guard let index = sets.insert(set) else { return .memoryCapacityExceeded }
    startAdvertising(index, own: own, at: now)
    return .success
  }

  /// Applies changed data of the host, which the next packet carries.
  mutating func legacyContentChanged(because reason: HCI.AddressChangeReasons) {
    guard let index = sets.index(of: nil) else { return }
    sets[index]?.content.data = host.advertisingData
    sets[index]?.content.response = host.scanResponse
    dataChanged(reason, of: index)
    contentChanged(index)
  }
}
