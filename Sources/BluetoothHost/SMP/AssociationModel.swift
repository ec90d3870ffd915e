import BluetoothWire

/// The association model of a pairing: the way in which the devices authenticate each other · Vol 3, Part H, 2.3.5.1.
enum AssociationModel: Hashable {
  case justWorks
  case numericComparison
  case passkeyEntry(shownBy: Display)
  case outOfBand

  /// The device that displays the passkey; a device that does not display it lets its user type it.
  enum Display: Hashable { case initiator, responder, nobody }

  /// Selects the model by tables 2.6 and 2.7: out-of-band data first, then the IO capabilities if either side
  /// requires MITM protection.
  init(initiator: SMP.PairingFeatures, responder: SMP.PairingFeatures, isSecureConnections: Bool) {
    let hasData = (initiator.hasOOBData, responder.hasOOBData)
    if isSecureConnections ? hasData.0 || hasData.1 : hasData.0 && hasData.1 {
      self = .outOfBand
    } else if initiator.asks(for: .manInTheMiddleProtection) || responder.asks(for: .manInTheMiddleProtection) {
      self.init(initiator.ioCapability, responder.ioCapability, isSecureConnections)
    } else {
      self = .justWorks
    }
  }

  /// Selects the model by table 2.8.
  private init(_ initiator: SMP.IOCapability, _ responder: SMP.IOCapability, _ isSecureConnections: Bool) {
    switch (initiator, responder) {
    case (.noInputNoOutput, _), (_, .noInputNoOutput): self = .justWorks
    case (.keyboardOnly, .keyboardOnly): self = .passkeyEntry(shownBy: .nobody)
    case (.keyboardOnly, _), (.keyboardDisplay, .displayOnly): self = .passkeyEntry(shownBy: .responder)
    case (_, .keyboardOnly), (.displayOnly, .keyboardDisplay): self = .passkeyEntry(shownBy: .initiator)
    case (.displayOnly, _), (_, .displayOnly): self = .justWorks
    // Both devices have a display and a yes/no input.
    case _ where isSecureConnections: self = .numericComparison
    case (.displayYesNo, .displayYesNo): self = .justWorks
    case (.keyboardDisplay, .displayYesNo): self = .passkeyEntry(shownBy: .responder)
    case (_, .keyboardDisplay): self = .passkeyEntry(shownBy: .initiator)
    default: self = .justWorks
    }
  }

  var method: PairingMethod {
    switch self {
    case .justWorks: return .justWorks
    case .numericComparison: return .numericComparison
    case .passkeyEntry: return .passkeyEntry
    case .outOfBand: return .outOfBand
    }
  }

  /// Returns true if this side displays the passkey.
  func isShown(by role: Link.Role) -> Bool {
    switch self {
    case .passkeyEntry(let display): return display == (role == .central ? .initiator : .responder)
    default: return false
    }
  }
}
