import BluetoothWire

/// The commands for advertising, scanning and connecting, in their legacy or their extended form. A controller takes
/// one or the other until it is reset · Vol 4, Part E, 3.1.1.
extension GAP {
  /// True if a command may be due.
  @inline(__always)
  var hasWork: Bool {
    hasAddressChanges || advertisers.hasWork || scanner.hasWork || initiator.hasWork || synchronizer.hasWork
  }

  /// Queues the commands that are due.
  mutating func chooseCommands(_ context: inout HostContext, at now: Instant) {
    guard context.controller.isOn else { return }
    if hasAddressChanges { changeAddresses(&context) }
    if advertisers.hasWork { chooseAdvertisingCommands(&context) }
    if initiator.hasWork { chooseConnectionMethod(&context.security, at: now) }
    synchronizer.isChanged = false
    scanner.listen(listening(&context))
    if scanner.hasWork, let command = scanner.next(scanCommands(&context)) {
      context.controller.append(command, for: .scanning)
    }
    if initiator.hasWork, let command = initiator.next(initiatingCommands(&context), at: now) {
      context.controller.append(command, for: .initiating)
    }
    if synchronizer.hasWork, let command = synchronizer.nextCommand(at: now) {
      context.controller.append(command, for: .synchronizing)
    }
  }

  private mutating func chooseAdvertisingCommands(_ context: inout HostContext) {
    for set in advertisers.setsWithWork {
      if let command = advertisers[set].next(advertisingCommands(of: set, &context)) {
        context.controller.append(command, for: .advertising(set))
      }
    }
    advertisers.removeUnused()
  }

  /// Returns the scanning that the host needs for itself: to connect by scanning, and to find trains; nil: none.
  private func listening(_ context: inout HostContext) -> ScanParameters? {
    let (connects, synchronizes) = (initiator.listens, synchronizer.listens)
    guard connects || synchronizes else { return nil }
    return ScanParameters(
      isActive: false, filterDuplicates: false,
      includesLECoded: connects && context.configuration.connectsOnLECoded || synchronizer.includesLECoded)
  }

  private func ownAddressType(_ context: inout HostContext) -> HCI.OwnAddressType {
    let type = context.controller.capabilities.ownAddressType
    guard resolvingList.privateIdentity != nil else { return type }
    return type == .public ? .resolvableOrPublic : .resolvableOrRandom
  }

  /// Returns the builder of the commands for the advertising of a set.
  func advertisingCommands(of set: HCI.AdvertisingHandle, _ context: inout HostContext) -> AdvertisingCommands {
    AdvertisingCommands(
      isExtended: context.controller.usesExtendedAdvertisingCommands, ownAddressType: ownAddressType(&context),
      randomAddress: ownAddress.current, interval: context.configuration.advertisingInterval, pool: context.pool,
      identity: resolvingList.privateIdentity, set: set)
  }

  /// Returns the builder of the commands for scanning.
  func scanCommands(_ context: inout HostContext) -> ScanCommands {
    ScanCommands(
      isExtended: context.controller.usesExtendedCommands,
      hasLECoded: context.controller.capabilities.leFeatures.contains(.leCodedPHY),
      ownAddressType: ownAddressType(&context), interval: context.configuration.scanInterval)
  }

  private func initiatingCommands(_ context: inout HostContext) -> InitiatingCommands {
    let features = context.controller.capabilities.leFeatures
    return InitiatingCommands(
      isExtended: context.controller.usesExtendedCommands, has2M: features.contains(.le2MPHY),
      usesLECoded: context.configuration.connectsOnLECoded && features.contains(.leCodedPHY),
      ownAddressType: ownAddressType(&context), configuration: context.configuration,
      identities: resolvingList.resolved)
  }

  // MARK: Ends of commands

  /// Handles the end of an advertising command.
  mutating func advertisingCommandEnded(
    _ status: HCI.ErrorCode, of set: HCI.AdvertisingHandle, _ output: inout HostOutput, at now: Instant
  ) {
    output.tellAdvertisingStarted(advertisers[set].ended(status, at: now), set)
  }

  /// Handles the end of a command for synchronization.
  mutating func synchronizingCommandEnded(_ status: HCI.ErrorCode, _ output: inout HostOutput) {
    output.tell(synchronizer.ended(status))
  }

  /// Handles the end of a scanning command.
  mutating func scanningCommandEnded(_ status: HCI.ErrorCode) {
    scanner.ended(status)
    // No more fragments of reports will come.
    if !scanner.isEnabled { reports.removeAll() }
  }

  /// Handles the end of a command for connecting.
  mutating func initiatingCommandEnded(_ status: HCI.ErrorCode, _ output: inout HostOutput, at now: Instant) {
    for address in initiator.ended(status, at: now) { output.tell(.connectionFailed(address, status)) }
  }

  /// Begins again with the legacy commands; the controller has not accepted any extended command.
  mutating func useLegacyCommands(_ output: inout HostOutput) {
    let (failed, ended) = advertisers.fallBack()
    for set in failed { output.tellAdvertisingStarted(.failure(.controller(.unsupportedFeatureOrParameterValue)), set) }
    for set in ended { output.tellAdvertisingEnded(set) }
    for id in synchronizer.removeAll() {
      output.tell(.synchronization(id, .ended(.refused(.controller(.unsupportedFeatureOrParameterValue)))))
    }
    scanner.forgetController()
    initiator.forgetController()
  }
}
