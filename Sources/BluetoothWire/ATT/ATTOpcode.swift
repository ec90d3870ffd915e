extension ATT {
  /// The handle of an attribute on one server; 0x0000 is invalid · Vol 3, Part F, 3.2.2.
  package typealias Handle = UInt16

  /// The Attribute Opcode · Vol 3, Part F, 3.4.8.
  package enum Opcode: UInt8, Hashable, Sendable, CaseIterable {
    case errorResponse = 0x01
    case exchangeMTURequest = 0x02
    case exchangeMTUResponse = 0x03
    case findInformationRequest = 0x04
    case findInformationResponse = 0x05
    case findByTypeValueRequest = 0x06
    case findByTypeValueResponse = 0x07
    case readByTypeRequest = 0x08
    case readByTypeResponse = 0x09
    case readRequest = 0x0A
    case readResponse = 0x0B
    case readBlobRequest = 0x0C
    case readBlobResponse = 0x0D
    case readMultipleRequest = 0x0E
    case readMultipleResponse = 0x0F
    case readByGroupTypeRequest = 0x10
    case readByGroupTypeResponse = 0x11
    case writeRequest = 0x12
    case writeResponse = 0x13
    case prepareWriteRequest = 0x16
    case prepareWriteResponse = 0x17
    case executeWriteRequest = 0x18
    case executeWriteResponse = 0x19
    case handleValueNotification = 0x1B
    case handleValueIndication = 0x1D
    case handleValueConfirmation = 0x1E
    case readMultipleVariableRequest = 0x20
    case readMultipleVariableResponse = 0x21
    case multipleHandleValueNotification = 0x23
    case writeCommand = 0x52
    case signedWriteCommand = 0xD2

    /// The six PDU types · 3.3.
    package enum Kind: Hashable, Sendable {
      case request, response, command, notification, indication, confirmation
    }

    package var kind: Kind {
      switch self {
      case .exchangeMTURequest, .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readRequest,
        .readBlobRequest, .readMultipleRequest, .readByGroupTypeRequest, .writeRequest, .prepareWriteRequest,
        .executeWriteRequest, .readMultipleVariableRequest:
        return .request
      case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse,
        .readByTypeResponse, .readResponse, .readBlobResponse, .readMultipleResponse, .readByGroupTypeResponse,
        .writeResponse, .prepareWriteResponse, .executeWriteResponse, .readMultipleVariableResponse:
        return .response
      case .writeCommand, .signedWriteCommand: return .command
      case .handleValueNotification, .multipleHandleValueNotification: return .notification
      case .handleValueIndication: return .indication
      case .handleValueConfirmation: return .confirmation
      }
    }

    /// The opcode of the response to this request if it succeeds; nil if this is not a request.
    package var response: Opcode? {
      kind == .request ? Opcode(rawValue: rawValue + 1) : nil
    }

    /// Returns true if the Command Flag is set: a server ignores such a PDU if it does not know the opcode · 3.3.1.
    package static func isCommand(_ opcode: UInt8) -> Bool { opcode & 0x40 != 0 }
  }
}
