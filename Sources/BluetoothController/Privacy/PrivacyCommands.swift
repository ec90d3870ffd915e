import BluetoothWire

/// Commands for private addresses · Vol 4, Part E, 7.8.38 to 7.8.45, 7.8.77.
extension Controller {
  mutating func ofPrivacy(_ command: HCI.Command, at now: Instant) -> HCI.ReturnParameters? {
    switch command {
    case .leAddDeviceToResolvingList(let peer, let peerIRK, let localIRK):
      return .status(
        changeResolvingList { $0.add(peer, peerIRK: peerIRK.value, localIRK: localIRK.value) })
    case .leRemoveDeviceFromResolvingList(let peer): return .status(changeResolvingList { $0.remove(peer) })
    case .leClearResolvingList:
      return .status(
        changeResolvingList {
          $0.removeAll()
          return .success
        })
    case .leReadResolvingListSize: return .leResolvingListSize(UInt8(ResolvingList.capacity))
    case .leReadPeerResolvableAddress(let peer):
      guard peer.type <= 1 else { return .status(.invalidHCICommandParameters) }
      guard let address = resolvingList.peerAddress(of: peer) else { return .status(.unknownConnectionIdentifier) }
      return .lePeerResolvableAddress(address.value)
    case .leReadLocalResolvableAddress(let peer):
      guard peer.type <= 1 else { return .status(.invalidHCICommandParameters) }
      guard let address = resolvingList.localAddress(for: peer.deviceAddress, at: now, random: &random) else {
        return .status(.unknownConnectionIdentifier)
      }
      return .leLocalResolvableAddress(address.value)
    case .leSetAddressResolutionEnable(let isEnabled):
      guard !isUsingAddresses else { return .status(.commandDisallowed) }
      resolvingList.isEnabled = isEnabled
      return .status(.success)
    case .leSetResolvablePrivateAddressTimeout(let seconds):
      return .status(resolvingList.setTimeout(seconds, at: now))
    case .leSetPrivacyMode(let peer, let isDevicePrivacy):
      return .status(
        changeResolvingList { $0.setPrivacyMode(of: peer, usesDevicePrivacy: isDevicePrivacy) })
    default: return nil
    }
  }

  /// True while an activity depends on the resolution of addresses.
  private var isUsingAddresses: Bool {
    mutating get { sets.isAdvertising || scanner != nil || initiator != nil || syncs.request != nil }
  }

  /// Changes the resolving list, unless address resolution is enabled and in use.
  private mutating func changeResolvingList(_ change: (inout ResolvingList) -> HCI.ErrorCode) -> HCI.ErrorCode {
    resolvingList.isEnabled && isUsingAddresses ? .commandDisallowed : change(&resolvingList)
  }
}
