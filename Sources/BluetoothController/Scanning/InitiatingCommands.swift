import BluetoothWire

/// Commands for initiating · Vol 4, Part E, 7.8.12, 7.8.13, 7.8.66.
extension Controller {
  /// Returns the status of LE Create Connection.
  mutating func checkInitiating(_ request: HCI.CreateConnection, at now: Instant) -> HCI.ErrorCode {
    guard request.scanInterval <= 0x4000 else { return .invalidHCICommandParameters }
    return check(HCI.ExtendedCreateConnection(request), limit: .connectionLimitExceeded, at: now)
  }

  /// Returns the status of LE Extended Create Connection.
  mutating func checkInitiating(_ request: HCI.ExtendedCreateConnection, at now: Instant) -> HCI.ErrorCode {
    check(request, limit: .connectionRejectedLimitedResources, at: now)
  }

  /// Returns the status of LE Create Connection Cancel.
  mutating func checkInitiatingCancel() -> HCI.ErrorCode {
    initiator.map(\.isCancelled) ?? true ? .commandDisallowed : .success
  }

  /// Returns the status of a connection request.
  ///
  /// - Parameter limit: the error when the maximum number of connections exists · 7.8.66.
  private mutating func check(
    _ request: HCI.ExtendedCreateConnection, limit: HCI.ErrorCode, at now: Instant
  ) -> HCI.ErrorCode {
    guard initiator == nil else { return .commandDisallowed }
    // Primary advertising uses LE 1M or LE Coded, so one of them is required.
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

  /// Returns the address that an attempt uses; nil: none. With the Filter Accept List there is no single peer whose
  /// entry in the resolving list could give an address.
  private mutating func address(for request: HCI.ExtendedCreateConnection, at now: Instant) -> DeviceAddress? {
    let type = request.ownAddressType
    return usableAddress(
      type, to: request.usesAcceptList ? nil : request.peer.deviceAddress, identity: ownAddress(type), at: now)
  }

  /// True if this device supports the PHYs of the request.
  private mutating func isPossible(_ request: HCI.ExtendedCreateConnection) -> Bool {
    (request.le2M == nil || features.contains(.le2MPHY)) && (request.leCoded == nil || features.contains(.leCodedPHY))
  }

  /// Starts the initiator after the command's Command Status.
  mutating func initiate(_ request: HCI.ExtendedCreateConnection, isExtended: Bool, at now: Instant) {
    guard let own = address(for: request, at: now) else { return }
    initiator = Initiator(request, isExtended: isExtended, own: own, at: now, random: &random)
    listeningChanged()
  }

  /// Cancels the attempt after the Command Complete.
  mutating func cancelInitiating() {
    // If CONNECT_IND is being sent, the connection is already created · 7.8.13. With AUX_CONNECT_REQ the connection
    // depends on the response.
    if isConnecting, isTransmitting { return }
    if auxiliaries.indices.contains(where: { auxiliaries[$0]?.isConnecting == true }) {
      initiator?.isCancelled = true
      return
    }
    endInitiating()
  }

  /// Ends the attempt as the host requested, and reports that.
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
