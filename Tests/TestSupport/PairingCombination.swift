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
