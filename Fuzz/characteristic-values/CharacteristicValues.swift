import BluetoothProfiles

/// Fuzzes values of characteristics and descriptors.
///
/// Octets 0 and 1 select the type, octets 2 to 8 are a presentation format, and the value follows. A parsed value must
/// survive encoding and parsing again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCharacteristicValues(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count >= 9 else { return 0 }
  let octets = Array(UnsafeBufferPointer(start: start, count: count))
  let number = Int(octets[0]) | Int(octets[1]) << 8
  let uuid = UInt16(truncatingIfNeeded: number)
  let type =
    CharacteristicValues.type(of: uuid) ?? CharacteristicValues.types[number % CharacteristicValues.types.count]
  let value = Array(octets[9...])
  check(type, value)
  guard let format = try? PresentationFormat(octets[2..<9]) else { preconditionFailure("7 octets are a format") }
  _ = try? format.text(of: value)
  _ = CharacteristicValues.text(of: uuid, value, format: format)
  if let aggregate = try? AggregateFormat(value) {
    let formats = Dictionary(aggregate.handles.map { ($0, format) }, uniquingKeysWith: { first, _ in first })
    _ = try? aggregate.texts(of: octets, formats: formats)
  }
  _ = try? ReportMap(descriptor: value).items()
  return 0
}

private func check<Value: CharacteristicValue>(_ type: Value.Type, _ octets: [UInt8]) {
  guard let value = try? Value(octets) else { return }
  let written = value.octets
  guard let again = try? Value(written) else {
    preconditionFailure("\(Value.self) writes \(written), which it can't read")
  }
  precondition(again == value, "\(Value.self) reads \(octets), writes \(written) and reads something else")
  precondition(again.octets == written, "\(Value.self) writes \(written) differently the second time")
  _ = value.description
}
