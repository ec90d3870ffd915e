extension ATT {
  /// An ATT protocol data unit · Vol 3, Part F, 3.4.
  ///
  /// Ranges and handles are as received: the server rejects ranges that begin at 0 or end before they begin.
  package enum PDU: Hashable, Sendable {
    /// 3.4.1.1; `request` is the opcode of the rejected request, which can have any value.
    case errorResponse(request: UInt8, handle: Handle, code: ErrorCode)
    /// 3.4.2.1
    case exchangeMTURequest(clientReceiveMTU: UInt16)
    /// 3.4.2.2
    case exchangeMTUResponse(serverReceiveMTU: UInt16)
    /// 3.4.3.1
    case findInformationRequest(start: Handle, end: Handle)
    /// 3.4.3.2
    case findInformationResponse(InformationList)
    /// 3.4.3.3
    case findByTypeValueRequest(start: Handle, end: Handle, type: UInt16, value: ByteSlice)
    /// 3.4.3.4
    case findByTypeValueResponse(HandlesInformationList)
    /// 3.4.4.1
    case readByTypeRequest(start: Handle, end: Handle, type: BluetoothUUID)
    /// 3.4.4.2
    case readByTypeResponse(AttributeDataList)
    /// 3.4.4.3
    case readRequest(handle: Handle)
    /// 3.4.4.4; at most ATT_MTU − 1 octets.
    case readResponse(value: ByteSlice)
    /// 3.4.4.5
    case readBlobRequest(handle: Handle, offset: UInt16)
    /// 3.4.4.6; at most ATT_MTU − 1 octets.
    case readBlobResponse(value: ByteSlice)
    /// 3.4.4.7
    case readMultipleRequest(HandleList)
    /// 3.4.4.8; the values are concatenated without separators.
    case readMultipleResponse(values: ByteSlice)
    /// 3.4.4.9
    case readByGroupTypeRequest(start: Handle, end: Handle, type: BluetoothUUID)
    /// 3.4.4.10
    case readByGroupTypeResponse(GroupDataList)
    /// 3.4.4.11
    case readMultipleVariableRequest(HandleList)
    /// 3.4.4.12
    case readMultipleVariableResponse(LengthValueList)
    /// 3.4.5.1; at most ATT_MTU − 3 octets.
    case writeRequest(handle: Handle, value: ByteSlice)
    /// 3.4.5.2
    case writeResponse
    /// 3.4.5.3; at most ATT_MTU − 3 octets.
    case writeCommand(handle: Handle, value: ByteSlice)
    /// 3.4.5.4; at most ATT_MTU − 15 octets of value, 12 octets of signature.
    case signedWriteCommand(handle: Handle, value: ByteSlice, signature: ByteSlice)
    /// 3.4.6.1; at most ATT_MTU − 5 octets.
    case prepareWriteRequest(handle: Handle, offset: UInt16, value: ByteSlice)
    /// 3.4.6.2; repeats the contents of the request.
    case prepareWriteResponse(handle: Handle, offset: UInt16, value: ByteSlice)
    /// 3.4.6.3
    case executeWriteRequest(ExecuteWriteFlags)
    /// 3.4.6.4
    case executeWriteResponse
    /// 3.4.7.1; at most ATT_MTU − 3 octets.
    case handleValueNotification(handle: Handle, value: ByteSlice)
    /// 3.4.7.2; at most ATT_MTU − 3 octets.
    case handleValueIndication(handle: Handle, value: ByteSlice)
    /// 3.4.7.3
    case handleValueConfirmation
    /// 3.4.7.4
    case multipleHandleValueNotification(HandleLengthValueList)
  }

  /// The action of an Execute Write Request on the prepared writes · 3.4.6.3.
  package enum ExecuteWriteFlags: UInt8, Hashable, Sendable {
    case cancel = 0x00
    case write = 0x01
  }

  /// The length of the Authentication Signature of a Signed Write Command, in octets · 3.3.1.
  package static let signatureLength = 12
}

extension ATT.PDU {
  package var opcode: ATT.Opcode {
    switch self {
    case .errorResponse: return .errorResponse
    case .exchangeMTURequest: return .exchangeMTURequest
    case .exchangeMTUResponse: return .exchangeMTUResponse
    case .findInformationRequest: return .findInformationRequest
    case .findInformationResponse: return .findInformationResponse
    case .findByTypeValueRequest: return .findByTypeValueRequest
    case .findByTypeValueResponse: return .findByTypeValueResponse
    case .readByTypeRequest: return .readByTypeRequest
    case .readByTypeResponse: return .readByTypeResponse
    case .readRequest: return .readRequest
    case .readResponse: return .readResponse
    case .readBlobRequest: return .readBlobRequest
    case .readBlobResponse: return .readBlobResponse
    case .readMultipleRequest: return .readMultipleRequest
    case .readMultipleResponse: return .readMultipleResponse
    case .readByGroupTypeRequest: return .readByGroupTypeRequest
    case .readByGroupTypeResponse: return .readByGroupTypeResponse
    case .readMultipleVariableRequest: return .readMultipleVariableRequest
    case .readMultipleVariableResponse: return .readMultipleVariableResponse
    case .writeRequest: return .writeRequest
    case .writeResponse: return .writeResponse
    case .writeCommand: return .writeCommand
    case .signedWriteCommand: return .signedWriteCommand
    case .prepareWriteRequest: return .prepareWriteRequest
    case .prepareWriteResponse: return .prepareWriteResponse
    case .executeWriteRequest: return .executeWriteRequest
    case .executeWriteResponse: return .executeWriteResponse
    case .handleValueNotification: return .handleValueNotification
    case .handleValueIndication: return .handleValueIndication
    case .handleValueConfirmation: return .handleValueConfirmation
    case .multipleHandleValueNotification: return .multipleHandleValueNotification
    }
  }
}
