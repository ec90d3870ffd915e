import BluetoothTypes
import BluetoothWire

/// L2CAP, whose name in this module is that of a verb.
typealias LogicalLink = BluetoothWire.L2CAP

/// L2CAP signals and SMP PDUs in words.
enum LogicalLinkText {
  /// Returns the name and the words of a signalling packet · Vol 3, Part A, 4.
  static func describe(_ signal: LogicalLink.Signal) -> (name: String, detail: String) {
    switch signal.content {
    case .commandReject(let reason):
      let words =
        switch reason {
        case .commandNotUnderstood: "command not understood"
        case .signallingMTUExceeded(let actual): "signalling MTU of \(actual) exceeded"
        case .invalidCID(let local, let remote): "invalid channel \(digits(local)), \(digits(remote))"
        case .other(let number, _): "reason 0x\(number.hexadecimal)"
        }
      return ("L2CAP_COMMAND_REJECT_RSP", words)
    case .disconnectionRequest(let destination, let source):
      return ("L2CAP_DISCONNECTION_REQ", "to \(digits(destination)), from \(digits(source))")
    case .disconnectionResponse(let destination, let source):
      return ("L2CAP_DISCONNECTION_RSP", "to \(digits(destination)), from \(digits(source))")
    case .connectionParameterUpdateRequest(let parameters):
      return (
        "L2CAP_CONNECTION_PARAMETER_UPDATE_REQ",
        "interval \(parameters.minimumInterval.intervalText) to \(parameters.maximumInterval.intervalText), latency "
          + "\(parameters.latency), timeout \(parameters.supervisionTimeout.timeoutText)"
      )
    case .connectionParameterUpdateResponse(let isAccepted):
      return ("L2CAP_CONNECTION_PARAMETER_UPDATE_RSP", isAccepted ? "accepted" : "rejected")
    case .leCreditBasedConnectionRequest(let spsm, let source, let parameters):
      return (
        "L2CAP_LE_CREDIT_BASED_CONNECTION_REQ",
        "SPSM 0x\(spsm.hexadecimal), from \(digits(source)), \(words(parameters))"
      )
    case .leCreditBasedConnectionResponse(let destination, let parameters, let result):
      return (
        "L2CAP_LE_CREDIT_BASED_CONNECTION_RSP",
        result == .successful ? "to \(digits(destination)), \(words(parameters))" : words(result)
      )
    case .flowControlCreditIndication(let channel, let credits):
      return ("L2CAP_FLOW_CONTROL_CREDIT_IND", "\(digits(channel)): \(credits) credits")
    case .creditBasedConnectionRequest(let spsm, let parameters, let sources):
      return (
        "L2CAP_CREDIT_BASED_CONNECTION_REQ",
        "SPSM 0x\(spsm.hexadecimal), from \(sources.map(digits).joined(separator: " ")), \(words(parameters))"
      )
    case .creditBasedConnectionResponse(let parameters, let result, let destinations):
      return (
        "L2CAP_CREDIT_BASED_CONNECTION_RSP",
        result == .successful
          ? "to \(destinations.map(digits).joined(separator: " ")), \(words(parameters))" : words(result)
      )
    case .creditBasedReconfigureRequest(let mtu, let mps, let destinations):
      return (
        "L2CAP_CREDIT_BASED_RECONFIGURE_REQ",
        "\(destinations.map(digits).joined(separator: " ")), MTU \(mtu), MPS \(mps)"
      )
    case .creditBasedReconfigureResponse(let result):
      return ("L2CAP_CREDIT_BASED_RECONFIGURE_RSP", result == .successful ? "successful" : "result \(result.rawValue)")
    }
  }

  private static func digits(_ channel: LogicalLink.ChannelID) -> String { "0x" + channel.rawValue.hexadecimal }

  private static func words(_ parameters: LogicalLink.CreditParameters) -> String {
    "MTU \(parameters.mtu), MPS \(parameters.mps), \(parameters.initialCredits) credits"
  }

  private static func words(_ result: LogicalLink.ConnectionResult) -> String {
    switch result {
    case .spsmNotSupported: "SPSM not supported"
    case .noResources: "no resources available"
    case .insufficientAuthentication: "insufficient authentication"
    case .insufficientAuthorization: "insufficient authorization"
    case .encryptionKeySizeTooShort: "encryption key size too short"
    case .insufficientEncryption: "insufficient encryption"
    case .invalidSourceCID: "invalid source CID"
    case .sourceCIDAlreadyAllocated: "source CID already allocated"
    case .unacceptableParameters: "unacceptable parameters"
    default: "result 0x\(result.rawValue.hexadecimal)"
    }
  }

  /// Returns the name and the words of an SMP PDU · Vol 3, Part H, 3.5. Values and keys are not shown.
  static func describe(_ pdu: SMP.PDU) -> (name: String, detail: String) {
    let name = SpecificationNames.name(of: pdu.code)
    switch pdu {
    case .pairingRequest(let features), .pairingResponse(let features):
      var words = [SpecificationNames.words("\(features.ioCapability)").joined(separator: " ").lowercased()]
      let requirements = features.authenticationRequirements
      if features.hasOOBData { words.append("out-of-band data") }
      if requirements.contains(.bonding) { words.append("bonding") }
      if requirements.contains(.manInTheMiddleProtection) { words.append("MITM protection") }
      if requirements.contains(.secureConnections) { words.append("LE Secure Connections") }
      words.append("key of \(features.maximumEncryptionKeySize) octets")
      return (name, words.joined(separator: ", "))
    case .pairingFailed(let reason): return (name, "reason 0x\(reason.rawValue.hexadecimal)")
    case .identityAddressInformation(let address): return (name, "\(address)")
    case .securityRequest(let requirements):
      var words: [String] = []
      if requirements.contains(.bonding) { words.append("bonding") }
      if requirements.contains(.manInTheMiddleProtection) { words.append("MITM protection") }
      if requirements.contains(.secureConnections) { words.append("LE Secure Connections") }
      return (name, words.joined(separator: ", "))
    case .pairingConfirm, .pairingRandom, .pairingPublicKey, .pairingDHKeyCheck, .pairingKeypressNotification,
      .encryptionInformation, .centralIdentification, .identityInformation, .signingInformation:
      return (name, "")
    }
  }
}
