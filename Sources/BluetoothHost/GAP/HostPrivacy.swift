import BluetoothWire

/// Privacy: the device's own addresses and the address resolution of bonded peers · Vol 3, Part C, 10.7.
extension Host {
  /// Sets the devices whose private addresses the controller resolves; they replace the previous ones. Reports and
  /// links then use their identity addresses. Without a resolving list in the controller the call has no effect; if
  /// the list is too short, the last devices are left out.
  ///
  /// - Parameter usesPrivateAddresses: True if the controller also generates private addresses for this device, with
  ///   the local key of the first identity that has one.
  package mutating func setIdentities(
    _ identities: [HostIdentity], usesPrivateAddresses: Bool = false, at now: Instant
  ) {
    resolvingList.set(identities, usesPrivateAddresses: usesPrivateAddresses)
    settle(at: now)
  }

  /// The identities to which the controller resolves private addresses.
  package var resolvedIdentities: [DeviceAddress] { resolvingList.resolved }

  /// The address that this device uses on the air unless the controller generates private addresses.
  var ownAddressOnAir: DeviceAddress {
    controller.ownAddressType == .public ? controller.publicAddress ?? address : ownAddress.current
  }

  // MARK: Peers

  /// Returns the device behind an address: the identity of the bonded peer whose key resolves a private address that
  /// the controller did not resolve; for all other addresses, the address itself · Vol 3, Part C, 10.8.2.3.
  mutating func whose(_ address: DeviceAddress) -> DeviceAddress {
    guard let identity = bondTable.owner(of: address) else { return address }
    if resolvingList.missed(identity, isCertain: initiator.isInDoubt) { initiator.reconsider() }
    return identity
  }

  /// Processes an advertiser's address. Returns the advertiser's identity or address; nil: the advertiser is
  /// anonymous.
  mutating func advertiserHeard(_ advertiser: HCI.PeerAddress, isConnectable: Bool, at now: Instant) -> DeviceAddress? {
    guard let address = advertiser.deviceAddress else { return nil }
    noteResolution(of: advertiser)
    let identity = whose(address)
    if isConnectable, initiator.isByEar { initiator.heard(identity, at: address, now) }
    return identity
  }

  /// Notes that the controller's resolving list works, if the controller reports an identity in place of a private
  /// address.
  mutating func noteResolution(of peer: HCI.PeerAddress) {
    if peer.isResolvedIdentity, resolvingList.proved() { initiator.reconsider() }
  }

  /// True if the controller cannot resolve the address of a pending peer. The host then finds the peer by scanning
  /// and connects to the address that it has heard; it treats all other pending peers in the same way.
  var connectsByEar: Bool {
    bondTable.hasKeys && initiator.wanted.contains { bondTable.hasKey(of: $0) && !resolvingList.resolves($0) }
  }

  /// Chooses whether to connect with the controller's filter accept list or by scanning. The host also scans for a
  /// while if the controller has not yet proved that it resolves the addresses of pending peers.
  mutating func chooseEar(at now: Instant) {
    let needsEar = connectsByEar
    let relies = bondTable.hasKeys && !needsEar && !resolvingList.isProven
    initiator.rely(
      onUnprovenList: relies && initiator.wanted.contains { bondTable.hasKey(of: $0) }, at: now)
    initiator.isByEar = needsEar || initiator.isInDoubt
  }

  // MARK: Address changes

  /// True if the own address or the resolving list must change, which the controller permits only while it uses no
  /// addresses.
  @inline(__always)
  var hasAddressChanges: Bool { resolvingList.isDirty || ownAddress.isDirty }

  /// Changes this device's address and the resolving list. The host pauses advertising, scanning and connecting for
  /// that, and resumes them afterwards · Vol 4, Part E, 7.8.4, 7.8.38.
  mutating func changeAddresses() {
    if !controller.leFeatures.contains(.llPrivacy) || !controller.supports(.leAddDeviceToResolvingList) {
      resolvingList.leave()
    }
    guard hasAddressChanges else { return }
    pauseForAddresses(true)
    guard advertiser.isQuiet, scanner.isQuiet, initiator.isQuiet else { return }
    if let command = ownAddress.next() { commands.append(command, for: .ownAddress) }
    if let command = resolvingList.next(controller, timeout: configuration.privateAddressTimeout) {
      commands.append(command, for: .resolvingList)
    }
    if !hasAddressChanges { pauseForAddresses(false) }
  }

  mutating func ownAddressChanged(_ status: HCI.ErrorCode) {
    ownAddress.ended(status)
    if !controller.supports(.leSetRandomAddress) { ownAddress.stop() }
    if !hasAddressChanges { pauseForAddresses(false) }
  }

  private mutating func pauseForAddresses(_ isPaused: Bool) {
    advertiser.pause(isPaused)
    scanner.pause(isPaused)
    initiator.pause(isPaused)
  }
}
