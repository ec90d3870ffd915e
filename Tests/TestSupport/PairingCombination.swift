import BluetoothHost
import BluetoothWire
import TestVectors
import Testing

/// The IO capabilities of two devices and the kind of their pairing, for tests of all combinations · Vol 3, Part H,
/// 2.3.5.1.
package struct PairingCombination: CustomTestStringConvertible, Sendable {
  package let initiator: SMP.IOCapability
  package let responder: SMP.IOCapability
  package let isSecureConnections: Bool

  package var testDescription: String {
    "\(initiator), \(responder)\(isSecureConnections ? ", Secure Connections" : "")"
  }

  private static let capabilities: [SMP.IOCapability] = [
    .displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay,
  ]

  package static let all = capabilities.flatMap { initiator in
    capabilities.flatMap { responder in
      [false, true].map { PairingCombination(initiator: initiator, responder: responder, isSecureConnections: $0) }
    }
  }

  /// Returns the row of the specification's tables.
  ///
  /// - Parameter isProtected: True if a side asks for protection against a device between the two.
  package func expected(_ isProtected: Bool) throws -> PairingTable.Method {
    guard isProtected else { return .justWorks }
    return try #require(
      PairingTable.method(
        initiator: initiator.rawValue, responder: responder.rawValue, isSecureConnections: isSecureConnections))
  }
}

/// The requests of the two devices in one pairing, for tests of all combinations.
package struct PairingRequests: Sendable {
  /// True if the side asks for protection against a device between the two.
  package let asksForAuthentication: (central: Bool, peripheral: Bool)
  package let isBonding: Bool
  /// The side that starts the pairing.
  package let starter: Link.Role

  package static let all = (0..<16).map { bits in
    PairingRequests(
      asksForAuthentication: (bits & 1 != 0, bits & 2 != 0), isBonding: bits & 4 != 0,
      starter: bits & 8 != 0 ? .central : .peripheral)
  }

  /// True if a side asks for protection.
  package var isProtected: Bool { asksForAuthentication.central || asksForAuthentication.peripheral }
}

extension PairingPolicy {
  package init(
    _ ioCapability: SMP.IOCapability, authenticated: Bool = false,
    secureConnections: SecureConnections = .preferred, bonding: Bool = true
  ) {
    self.init()
    self.ioCapability = ioCapability
    asksForAuthentication = authenticated
    self.secureConnections = secureConnections
    isBonding = bonding
  }

  /// Creates the policy of one side of a combination.
  package init(_ role: Link.Role, in combination: PairingCombination, _ requests: PairingRequests) {
    let asks = requests.asksForAuthentication
    self.init(
      role == .central ? combination.initiator : combination.responder,
      authenticated: role == .central ? asks.central : asks.peripheral,
      secureConnections: role == .peripheral || combination.isSecureConnections ? .preferred : .never,
      bonding: requests.isBonding)
  }
}

extension PairingTable.Method {
  /// The method that a host reports.
  package var method: PairingMethod {
    switch self {
    case .justWorks: .justWorks
    case .numericComparison: .numericComparison
    case .initiatorShowsPasskey, .responderShowsPasskey, .bothTypePasskey: .passkeyEntry
    }
  }
}
