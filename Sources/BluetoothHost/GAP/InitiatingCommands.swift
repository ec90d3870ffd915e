import BluetoothWire

/// The builder of the commands for connecting, in their legacy or their extended form · Vol 4, Part E, 7.8.12,
/// 7.8.66.
struct InitiatingCommands {
  let isExtended: Bool
  /// True if the controller has LE 2M. A device found on LE 1M may then be connected to on LE 2M.
  let has2M: Bool
  let usesLECoded: Bool
  let ownAddressType: HCI.OwnAddressType
  let configuration: HostConfiguration
  /// The identity addresses of devices with private addresses.
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

  /// Returns the peer of the legacy command, the only command with separate address types for identities.
  private func legacyPeer(_ target: DeviceAddress) -> HCI.PeerAddress {
    let identityTypes: UInt8 = 2
    return HCI.PeerAddress(
      type: target.kind.rawValue + (identities.contains(target) ? identityTypes : 0), value: target.value)
  }
}
