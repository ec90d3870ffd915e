import BluetoothWire

/// The commands that have a controller connect, as the older or the newer ones have them · Vol 4, Part E, 7.8.12, 7.8.66.
struct InitiatingCommands {
  let isExtended: Bool
  /// The controller has LE 2M: who is found on LE 1M may want to be connected to there.
  let has2M: Bool
  let usesLECoded: Bool
  let ownAddressType: HCI.OwnAddressType
  let configuration: HostConfiguration
  /// Addresses that stand for a device with private ones.
  let identities: [DeviceAddress]

  func create(_ target: DeviceAddress, usesAcceptList: Bool) -> HCI.Command {
    guard isExtended else {
      return .leCreateConnection(
        HCI.CreateConnection(
          scanInterval: configuration.scanInterval, scanWindow: configuration.scanInterval,
          usesAcceptList: usesAcceptList, peer: legacyPeer(target), ownAddressType: ownAddressType,
          parameters: configuration.connection))
    }
    let initiating = HCI.ExtendedCreateConnection.Initiating(
      scanInterval: configuration.scanInterval, scanWindow: configuration.scanInterval,
      parameters: configuration.connection)
    return .leExtendedCreateConnection(
      HCI.ExtendedCreateConnection(
        usesAcceptList: usesAcceptList, ownAddressType: ownAddressType, peer: HCI.PeerAddress(target), le1M: initiating,
        le2M: has2M ? initiating : nil, leCoded: usesLECoded ? initiating : nil))
  }

  /// The older command alone has types of its own for identities.
  private func legacyPeer(_ target: DeviceAddress) -> HCI.PeerAddress {
    let identityTypes: UInt8 = 2
    return HCI.PeerAddress(
      type: target.kind.rawValue + (identities.contains(target) ? identityTypes : 0), value: target.value)
  }
}
