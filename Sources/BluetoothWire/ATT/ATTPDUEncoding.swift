extension ATT.PDU {
  /// Appends the PDU, opcode first. A UUID without a 16-bit form is written in its 128-bit form, because ATT has no
  /// 32-bit form · 3.2.1.
  package func encode(into writer: inout ByteWriter) {
    writer.append(opcode.rawValue)
    switch self {
    case .errorResponse(let request, let handle, let code):
      writer.append(request)
      writer.append(handle)
      writer.append(code.rawValue)
    case .exchangeMTURequest(let mtu), .exchangeMTUResponse(let mtu):
      writer.append(mtu)
    case .findInformationRequest(let start, let end):
      writer.append(start)
      writer.append(end)
    case .findInformationResponse(let list):
      writer.append(list.format.rawValue)
      writer.append(list.data)
    case .findByTypeValueRequest(let start, let end, let type, let value):
      writer.append(start)
      writer.append(end)
      writer.append(type)
      writer.append(value)
    case .findByTypeValueResponse(let list):
      writer.append(list.data)
    case .readByTypeRequest(let start, let end, let type), .readByGroupTypeRequest(let start, let end, let type):
      writer.append(start)
      writer.append(end)
      writer.append(type.attributeForm)
    case .readByTypeResponse(let list):
      writer.append(UInt8(truncatingIfNeeded: list.elementSize))
      writer.append(list.data)
    case .readByGroupTypeResponse(let list):
      writer.append(UInt8(truncatingIfNeeded: list.elementSize))
      writer.append(list.data)
    case .readRequest(let handle):
      writer.append(handle)
    case .readResponse(let octets), .readBlobResponse(let octets), .readMultipleResponse(let octets):
      writer.append(octets)
    case .readBlobRequest(let handle, let offset):
      writer.append(handle)
      writer.append(offset)
    case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles):
      writer.append(handles.data)
    case .readMultipleVariableResponse(let list):
      writer.append(list.data)
    case .multipleHandleValueNotification(let list):
      writer.append(list.data)
    case .writeRequest(let handle, let value), .writeCommand(let handle, let value),
      .handleValueNotification(let handle, let value), .handleValueIndication(let handle, let value):
      writer.append(handle)
      writer.append(value)
    case .signedWriteCommand(let handle, let value, let signature):
      writer.append(handle)
      writer.append(value)
      writer.append(signature)
    case .prepareWriteRequest(let handle, let offset, let value),
      .prepareWriteResponse(let handle, let offset, let value):
      writer.append(handle)
      writer.append(offset)
      writer.append(value)
    case .executeWriteRequest(let flags):
      writer.append(flags.rawValue)
    case .writeResponse, .executeWriteResponse, .handleValueConfirmation:
      break
    }
  }

  /// Returns the encoded PDU in a storage of `pool`.
  package func encoded(in pool: PacketPool) -> ByteSlice {
    var writer = ByteWriter(pool)
    encode(into: &writer)
    return writer.finish()
  }
}
