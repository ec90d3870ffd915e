import BluetoothRadio
import BluetoothWire

/// The advertising state of the link layer: all advertising sets, with their trains · Vol 6, Part B, 4.4.2.
///
/// A set that is legacy advertising has no handle, and exists while it is enabled · Vol 4, Part E, 7.8.5 to 7.8.9.
struct AdvertisingEngine: ~Copyable {
  var sets = ControllerAdvertisingSets()
  /// The settings of legacy advertising.
  private var legacy = LegacyAdvertising()

  /// Restores the state after power on. The radio is reset separately.
  mutating func reset() {
    sets.removeAll()
    legacy = LegacyAdvertising()
  }

  /// The earliest time at which the duration of a set ends; `distantFuture`: no set has a duration.
  var deadline: Instant { mutating get { sets.deadline } }

  /// True if legacy advertising is enabled.
  var isLegacyEnabled: Bool { mutating get { sets.index(of: nil) != nil } }

  /// True if a set advertises.
  var isAdvertising: Bool { mutating get { sets.isAdvertising } }

  /// True if an advertiser filters with the Filter Accept List.
  var usesAcceptList: Bool {
    mutating get { sets.contains { $0.advertiser?.identity.properties.usesAcceptList == true } }
  }

  // MARK: Legacy commands

  /// Executes LE Set Advertising Parameters.
  mutating func setLegacyParameters(_ parameters: HCI.AdvertisingParameters) -> HCI.ErrorCode {
    isLegacyEnabled ? .commandDisallowed : legacy.setParameters(parameters)
  }

  /// Executes LE Set Advertising Data.
  mutating func setLegacyData(_ data: ByteSlice, device: inout LocalDevice, radio: inout RadioControl) -> HCI.ErrorCode
  {
    legacy.setData(data)
    legacyContentChanged(because: .advertisingData, device: &device, radio: &radio)
    return .success
  }

  /// Executes LE Set Scan Response Data.
  mutating func setLegacyResponse(
    _ response: ByteSlice, device: inout LocalDevice, radio: inout RadioControl
  ) -> HCI.ErrorCode {
    legacy.setResponse(response)
    legacyContentChanged(because: .scanResponseData, device: &device, radio: &radio)
    return .success
  }

  /// Executes LE Set Advertising Enable.
  mutating func setLegacyEnable(
    _ isEnabled: Bool, connectionCount: Int, device: inout LocalDevice, radio: inout RadioControl, at now: Instant
  ) -> HCI.ErrorCode {
    guard isEnabled else {
      if let index = sets.index(of: nil) {
        stop(index, radio: &radio)
        sets.remove(index)
      }
      return .success
    }
    guard !isLegacyEnabled else { return .success }
    var properties = AdvertisingProperties(legacy.parameters, power: device.configuration.transmitPower)
    properties.knowsAlgorithm2 = device.features.contains(.channelSelectionAlgorithm2)
    if properties.isConnectable && connectionCount >= device.configuration.connectionLimit {
      return .connectionLimitExceeded
    }
    let type = properties.ownAddressType
    guard
      let own = device.usableAddress(
        type, to: properties.peer.deviceAddress, identity: device.ownAddress(type), at: now)
    else { return .invalidHCICommandParameters }
    var set = ControllerAdvertisingSet(handle: nil, properties: properties)
    set.content.data = legacy.data
    set.content.response = legacy.response
    set.addressChanges = legacy.addressChanges
    guard let index = sets.insert(set) else { return .memoryCapacityExceeded }
    start(index, own: own, device: &device, radio: &radio, at: now)
    return .success
  }

  /// Applies changed data of the host, which the next packet carries.
  private mutating func legacyContentChanged(
    because reason: HCI.AddressChangeReasons, device: inout LocalDevice, radio: inout RadioControl
  ) {
    guard let index = sets.index(of: nil) else { return }
    sets[index]?.content.data = legacy.data
    sets[index]?.content.response = legacy.response
    dataChanged(reason, of: index, device: &device)
    contentChanged(index, device: &device, radio: &radio)
  }

  /// Sets the kinds of data whose change also changes the address of legacy advertising · 7.8.122.
  mutating func setLegacyAddressChanges(_ reasons: HCI.AddressChangeReasons) {
    legacy.addressChanges = reasons
    if let index = sets.index(of: nil) { sets[index]?.addressChanges = reasons }
  }
}
