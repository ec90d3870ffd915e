import BluetoothWire

/// The properties and capabilities that a host has read from its controller.
struct ControllerCapabilities {
  var supportedCommands = HCI.SupportedCommands()
  var lmpFeatures: HCI.LMPFeatures = []
  var leFeatures: HCI.LEFeatures = []
  /// The length of an ACL packet's data in octets; if LE has no buffers, that of the buffers that LE and BR/EDR
  /// share.
  var aclLength = 0
  /// The number of ACL packet buffers in the controller.
  var aclCount = 0
  var acceptListSize = 0
  /// The maximum length (octets) and time of the data channel PDUs that the controller transmits.
  var maximumDataLength: HCI.DataLength?
  var ownAddressType = HCI.OwnAddressType.public
  /// The controller's BD_ADDR; nil: the controller has none.
  var publicAddress: DeviceAddress?
  /// The commands that the controller claims to support but does not answer.
  var silent: Set<HCI.Opcode> = []
  /// True if the controller has accepted extended commands for advertising, scanning or connecting: it then rejects
  /// the legacy ones until it is reset.
  var hasTakenExtendedCommands = false

  /// The commands that a controller with an empty bitmap of supported commands may lack.
  private static let optional: Set<HCI.Opcode> = [
    .writeLEHostSupport, .leSetDataLength, .leReadMaximumDataLength, .leWriteSuggestedDefaultDataLength,
    .leRemoteConnectionParameterRequestReply, .leRemoteConnectionParameterRequestNegativeReply, .leReadBufferSizeV2,
    .leSetDefaultPHY, .leSetPHY,
  ]

  /// Returns true if the controller supports a command. An empty bitmap, which some controllers have, stands for the
  /// commands that the specification makes mandatory for every LE controller.
  func supports(_ opcode: HCI.Opcode) -> Bool {
    guard silent.isEmpty || !silent.contains(opcode) else { return false }
    return supportedCommands.isEmpty ? !Self.optional.contains(opcode) : supportedCommands.contains(opcode)
  }

  /// The command that reads the lengths and numbers of the buffers for LE. No controller starts up without an answer to
  /// it.
  var leBufferSizeCommand: HCI.Command {
    // Version 2 returns nothing more that the host uses.
    !supports(.leReadBufferSize) && supports(.leReadBufferSizeV2) ? .leReadBufferSizeV2 : .leReadBufferSize
  }

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

  /// Returns the PHYs of `preferred` that this controller supports; nil: the controller supports only LE 1M, or none
  /// of them.
  func supportedPHYs(of preferred: HCI.PHYs?) -> HCI.PHYs? {
    guard let preferred, leFeatures.phys != .le1M else { return nil }
    let phys = preferred.intersection(leFeatures.phys)
    return phys.isEmpty ? nil : phys
  }
}

extension HCI.LEFeatures {
  /// The PHYs of a device with these features.
  var phys: HCI.PHYs {
    var phys = HCI.PHYs.le1M
    if contains(.le2MPHY) { phys.insert(.le2M) }
    if contains(.leCodedPHY) { phys.insert(.leCoded) }
    return phys
  }
}
