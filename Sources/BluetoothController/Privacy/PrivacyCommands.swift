import BluetoothWire

/// Commands for private addresses · Vol 4, Part E, 7.8.38 to 7.8.45, 7.8.77.
extension Controller {
  /// Executes LE Clear Resolving List.
  mutating func clearResolvingList() -> HCI.ErrorCode {
    changeResolvingList {
      $0.removeAll()
      return .success
    }
  }

  /// Executes LE Read Peer Resolvable Address.
  mutating func peerResolvableAddress(of peer: HCI.PeerAddress) -> HCI.ReturnParameters {
    guard peer.type <= 1 else { return .status(.invalidHCICommandParameters) }
    guard let address = resolvingList.peerAddress(of: peer) else { return .status(.unknownConnectionIdentifier) }
    return .lePeerResolvableAddress(address.value)
  }

  /// Executes LE Read Local Resolvable Address.
  mutating func localResolvableAddress(for peer: HCI.PeerAddress, at now: Instant) -> HCI.ReturnParameters {
    guard peer.type <= 1 else { return .status(.invalidHCICommandParameters) }
    guard let address = resolvingList.localAddress(for: peer.deviceAddress, at: now, random: &random) else {
      return .status(.unknownConnectionIdentifier)
    }
    return .leLocalResolvableAddress(address.value)
  }

  /// Executes LE Set Address Resolution Enable.
  mutating func setAddressResolution(_ isEnabled: Bool) -> HCI.ErrorCode {
    guard !isUsingAddresses else { return .commandDisallowed }
    resolvingList.isEnabled = isEnabled
    return .success
  }

  /// True while an activity depends on the resolution of addresses.
  private var isUsingAddresses: Bool {
    mutating get { sets.isAdvertising || scanner != nil || initiator != nil || syncs.request != nil }
  }

  /// Changes the resolving list, unless address resolution is enabled and in use.
  mutating func changeResolvingList(_ change: (inout ResolvingList) -> HCI.ErrorCode) -> HCI.ErrorCode {
    resolvingList.isEnabled && isUsingAddresses ? .commandDisallowed : change(&resolvingList)
  }
}
