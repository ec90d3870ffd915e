import BluetoothTypes
import BluetoothWire

/// ATT PDUs in words, with the types of the handles that a capture has shown so far.
struct ATTText {
  /// The types of the attributes of a server, by handle.
  private var types: [UInt16: BluetoothUUID] = [:]
  /// The type in the last Read By Type Request or Read By Group Type Request.
  private var requestedType: BluetoothUUID?
  /// The handle in the last Read Request.
  private var readHandle: UInt16?

  private static let characteristicDeclaration = BluetoothUUID(0x2803)

  /// Returns the words of a PDU, and the attribute handles in it. Must be called for all PDUs of a bearer with this
  /// server, in order.
  mutating func describe(_ pdu: ATT.PDU) -> (text: String, handles: [UInt16]) {
    switch pdu {
    case .errorResponse(let request, let handle, let code):
      let name = ATT.Opcode(rawValue: request).map { SpecificationNames.name(of: $0) } ?? "0x" + request.hexadecimal
      return ("\(name) \(title(handle)): \(SpecificationNames.title(of: code))", [handle])
    case .exchangeMTURequest(let mtu), .exchangeMTUResponse(let mtu): return ("MTU \(mtu)", [])
    case .findInformationRequest(let start, let end): return (range(start, end), [])
    case .findInformationResponse(let list):
      for element in list { types[element.handle] = element.type }
      return (
        list.map { "\(digits($0.handle)) \(SpecificationNames.title(of: $0.type))" }.joined(separator: "; "),
        list.map(\.handle)
      )
    case .findByTypeValueRequest(let start, let end, let type, let value):
      return ("\(range(start, end)) \(SpecificationNames.title(of: BluetoothUUID(type))) = \(uuid(value))", [])
    case .findByTypeValueResponse(let list):
      return (list.map { range($0.found, $0.groupEnd) }.joined(separator: "; "), list.map(\.found))
    case .readByTypeRequest(let start, let end, let type), .readByGroupTypeRequest(let start, let end, let type):
      requestedType = type
      return ("\(range(start, end)) \(SpecificationNames.title(of: type))", [])
    case .readByTypeResponse(let list): return describe(list)
    case .readByGroupTypeResponse(let list):
      return (
        list.map { "\(range($0.handle, $0.groupEnd)) \(uuid($0.value))" }.joined(separator: "; "), list.map(\.handle)
      )
    case .readRequest(let handle):
      readHandle = handle
      return (title(handle), [handle])
    case .readBlobRequest(let handle, let offset):
      readHandle = handle
      return ("\(title(handle)) from octet \(offset)", [handle])
    case .readResponse(let value):
      defer { readHandle = nil }
      return (readHandle.map { "\(title($0)): \(text(value, of: $0))" } ?? digits(value), readHandle.map { [$0] } ?? [])
    case .readBlobResponse(let value): return (digits(value), readHandle.map { [$0] } ?? [])
    case .readMultipleRequest(let list), .readMultipleVariableRequest(let list):
      return (list.map { title($0) }.joined(separator: "; "), Array(list))
    case .readMultipleResponse(let values): return (digits(values), [])
    case .readMultipleVariableResponse(let list):
      return (list.map { digits($0.value) }.joined(separator: "; "), [])
    case .writeRequest(let handle, let value), .writeCommand(let handle, let value),
      .signedWriteCommand(let handle, let value, _), .handleValueNotification(let handle, let value),
      .handleValueIndication(let handle, let value):
      return ("\(title(handle)): \(text(value, of: handle))", [handle])
    case .prepareWriteRequest(let handle, let offset, let value),
      .prepareWriteResponse(let handle, let offset, let value):
      return ("\(title(handle)) at octet \(offset): \(digits(value))", [handle])
    case .executeWriteRequest(let flags): return (flags == .write ? "write" : "cancel", [])
    case .multipleHandleValueNotification(let list):
      return (
        list.map { "\(title($0.handle)): \(text($0.value, of: $0.handle))" }.joined(separator: "; "),
        list.map(\.handle)
      )
    case .writeResponse, .executeWriteResponse, .handleValueConfirmation: return ("", [])
    }
  }

  /// Describes a Read By Type Response, and learns from declarations of characteristics · Vol 3, Part G, 3.3.1.
  private mutating func describe(_ list: ATT.AttributeDataList) -> (String, [UInt16]) {
    guard requestedType == Self.characteristicDeclaration else {
      return (list.map { "\(digits($0.handle)): \(digits($0.value))" }.joined(separator: "; "), list.map(\.handle))
    }
    var parts: [String] = []
    for element in list where element.value.count >= 5 {
      let value = element.value
      let handle = UInt16(value[1]) | UInt16(value[2]) << 8
      guard let type = Self.decode(value.dropFirst(3)) else { continue }
      types[handle] = type
      parts.append("\(digits(handle)) \(SpecificationNames.title(of: type))")
    }
    return (parts.joined(separator: "; "), list.map(\.handle))
  }

  /// Decodes a UUID of 2 or 16 octets, the least significant one first.
  static func decode(_ octets: ByteSlice) -> BluetoothUUID? {
    switch octets.count {
    case 2: BluetoothUUID(UInt16(octets[0]) | UInt16(octets[1]) << 8)
    case 16:
      BluetoothUUID(
        high: octets.bytes[8...].reversed().reduce(0) { $0 << 8 | UInt64($1) },
        low: octets.bytes[..<8].reversed().reduce(0) { $0 << 8 | UInt64($1) })
    default: nil
    }
  }

  private func uuid(_ value: ByteSlice) -> String {
    Self.decode(value).map { SpecificationNames.title(of: $0) } ?? digits(value)
  }

  private func digits(_ handle: UInt16) -> String { "0x" + handle.hexadecimal }
  private func digits(_ value: ByteSlice) -> String { value.isEmpty ? "empty" : "0x" + value.bytes.digits }
  private func range(_ start: UInt16, _ end: UInt16) -> String { "\(digits(start))–\(digits(end))" }

  private func title(_ handle: UInt16) -> String {
    digits(handle) + (types[handle].map { " " + SpecificationNames.title(of: $0) } ?? "")
  }

  private func text(_ value: ByteSlice, of handle: UInt16) -> String {
    guard let type = types[handle] else { return digits(value) }
    let text = ValueText(value.bytes, of: type)
    return text.decoded.map { "\(text.hexadecimal) (\($0))" } ?? text.hexadecimal
  }
}
