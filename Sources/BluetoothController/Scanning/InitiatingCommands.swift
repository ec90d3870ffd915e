import BluetoothWire

/// Commands for initiating · Vol 4, Part E, 7.8.12, 7.8.13, 7.8.66.
extension Controller {
  /// The status of a command that begins a connection; nil: it is not one of those.
  mutating func statusOfInitiating(_ command: HCI.Command, at now: Instant) -> HCI.ErrorCode? {
    switch command {
    case .leCreateConnection(let request):
      guard request.scanInterval <= 0x4000 else { return .invalidHCICommandParameters }
      return check(HCI.ExtendedCreateConnection(request), limit: .connectionLimitExceeded, at: now)
    case .leExtendedCreateConnection(let request):
      return check(request, limit: .connectionRejectedLimitedResources, at: now)
    default: return nil
    }
  }

  /// - Parameter limit: the error when there are as many connections as there can be · 7.8.66.
  private mutating func check(
    _ request: HCI.ExtendedCreateConnection, limit: HCI.ErrorCode, at now: Instant
  ) -> HCI.ErrorCode {
    guard initiator == nil else { return .commandDisallowed }
    // What is never scanned alone can't be connected to.
    guard request.le1M != nil || request.leCoded != nil, request.le1M?.isValid ?? true,
      request.le2M?.parameters.isValid ?? true, request.leCoded?.isValid ?? true,
      let own = address(for: request, at: now), request.usesAcceptList || request.peer.type <= 3
    else { return .invalidHCICommandParameters }
    guard isPossible(request) else { return .unsupportedFeatureOrParameterValue }
    guard connections.count < configuration.connectionLimit else { return limit }
    if !request.usesAcceptList, let peer = request.peer.deviceAddress, isConnected(own: own, peer: peer) {
      return .connectionAlreadyExists
    }
    return .success
  }

  /// The address that an attempt goes by; nil: there is none. The accept list names no peer whose entry could give one.
  private mutating func address(for request: HCI.ExtendedCreateConnection, at now: Instant) -> DeviceAddress? {
    let type = request.ownAddressType
    return usableAddress(
      type, to: request.usesAcceptList ? nil : request.peer.deviceAddress, identity: ownAddress(type), at: now)
  }

  /// Whether this device has the PHYs of the request.
  private mutating func isPossible(_ request: HCI.ExtendedCreateConnection) -> Bool {
    (request.le2M == nil || features.contains(.le2MPHY)) && (request.leCoded == nil || features.contains(.leCodedPHY))
  }

  /// What such a command begins, after its Command Status has gone.
  mutating func followInitiating(_ command: HCI.Command, at now: Instant) {
    switch command {
    case .leCreateConnection(let request):
      initiate(HCI.ExtendedCreateConnection(request), isExtended: false, at: now)
    case .leExtendedCreateConnection(let request): initiate(request, isExtended: true, at: now)
    default: break
    }
  }

  private mutating func initiate(_ request: HCI.ExtendedCreateConnection, isExtended: Bool, at now: Instant) {
    guard let own = address(for: request, at: now) else { return }
    initiator = Initiator(request, isExtended: isExtended, own: own, at: now, random: &random)
    listeningChanged()
  }

  /// What a cancelled attempt leads to after the Command Complete has gone.
  mutating func cancelInitiating() {
    // CONNECT_IND may be on its way: then the connection is already made · 7.8.13. With AUX_CONNECT_REQ that depends on the
    // answer.
    if isConnecting, isTransmitting { return }
    if auxiliaries.indices.contains(where: { auxiliaries[$0]?.isConnecting == true }) {
      initiator?.isCancelled = true
      return
    }
    endInitiating()
  }

  /// The attempt is over, as the host wanted it.
  mutating func endInitiating() {
    initiator = nil
    listeningChanged()
    output.send(HCI.ConnectionComplete(failure: .unknownConnectionIdentifier))
  }

  private var isConnecting: Bool {
    mutating get { if case .connecting = radioUse { true } else { false } }
  }
}

extension HCI.ExtendedCreateConnection.Initiating {
  fileprivate var isValid: Bool { scanWindow >= 4 && scanWindow <= scanInterval && parameters.isValid }
}
