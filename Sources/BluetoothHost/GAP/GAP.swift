import BluetoothWire

/// The Generic Access Profile of a host apart from its links: advertising, scanning, connecting, and this device's
/// addresses · Vol 3, Part C.
///
/// Each of its parts compares the state that the upper layer requests with the state of the controller and issues one
/// command at a time.
struct GAP {
  var advertiser = Advertiser()
  var scanner = Scanner()
  var reports = ReportReassembler()
  var initiator = Initiator()
  var resolvingList = ResolvingListKeeper()
  var ownAddress: OwnAddress

  /// Creates the state of a device that does nothing.
  init(ownAddress: OwnAddress) { self.ownAddress = ownAddress }

  /// The next instant at which `timeReached` must be called; nil: none.
  ///
  /// Read-only; `mutating` avoids copying the parts.
  var deadline: Instant? {
    mutating get { earliest(initiator.deadline, earliest(advertiser.deadline, ownAddress.deadline)) }
  }

  mutating func timeReached(_ now: Instant, _ output: inout HostOutput) {
    initiator.timeReached(now)
    ownAddress.timeReached(now)
    if advertiser.timeReached(now) { output.tell(.advertisingEnded) }
  }

  // MARK: Requests of the upper layer

  /// Starts advertising with the given shape, interval and PDUs, or reports that this is impossible.
  mutating func startAdvertising(_ advertising: HostAdvertising, _ context: inout HostContext, at now: Instant) {
    guard context.controller.isOn else {
      return context.output.tell(.advertisingStarted(.controller(.commandDisallowed)))
    }
    guard max(advertising.data.count, advertising.scanResponse.count) <= advertising.capacity,
      let advertising = advertising.inMode
    else { return context.output.tell(.advertisingStarted(.outOfSpace)) }
    guard advertising.shape.extended == nil || context.controller.usesExtendedAdvertisingCommands else {
      return context.output.tell(.advertisingStarted(.controller(.unsupportedFeatureOrParameterValue)))
    }
    advertiser.start(advertising)
    context.output.tellAdvertisingStarted(advertiser.answerWithoutCommand(at: now))
  }

  /// Passes changed bonds to the resolving list, and chooses the targets of connection attempts again.
  mutating func bondsChanged(_ context: inout HostContext) {
    initiator.reconsider()
    let usesPrivateAddresses = context.configuration.usesPrivateAddresses
    resolvingList.set(
      context.security.takeIdentities(usesPrivateAddresses: usesPrivateAddresses),
      usesPrivateAddresses: usesPrivateAddresses)
  }

  // MARK: Power

  /// Begins operation with a controller that has been initialized.
  mutating func controllerIsReady(_ context: inout HostContext, at now: Instant) {
    initiator = Initiator(acceptListSize: context.controller.capabilities.acceptListSize)
    if context.controller.capabilities.ownAddressType == .random { ownAddress.started(at: now) }
  }

  /// Ends all operations for the shutdown.
  mutating func shutDown(_ context: inout HostContext) {
    if advertiser.isEnabled { context.controller.append(advertisingCommands(&context).enable(false), for: .other) }
    if scanner.isEnabled { context.controller.append(scanCommands(&context).disable, for: .other) }
    forgetRequests(&context)
  }

  /// Reports the end of all operations, because the controller has failed.
  mutating func controllerFailed(_ context: inout HostContext) {
    for address in initiator.requestedDevices { context.output.tell(.connectionFailed(address, .hardwareFailure)) }
    if advertiser.isAwaited { context.output.tell(.advertisingStarted(.commandTimeout)) }
    forgetRequests(&context)
  }

  private mutating func forgetRequests(_ context: inout HostContext) {
    advertiser = Advertiser()
    scanner = Scanner()
    reports.removeAll()
    resolvingList.forgetController()
    ownAddress.stop()
    initiator = Initiator(acceptListSize: context.controller.capabilities.acceptListSize)
  }

  // MARK: Links

  /// Handles a connection attempt without a link.
  mutating func attemptFailed(_ status: HCI.ErrorCode, with peer: DeviceAddress?, _ context: inout HostContext) {
    // With legacy commands, this event reports the end of high duty cycle directed advertising
    // · Vol 4, Part E, 7.8.9.
    if status == .advertisingTimeout { return advertisingSetTerminated(status, &context) }
    for address in initiator.attemptFailed(status, peer) {
      context.output.tell(.connectionFailed(address, status))
    }
  }

  /// Handles a new link. Returns false if the host must end the link, because the upper layer has not requested it or
  /// the peer is an impostor.
  ///
  /// - Parameters:
  ///   - peer: The peer's identity address, or else its address.
  ///   - heard: The peer's address on the air.
  mutating func linkCreated(
    _ role: Link.Role, with peer: DeviceAddress, heard: DeviceAddress, _ context: inout HostContext, at now: Instant
  ) -> Bool {
    var isWanted = true
    switch role {
    case .central: isWanted = initiator.attemptSucceeded(peer, at: heard)
    case .peripheral: advertiser.linkCreated()
    }
    initiator.linkCreated(peer)
    // Only an impostor uses this device's own address.
    return isWanted && peer != context.address && peer != context.controller.capabilities.publicAddress
      && heard != ownAddress.current
  }

  /// Handles the end of a link.
  ///
  /// - Parameter goesOn: True if the peer has not received CONNECT_IND, so that the host goes on connecting.
  mutating func linkEnded(with peer: DeviceAddress, goesOn: Bool) {
    initiator.linkEnded(peer)
    advertiser.linkEnded()
    if goesOn { initiator.connect(to: peer) }
  }

  /// Restarts advertising and initiating, which the controller may have stopped when a link was created, or ended,
  /// without the host's knowledge.
  mutating func restart() {
    advertiser.restart()
    initiator.restart()
  }
}
