import BluetoothWire

/// The commands for advertising, scanning and connecting, in their legacy or their extended form. A controller takes
/// one or the other until it is reset · Vol 4, Part E, 3.1.1.
extension GAP {
  /// True if a command may be due.
  @inline(__always)
  var hasWork: Bool { hasAddressChanges || advertiser.hasWork || scanner.hasWork || initiator.hasWork }

  /// Queues the commands that are due.
  mutating func chooseCommands(_ context: inout HostContext, at now: Instant) {
    guard context.controller.isOn else { return }
    if hasAddressChanges { changeAddresses(&context) }
    if advertiser.hasWork, let command = advertiser.next(advertisingCommands(&context)) {
      context.controller.append(command, for: .advertising)
    }
    if initiator.hasWork {
      chooseConnectionMethod(&context.security, at: now)
      scanner.listen(initiator.listens, includesLECoded: context.configuration.connectsOnLECoded)
    }
    if scanner.hasWork, let command = scanner.next(scanCommands(&context)) {
      context.controller.append(command, for: .scanning)
    }
    if initiator.hasWork, let command = initiator.next(initiatingCommands(&context), at: now) {
      context.controller.append(command, for: .initiating)
    }
  }

  private func ownAddressType(_ context: inout HostContext) -> HCI.OwnAddressType {
    let type = context.controller.capabilities.ownAddressType
    guard resolvingList.privateIdentity != nil else { return type }
    return type == .public ? .resolvableOrPublic : .resolvableOrRandom
  }

  /// Returns the builder of the commands for advertising.
  func advertisingCommands(_ context: inout HostContext) -> AdvertisingCommands {
    AdvertisingCommands(
      isExtended: context.controller.usesExtendedAdvertisingCommands, ownAddressType: ownAddressType(&context),
      randomAddress: ownAddress.current, interval: context.configuration.advertisingInterval, pool: context.pool,
      identity: resolvingList.privateIdentity)
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
  mutating func advertisingCommandEnded(_ status: HCI.ErrorCode, _ output: inout HostOutput, at now: Instant) {
    output.tellAdvertisingStarted(advertiser.ended(status, at: now))
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
    output.tellAdvertisingStarted(advertiser.fallBack())
    scanner.forgetController()
    initiator.forgetController()
  }
}
