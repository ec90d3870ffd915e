import BluetoothWire

/// Commands for advertising and the Filter Accept List · Vol 4, Part E, 7.8.4 to 7.8.9, 7.8.14 to 7.8.17.
extension Controller {
  mutating func advertising(_ command: HCI.Command, at now: Instant) -> HCI.ReturnParameters? {
    switch command {
    case .leSetRandomAddress(let value): return .status(setRandomAddress(value))
    case .leSetAdvertisingParameters(let parameters): return .status(setAdvertisingParameters(parameters))
    case .leReadAdvertisingPhysicalChannelTxPower:
      return .leAdvertisingPhysicalChannelTxPower(configuration.transmitPower.hciLevel)
    case .leSetAdvertisingData(let data):
      host.advertisingData = Self.kept(data)
      legacyContentChanged(because: .advertisingData)
      return .status(.success)
    case .leSetScanResponseData(let data):
      host.scanResponse = Self.kept(data)
      legacyContentChanged(because: .scanResponseData)
      return .status(.success)
    case .leSetAdvertisingEnable(let isEnabled): return .status(setAdvertisingEnable(isEnabled, at: now))
    case .leReadFilterAcceptListSize: return .leFilterAcceptListSize(UInt8(AcceptList.capacity))
    case .leClearFilterAcceptList:
      return .status(
        changeAcceptList {
          $0.removeAll()
          return .success
        })
    case .leAddDeviceToFilterAcceptList(let peer):
      guard peer.isOnAcceptListPossible else { return .status(.invalidHCICommandParameters) }
      return .status(changeAcceptList { $0.insert(peer) ? .success : .memoryCapacityExceeded })
    case .leRemoveDeviceFromFilterAcceptList(let peer):
      guard peer.isOnAcceptListPossible else { return .status(.invalidHCICommandParameters) }
      return .status(
        changeAcceptList {
          $0.remove(peer)
          return .success
        })
    default: return nil
    }
  }

  /// Returns a copy, so that the buffer of the whole command can be reused.
  private static func kept(_ data: ByteSlice) -> ByteSlice { data.withUnsafeBytes { ByteSlice($0) } }

  private mutating func setRandomAddress(_ value: UInt64) -> HCI.ErrorCode {
    guard sets.index(of: nil) == nil, scanner == nil, initiator == nil else { return .commandDisallowed }
    host.randomAddress = DeviceAddress(value, .random)
    return .success
  }

  private mutating func setAdvertisingParameters(_ parameters: HCI.AdvertisingParameters) -> HCI.ErrorCode {
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
