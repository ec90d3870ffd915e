import BluetoothWire

/// Privacy: the device's own addresses and the address resolution of bonded peers · Vol 3, Part C, 10.7.
extension GAP {
  /// Returns the address that this device uses on the air unless the controller generates private addresses.
  func addressOnAir(_ context: inout HostContext) -> DeviceAddress {
    context.controller.capabilities.ownAddressType == .public
      ? context.controller.capabilities.publicAddress ?? context.address : ownAddress.current
  }

  // MARK: Peers

  /// Returns the device behind an address: the identity of the bonded peer whose key resolves a private address that
  /// the controller did not resolve; for all other addresses, the address itself · Vol 3, Part C, 10.8.2.3.
  mutating func identity(of address: DeviceAddress, _ security: inout HostSecurity) -> DeviceAddress {
    guard let identity = security.owner(of: address) else { return address }
    if resolvingList.missed(identity, isCertain: initiator.probesResolvingList) { initiator.reconsider() }
    return identity
  }

  /// Processes an advertiser's address. Returns the advertiser's identity or address; nil: the advertiser is
  /// anonymous.
  mutating func advertiserHeard(
    _ advertiser: HCI.PeerAddress, isConnectable: Bool, _ security: inout HostSecurity, at now: Instant
  ) -> DeviceAddress? {
    guard let address = advertiser.deviceAddress else { return nil }
    noteResolution(of: advertiser)
    let identity = self.identity(of: address, &security)
    if isConnectable, initiator.connectsByScanning { initiator.heard(identity, at: address, now) }
    return identity
  }

  /// Notes that the controller's resolving list works, if the controller reports an identity in place of a private
  /// address.
  mutating func noteResolution(of peer: HCI.PeerAddress) {
    if peer.isResolvedIdentity, resolvingList.proved() { initiator.reconsider() }
  }

  /// Chooses whether to connect with the controller's filter accept list or by scanning. The host also scans for a
  /// while if the controller has not yet proved that it resolves the addresses of pending peers.
  ///
  /// If the controller cannot resolve the address of a pending peer, the host finds the peer by scanning and connects
  /// to the address that it has heard; it treats all other pending peers in the same way.
  mutating func chooseConnectionMethod(_ security: inout HostSecurity, at now: Instant) {
    let hasKeys = security.bonds.hasKeys
    let needsScanning =
      hasKeys && initiator.requestedDevices.contains { security.bonds.hasKey(of: $0) && !resolvingList.resolves($0) }
    let relies = hasKeys && !needsScanning && !resolvingList.isProven
    initiator.rely(
      onUnprovenList: relies && initiator.requestedDevices.contains { security.bonds.hasKey(of: $0) }, at: now)
    initiator.connect(byScanning: needsScanning || initiator.probesResolvingList)
  }

  // MARK: Address changes

  /// True if this device's address or the resolving list must change, which the controller permits only while it uses
  /// no addresses.
  @inline(__always)
  var hasAddressChanges: Bool { resolvingList.isDirty || ownAddress.isDirty }

  /// Changes this device's address and the resolving list. The host pauses advertising, scanning and connecting for
  /// that, and resumes them afterwards · Vol 4, Part E, 7.8.4, 7.8.38.
  mutating func changeAddresses(_ context: inout HostContext) {
    let capabilities = context.controller.capabilities
    if !capabilities.leFeatures.contains(.llPrivacy) || !capabilities.supports(.leAddDeviceToResolvingList) {
      resolvingList.leave()
    }
    guard hasAddressChanges else { return }
    pauseForAddresses(true)
    guard advertisers.isQuiet, scanner.isQuiet, initiator.isQuiet, synchronizer.isQuiet else { return }
    if let command = ownAddress.next() { context.controller.append(command, for: .ownAddress) }
    if let command = resolvingList.next(capabilities, timeout: context.configuration.privateAddressTimeout) {
      context.controller.append(command, for: .resolvingList)
    }
    if !hasAddressChanges { pauseForAddresses(false) }
  }

  /// Handles the end of the command that sets this device's address.
  mutating func ownAddressChanged(_ status: HCI.ErrorCode, _ context: inout HostContext) {
    ownAddress.ended(status)
    if !context.controller.capabilities.supports(.leSetRandomAddress) { ownAddress.stop() }
    if !hasAddressChanges { pauseForAddresses(false) }
  }

  private mutating func pauseForAddresses(_ isPaused: Bool) {
    advertisers.pause(isPaused)
    synchronizer.pause(isPaused)
    scanner.pause(isPaused)
    initiator.pause(isPaused)
  }
}
