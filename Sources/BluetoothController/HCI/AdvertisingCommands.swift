import BluetoothWire

/// Commands for advertising and the Filter Accept List · Vol 4, Part E, 7.8.4 to 7.8.9, 7.8.14 to 7.8.17.
extension Controller {
  /// Executes LE Set Advertising Data.
  mutating func setAdvertisingData(_ data: ByteSlice) -> HCI.ErrorCode {
    host.advertisingData = Self.kept(data)
    legacyContentChanged(because: .advertisingData)
    return .success
  }

  /// Executes LE Set Scan Response Data.
  mutating func setScanResponseData(_ data: ByteSlice) -> HCI.ErrorCode {
    host.scanResponse = Self.kept(data)
    legacyContentChanged(because: .scanResponseData)
    return .success
  }

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

  /// Returns a copy, so that the buffer of the whole command can be reused.
  private static func kept(_ data: ByteSlice) -> ByteSlice { data.withUnsafeBytes { ByteSlice($0) } }

  /// Executes LE Set Random Address.
  mutating func setRandomAddress(_ value: UInt64) -> HCI.ErrorCode {
    guard sets.index(of: nil) == nil, scanner == nil, initiator == nil else { return .commandDisallowed }
    host.randomAddress = DeviceAddress(value, .random)
    return .success
  }

  /// Executes LE Set Advertising Parameters.
  mutating func setAdvertisingParameters(_ parameters: HCI.AdvertisingParameters) -> HCI.ErrorCode {
    guard sets.index(of: nil) == nil else { return .commandDisallowed }
    let isHighDuty = parameters.type == .connectableDirectedHighDutyCycle
    let isDirected = isHighDuty || parameters.type == .connectableDirectedLowDutyCycle
    let hasIntervals =
      0x0020...0x4000 ~= parameters.minimumInterval && 0x0020...0x4000 ~= parameters.maximumInterval
      && parameters.minimumInterval <= parameters.maximumInterval
    let hasPeer = !isDirected || parameters.peer.type <= 1
    guard isHighDuty || hasIntervals, hasPeer, parameters.channelMap & 0b111 != 0,
      parameters.channelMap & ~0b111 == 0, isDirected || parameters.filterPolicy <= 3
    else { return .invalidHCICommandParameters }
    host.advertisingParameters = parameters
    return .success
  }

  /// Changes the Filter Accept List, unless an advertiser, the scanner or the initiator filters with it · 7.8.15 to
  /// 7.8.17.
  private mutating func changeAcceptList(_ change: (inout AcceptList) -> HCI.ErrorCode) -> HCI.ErrorCode {
    let isInUse =
      sets.contains { $0.advertiser?.identity.properties.usesAcceptList == true } || scanner?.usesAcceptList == true
      || initiator?.request.usesAcceptList == true
    return isInUse ? .commandDisallowed : change(&host.acceptList)
  }
}

extension HCI.PeerAddress {
  /// True for public and random addresses, and for anonymous advertisers · 7.8.16.
  fileprivate var isOnAcceptListPossible: Bool { type <= 1 || type == 0xFF }
}
