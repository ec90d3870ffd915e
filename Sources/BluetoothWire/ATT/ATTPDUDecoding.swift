extension ATT.PDU {
  /// Decodes `octets`. The PDU refers to their storage.
  ///
  /// - Throws: `truncated` or `excess` for a wrong length, also `truncated` for no octets at all; `invalid` for a
  ///   forbidden value; `unknown` for an opcode that the specification does not define.
  package static func decode(_ octets: ByteSlice) throws(DecodingError) -> ATT.PDU {
    var reader = ByteReader(octets)
    let code = try reader.uint8()
    guard let opcode = ATT.Opcode(rawValue: code) else { throw .unknown(code: UInt16(code)) }
    let pdu = try decode(opcode, from: &reader)
    try reader.end()
    return pdu
  }

  private static func decode(_ opcode: ATT.Opcode, from reader: inout ByteReader) throws(DecodingError) -> ATT.PDU {
    switch opcode {
    case .errorResponse:
      return .errorResponse(
        request: try reader.uint8(), handle: try reader.uint16(), code: ATT.ErrorCode(rawValue: try reader.uint8()))
    case .exchangeMTURequest: return .exchangeMTURequest(clientReceiveMTU: try reader.uint16())
    case .exchangeMTUResponse: return .exchangeMTUResponse(serverReceiveMTU: try reader.uint16())
    case .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readByGroupTypeRequest:
      return try decodeSearch(opcode, from: &reader)
    case .findInformationResponse, .findByTypeValueResponse, .readByTypeResponse, .readByGroupTypeResponse:
      return try decodeList(opcode, from: &reader)
    case .readRequest: return .readRequest(handle: try reader.uint16())
    case .readResponse: return .readResponse(value: reader.rest())
    case .readBlobRequest: return .readBlobRequest(handle: try reader.uint16(), offset: try reader.uint16())
    case .readBlobResponse: return .readBlobResponse(value: reader.rest())
    case .readMultipleRequest: return .readMultipleRequest(try handles(&reader))
    case .readMultipleResponse: return .readMultipleResponse(values: reader.rest())
    case .readMultipleVariableRequest: return .readMultipleVariableRequest(try handles(&reader))
    case .readMultipleVariableResponse:
      return .readMultipleVariableResponse(ATT.LengthValueList(data: reader.rest()))
    case .writeRequest: return .writeRequest(handle: try reader.uint16(), value: reader.rest())
    case .writeResponse: return .writeResponse
    case .writeCommand: return .writeCommand(handle: try reader.uint16(), value: reader.rest())
    case .signedWriteCommand:
      let handle = try reader.uint16()
      let value = try reader.take(reader.remaining - ATT.signatureLength)
      return .signedWriteCommand(handle: handle, value: value, signature: reader.rest())
    case .prepareWriteRequest:
      return .prepareWriteRequest(
        handle: try reader.uint16(), offset: try reader.uint16(), value: reader.rest())
    case .prepareWriteResponse:
      return .prepareWriteResponse(
        handle: try reader.uint16(), offset: try reader.uint16(), value: reader.rest())
    case .executeWriteRequest:
      guard let flags = ATT.ExecuteWriteFlags(rawValue: try reader.uint8()) else { throw .invalid(field: "Flags") }
      return .executeWriteRequest(flags)
    case .executeWriteResponse: return .executeWriteResponse
    case .handleValueNotification:
      return .handleValueNotification(handle: try reader.uint16(), value: reader.rest())
    case .handleValueIndication:
      return .handleValueIndication(handle: try reader.uint16(), value: reader.rest())
    case .handleValueConfirmation: return .handleValueConfirmation
    case .multipleHandleValueNotification:
      let list = ATT.HandleLengthValueList(data: reader.rest())
      guard list.isWhole else { throw .truncated }
      return .multipleHandleValueNotification(list)
    }
  }

  /// Decodes the requests that begin with a handle range.
  private static func decodeSearch(
    _ opcode: ATT.Opcode, from reader: inout ByteReader
  ) throws(DecodingError) -> ATT.PDU {
    let start = try reader.uint16()
    let end = try reader.uint16()
    switch opcode {
    case .findInformationRequest: return .findInformationRequest(start: start, end: end)
    case .findByTypeValueRequest:
      return .findByTypeValueRequest(start: start, end: end, type: try reader.uint16(), value: reader.rest())
    case .readByTypeRequest: return .readByTypeRequest(start: start, end: end, type: try attributeType(&reader))
    default: return .readByGroupTypeRequest(start: start, end: end, type: try attributeType(&reader))
    }
  }

  /// Decodes the responses that are lists of fixed-size elements: one or more elements, all of them complete.
  private static func decodeList(
    _ opcode: ATT.Opcode, from reader: inout ByteReader
  ) throws(DecodingError) -> ATT.PDU {
    switch opcode {
    case .findInformationResponse:
      guard let format = ATT.InformationList.Format(rawValue: try reader.uint8()) else {
        throw .invalid(field: "Format")
      }
      let list = ATT.InformationList(format: format, data: reader.rest())
      try checkWhole(list)
      return .findInformationResponse(list)
    case .findByTypeValueResponse:
      let list = ATT.HandlesInformationList(data: reader.rest())
      try checkWhole(list)
      return .findByTypeValueResponse(list)
    case .readByTypeResponse:
      let length = Int(try reader.uint8())
      // An element holds at least one handle.
      guard length >= 2 else { throw .invalid(field: "Length") }
      let list = ATT.AttributeDataList(elementSize: length, data: reader.rest())
      try checkWhole(list)
      return .readByTypeResponse(list)
    default:
      let length = Int(try reader.uint8())
      // An element holds at least two handles.
      guard length >= 4 else { throw .invalid(field: "Length") }
      let list = ATT.GroupDataList(elementSize: length, data: reader.rest())
      try checkWhole(list)
      return .readByGroupTypeResponse(list)
    }
  }

  private static func checkWhole(_ list: some ATTFixedSizeList) throws(DecodingError) {
    guard list.data.count >= list.elementSize, list.data.count.isMultiple(of: list.elementSize) else {
      throw .truncated
    }
  }

  private static func attributeType(_ reader: inout ByteReader) throws(DecodingError) -> BluetoothUUID {
    switch reader.remaining {
    case 2: return try reader.uuid(.bits16)
    case 16: return try reader.uuid(.bits128)
    case 0, 1: throw .truncated
    default: throw .invalid(field: "Attribute Type")
    }
  }

  /// Reads a set of two or more handles · 3.4.4.7.
  private static func handles(_ reader: inout ByteReader) throws(DecodingError) -> ATT.HandleList {
    let list = ATT.HandleList(data: reader.rest())
    try checkWhole(list)
    guard list.count >= 2 else { throw .truncated }
    return list
  }
}
