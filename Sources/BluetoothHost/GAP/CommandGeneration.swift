import BluetoothWire

/// The choice between legacy and extended commands for advertising, scanning and connecting. A controller takes one
/// or the other until it is reset · Vol 4, Part E, 3.1.1.
extension Host {
  /// True if the host uses the extended commands.
  var usesExtendedCommands: Bool {
    configuration.usesExtendedCommands && !refusesExtendedCommands && controller.hasExtendedCommands
  }

  /// True if this host scans for extended advertising and connects to it.
  package var supportsExtendedScanAndConnect: Bool { usesExtendedCommands }

  /// True if the controller makes and resolves private addresses · Vol 6, Part B, 6.
  package var supportsPrivacy: Bool { controller.leFeatures.contains(.llPrivacy) }

  var ownAddressType: HCI.OwnAddressType {
    guard resolvingList.privateIdentity != nil else { return controller.ownAddressType }
    return controller.ownAddressType == .public ? .resolvableOrPublic : .resolvableOrRandom
  }

  var scanCommands: ScanCommands {
    ScanCommands(
      isExtended: usesExtendedCommands, hasLECoded: controller.leFeatures.contains(.leCodedPHY),
      ownAddressType: ownAddressType, interval: configuration.scanInterval)
  }

  var initiatingCommands: InitiatingCommands {
    InitiatingCommands(
      isExtended: usesExtendedCommands, has2M: controller.leFeatures.contains(.le2MPHY),
      usesLECoded: configuration.connectsOnLECoded && controller.leFeatures.contains(.leCodedPHY),
      ownAddressType: ownAddressType, configuration: configuration, identities: resolvingList.resolved)
  }

  /// Handles the result of a command with respect to the choice of commands. Returns true if the controller claims
  /// extended commands but does not know this one, so that the host falls back to the legacy commands.
  mutating func fallsBack(_ command: HCI.Command, _ status: HCI.ErrorCode, at now: Instant) -> Bool {
    guard command.opcode.code?.provesExtendedCommands == true else { return false }
    if status != .unknownHCICommand {
      controller.hasTakenExtendedCommands = true
      return false
    }
    guard !refusesExtendedCommands else { return false }
    refusesExtendedCommands = true
    if controller.hasTakenExtendedCommands {
      // The controller rejects legacy commands until it is reset.
      fail(.unknownCommand(command.opcode), at: now)
    } else {
      commands.removeUnsent(for: [.advertising, .scanning, .initiating])
      tellAdvertisingStarted(advertiser.fallBack())
      scanner.forgetController()
      initiator.forgetController()
    }
    return true
  }
}

extension ControllerCapabilities {
  /// True if the controller has the feature Extended Advertising, and the extended form of each legacy command for
  /// advertising, scanning and connecting that it supports.
  var hasExtendedCommands: Bool {
    let pairs: [(legacy: HCI.Opcode, extended: HCI.Opcode)] = [
      (.leSetAdvertisingParameters, .leSetExtendedAdvertisingParameters),
      (.leSetScanParameters, .leSetExtendedScanParameters),
      (.leCreateConnection, .leExtendedCreateConnection),
    ]
    return leFeatures.contains(.extendedAdvertising)
      && pairs.contains { supportedCommands.contains($0.extended) }
      && pairs.allSatisfy { supportedCommands.contains($0.extended) || !supportedCommands.contains($0.legacy) }
  }
}

extension HCI.CommandCode {
  /// True if the answer to the command shows whether the controller has the extended commands. LE Set Advertising Set
  /// Random Address belongs to no generation, but only controllers with extended commands know it. LE Remove
  /// Advertising Set only tidies up.
  fileprivate var provesExtendedCommands: Bool {
    self == .leSetAdvertisingSetRandomAddress
      || self != .leRemoveAdvertisingSet && definition.generation == .extended
  }
}
