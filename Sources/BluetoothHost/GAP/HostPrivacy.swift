import BluetoothWire

/// Who is who: this device's own addresses, and those of bonded peers · Vol 3, Part C, 10.7.
extension Host {
  /// The devices whose private addresses are to be resolved by the controller; they take the place of those before. Reports
  /// and links go by their identity addresses. Where the controller has no resolving list nothing comes of it, where it is
  /// short those at the end stay out.
  ///
  /// - Parameter usesPrivateAddresses: this device's own addresses are private, too, made with the local key of the first
  ///   identity that has one.
  package mutating func setIdentities(
    _ identities: [HostIdentity], usesPrivateAddresses: Bool = false, at now: Instant
  ) {
    resolvingList.set(identities, usesPrivateAddresses: usesPrivateAddresses)
    settle(at: now)
  }

  /// The identities that the controller resolves addresses to.
  package var resolvedIdentities: [DeviceAddress] { resolvingList.resolved }

  /// What this device is called on the air where the controller has made no address of its own.
  var ownAddressOnAir: DeviceAddress {
    controller.ownAddressType == .public ? controller.publicAddress ?? address : ownAddress.current
  }

  // MARK: Peers

  /// Who it is that has this address: the identity of a bonded peer, where it is a private one that was made with its key and
  /// that the controller did not resolve; else the address itself · Vol 3, Part C, 10.8.2.3.
  mutating func whose(_ address: DeviceAddress) -> DeviceAddress {
    guard let identity = bondTable.owner(of: address) else { return address }
    if resolvingList.missed(identity, isCertain: initiator.isInDoubt) { initiator.reconsider() }
    return identity
  }

  /// Somebody advertises. The result is who it is; nil: nobody that has an address.
  mutating func advertiserHeard(_ advertiser: HCI.PeerAddress, isConnectable: Bool, at now: Instant) -> DeviceAddress? {
    guard let address = advertiser.deviceAddress else { return nil }
    noteResolution(of: advertiser)
    let identity = whose(address)
    if isConnectable, initiator.isByEar { initiator.heard(identity, at: address, now) }
    return identity
  }

  /// A controller that reports an identity in the place of a private address has a resolving list indeed.
  mutating func noteResolution(of peer: HCI.PeerAddress) {
    if peer.isResolvedIdentity, resolvingList.proved() { initiator.reconsider() }
  }

  /// Whether among those who are waited for is one whom the controller would not know: it is to be found by listening, and
  /// connected to at the address that was heard. All others are then, too.
  var connectsByEar: Bool {
    bondTable.hasKeys && initiator.wanted.contains { bondTable.hasKey(of: $0) && !resolvingList.resolves($0) }
  }

  /// How those who are waited for are connected to: by ear also for a while where the controller has not shown that it
  /// knows them.
  mutating func chooseEar(at now: Instant) {
    let needsEar = connectsByEar
    let relies = bondTable.hasKeys && !needsEar && !resolvingList.isProven
    initiator.rely(
      onUnprovenList: relies && initiator.wanted.contains { bondTable.hasKey(of: $0) }, at: now)
    initiator.isByEar = needsEar || initiator.isInDoubt
  }

  // MARK: Changes

  /// There is something that the controller takes only while nothing uses addresses.
  @inline(__always)
  var hasAddressChanges: Bool { resolvingList.isDirty || ownAddress.isDirty }

  /// Changes this device's address and the resolving list as soon as everything that uses them rests; what rested goes on
  /// afterwards · Vol 4, Part E, 7.8.4, 7.8.38.
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
