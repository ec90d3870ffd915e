import BluetoothWire

/// How two devices make sure of each other, and who shows and who types · Vol 3, Part H, 2.3.5.1.
enum AssociationModel: Hashable {
  case justWorks
  case numericComparison
  case passkeyEntry(shownBy: Display)
  case outOfBand

  /// Who shows the passkey; the others type it.
  enum Display: Hashable { case initiator, responder, nobody }

  /// Tables 2.6 and 2.7: data from out of band first, then what the users can do if either side wants to be sure.
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

  /// Table 2.8.
  private init(_ initiator: SMP.IOCapability, _ responder: SMP.IOCapability, _ isSecureConnections: Bool) {
    switch (initiator, responder) {
    case (.noInputNoOutput, _), (_, .noInputNoOutput): self = .justWorks
    case (.keyboardOnly, .keyboardOnly): self = .passkeyEntry(shownBy: .nobody)
    case (.keyboardOnly, _), (.keyboardDisplay, .displayOnly): self = .passkeyEntry(shownBy: .responder)
    case (_, .keyboardOnly), (.displayOnly, .keyboardDisplay): self = .passkeyEntry(shownBy: .initiator)
    case (.displayOnly, _), (_, .displayOnly): self = .justWorks
    // Both have a display, and something to say yes or no with.
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

  /// Whether this side shows the passkey.
  func isShown(by role: Link.Role) -> Bool {
    switch self {
    case .passkeyEntry(let display): return display == (role == .central ? .initiator : .responder)
    default: return false
    }
  }
}
