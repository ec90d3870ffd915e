// Design: advertising, scanning and connecting
//
// `HostAdvertiser`, `HostScanner`, `HostInitiator` and `ResolvingListKeeper` know the desired state and the
// controller's state, and return the next command on the way from one to the other. After a reset or a change of the
// command generation they start again without a new request. `AdvertisingCommands`, `ScanCommands` and
// `InitiatingCommands` encode the commands, legacy or extended. One decision selects the generation for all
// (`usesExtendedCommands`), because a controller accepts one generation until it is reset. A controller that claims the
// extended commands and does not know them gets the legacy ones, after a reset if it has accepted some extended ones.
// Advertising uses the legacy PDUs with both generations, unless `HostAdvertising.Shape.extended` requests extended
// PDUs.
//
// The resolving list changes only while the controller does not advertise, scan or connect; these three activities
// pause for a change, and resume afterwards. Where reports and links are resolved, they carry the identity address, and
// no layer above sees another one. At most 16 × 1,650 octets of incomplete long advertisements are kept.

import BluetoothWire

/// The Generic Access Profile of a host apart from its links: advertising, scanning, connecting, and this device's
/// addresses · Vol 3, Part C.
///
/// Each of its parts compares the state that the upper layer requests with the state of the controller and issues one
/// command at a time.
struct GAP {
  var advertisers = AdvertisingSets()
  var scanner = HostScanner()
  var reports = ReportReassembler()
  var initiator = HostInitiator()
  var synchronizer = Synchronizer()
  var resolvingList = ResolvingListKeeper()
  var ownAddress: OwnAddress

  /// Creates the state of a device that does nothing.
  init(ownAddress: OwnAddress) { self.ownAddress = ownAddress }

  /// The next instant at which `timeReached` must be called; nil: none.
  ///
  /// Read-only; `mutating` avoids copying the parts.
  var deadline: Instant? {
    mutating get {
      let result = earliest(initiator.deadline, earliest(advertisers.deadline, ownAddress.deadline))
      return synchronizer.count == 0 ? result : earliest(result, synchronizer.deadline)
    }
  }

  mutating func timeReached(_ now: Instant, _ output: inout HostOutput) {
    initiator.timeReached(now)
    ownAddress.timeReached(now)
    synchronizer.timeReached(now)
    for set in advertisers.timeReached(now) { output.tellAdvertisingEnded(set) }
  }

  // MARK: Requests of the upper layer

  /// Starts the advertising of a set with the given shape, interval and PDUs, or reports that this is impossible.
  mutating func startAdvertising(
    _ advertising: HostAdvertising, on set: HCI.AdvertisingHandle, _ context: inout HostContext, at now: Instant
  ) {
    func refuse(_ error: HostError) {
      // A refused change ends a further set, as a refusal by the controller does.
      if set != HCI.AdvertisingHandle.main { advertisers.stop(set) }
      context.output.tellAdvertisingStarted(.failure(error), set)
    }
    guard context.controller.isOn else { return refuse(.controller(.commandDisallowed)) }
    guard advertising.fits, let advertising = advertising.inMode else { return refuse(.outOfSpace) }
    let needsExtendedCommands = advertising.shape.extended != nil || set != HCI.AdvertisingHandle.main
    guard !needsExtendedCommands || context.controller.usesExtendedAdvertisingCommands else {
      return refuse(.controller(.unsupportedFeatureOrParameterValue))
    }
    guard advertising.canHaveTrain else { return refuse(.controller(.invalidHCICommandParameters)) }
    guard advertising.train == nil || context.controller.capabilities.supports(.leSetPeriodicAdvertisingEnable) else {
      return refuse(.controller(.unsupportedFeatureOrParameterValue))
    }
    advertisers.start(advertising, on: set)
    context.output.tellAdvertisingStarted(advertisers[set].answerWithoutCommand(at: now), set)
  }

  /// Synchronizes with a periodic train, or reports that this is impossible.
  mutating func synchronize(_ id: SyncID, with request: SyncRequest, _ context: inout HostContext) {
    func refuse(_ error: HostError) { context.output.tell(.synchronization(id, .ended(.refused(error)))) }
    guard context.controller.isOn else { return refuse(.controller(.commandDisallowed)) }
    guard context.controller.usesExtendedCommands,
      context.controller.capabilities.supports(.lePeriodicAdvertisingCreateSync)
    else { return refuse(.controller(.unsupportedFeatureOrParameterValue)) }
    if !synchronizer.start(id, request) { refuse(.controller(.connectionAlreadyExists)) }
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
    initiator = HostInitiator(acceptListSize: context.controller.capabilities.acceptListSize)
    if context.controller.capabilities.ownAddressType == .random { ownAddress.started(at: now) }
  }

  /// Ends all operations for the shutdown.
  mutating func shutDown(_ context: inout HostContext) {
    for set in advertisers.handles {
      let commands = advertisingCommands(of: set, &context)
      if advertisers[set].isEnabled { context.controller.append(commands.enable(false), for: .other) }
      if advertisers[set].isTrainEnabled { context.controller.append(commands.enableTrain(false), for: .other) }
    }
    if scanner.isEnabled { context.controller.append(scanCommands(&context).disable, for: .other) }
    forgetRequests(&context)
  }

  /// Reports the end of all operations, because the controller has failed.
  mutating func controllerFailed(_ context: inout HostContext) {
    for address in initiator.requestedDevices { context.output.tell(.connectionFailed(address, .hardwareFailure)) }
    for set in advertisers.handles where advertisers[set].isAwaited {
      context.output.tellAdvertisingStarted(.failure(.commandTimeout), set)
    }
    forgetRequests(&context)
  }

  private mutating func forgetRequests(_ context: inout HostContext) {
    advertisers = AdvertisingSets()
    synchronizer = Synchronizer()
    scanner = HostScanner()
    reports.removeAll()
    resolvingList.forgetController()
    ownAddress.stop()
    initiator = HostInitiator(acceptListSize: context.controller.capabilities.acceptListSize)
  }

  // MARK: Links

  /// Handles a connection attempt without a link.
  mutating func attemptFailed(_ status: HCI.ErrorCode, with peer: DeviceAddress?, _ context: inout HostContext) {
    // With legacy commands, this event reports the end of high duty cycle directed advertising
    // · Vol 4, Part E, 7.8.9.
    if status == .advertisingTimeout { return advertisingSetTerminated(HCI.AdvertisingHandle.main, status, &context) }
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
    case .peripheral: advertisers.linkCreated()
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
    advertisers.linkEnded()
    if goesOn { initiator.connect(to: peer) }
  }

  /// Restarts advertising and initiating, which the controller may have stopped when a link was created, or ended,
  /// without the host's knowledge.
  mutating func restart() {
    advertisers.restart()
    initiator.restart()
  }
}
