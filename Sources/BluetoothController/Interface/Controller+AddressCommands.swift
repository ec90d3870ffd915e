import BluetoothWire

/// Commands for the device's addresses, the Filter Accept List and the resolving list, which all states use · Vol 4,
/// Part E, 7.8.4, 7.8.14 to 7.8.17, 7.8.38 to 7.8.45, 7.8.77.
extension Controller {
  /// Executes LE Set Random Address.
  mutating func setRandomAddress(_ value: UInt64) -> HCI.ErrorCode {
    guard !advertising.isLegacyEnabled, !scanning.isEnabled, !initiating.isActive else { return .commandDisallowed }
    device.randomAddress = DeviceAddress(value, .random)
    return .success
  }

  // MARK: Filter Accept List

  /// Executes LE Clear Filter Accept List.
  mutating func clearAcceptList() -> HCI.ErrorCode {
    changeAcceptList {
      $0.removeAll()
      return .success
    }
  }

  /// Executes LE Add Device To Filter Accept List.
  mutating func addToAcceptList(_ peer: HCI.PeerAddress) -> HCI.ErrorCode {
    guard peer.isOnAcceptListPossible else { return .invalidHCICommandParameters }
    return changeAcceptList { $0.insert(peer) ? .success : .memoryCapacityExceeded }
  }

  /// Executes LE Remove Device From Filter Accept List.
  mutating func removeFromAcceptList(_ peer: HCI.PeerAddress) -> HCI.ErrorCode {
    guard peer.isOnAcceptListPossible else { return .invalidHCICommandParameters }
    return changeAcceptList {
      $0.remove(peer)
      return .success
    }
  }

  // MARK: Resolving list

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
    guard let address = device.resolvingList.peerAddress(of: peer) else {
      return .status(.unknownConnectionIdentifier)
    }
    return .lePeerResolvableAddress(address.value)
  }

  /// Executes LE Read Local Resolvable Address.
  mutating func localResolvableAddress(for peer: HCI.PeerAddress, at now: Instant) -> HCI.ReturnParameters {
    guard peer.type <= 1 else { return .status(.invalidHCICommandParameters) }
    guard let address = device.resolvingList.localAddress(for: peer.deviceAddress, at: now, random: &device.random)
    else { return .status(.unknownConnectionIdentifier) }
    return .leLocalResolvableAddress(address.value)
  }

  /// Executes LE Set Address Resolution Enable.
  mutating func setAddressResolution(_ isEnabled: Bool) -> HCI.ErrorCode {
    guard !isUsingAddresses else { return .commandDisallowed }
    device.resolvingList.isEnabled = isEnabled
    return .success
  }

  /// True while an activity depends on the resolution of addresses.
  private var isUsingAddresses: Bool {
    mutating get { advertising.isAdvertising || scanning.isEnabled || initiating.isActive || syncs.request != nil }
  }

  /// Changes the resolving list, unless address resolution is enabled and in use.
  mutating func changeResolvingList(_ change: (inout ResolvingList) -> HCI.ErrorCode) -> HCI.ErrorCode {
    device.resolvingList.isEnabled && isUsingAddresses ? .commandDisallowed : change(&device.resolvingList)
  }

  /// Changes the Filter Accept List, unless an advertiser, the scanner or the initiator filters with it · 7.8.15 to
  /// 7.8.17.
  private mutating func changeAcceptList(_ change: (inout AcceptList) -> HCI.ErrorCode) -> HCI.ErrorCode {
    let isInUse = advertising.usesAcceptList || scanning.usesAcceptList || initiating.usesAcceptList
    return isInUse ? .commandDisallowed : change(&device.acceptList)
  }
}

extension HCI.PeerAddress {
  /// True for public and random addresses, and for anonymous advertisers · 7.8.16.
  fileprivate var isOnAcceptListPossible: Bool { type <= 1 || type == 0xFF }
}
