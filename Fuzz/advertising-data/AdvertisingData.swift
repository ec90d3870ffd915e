import BluetoothWire

/// Fuzzes advertising data and a scan response.
///
/// Octet 0 gives the number of the following octets that are the advertisement; the others are the scan response.
/// Parsed fields must survive encoding and parsing again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAdvertisingData(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let octets = Array(UnsafeBufferPointer(start: start, count: count))
  guard let split = octets.first else { return 0 }
  let advertisement = ByteSlice(octets.dropFirst().prefix(Int(split)))
  let response = ByteSlice(octets.dropFirst(1 + Int(split)))
  var fields = AdvertisingFields(advertisement)
  fields.merge(AdvertisingFields(response))
  precondition(fields.services.count + fields.solicitedServices.count <= count / 2, "more services than octets")
  precondition(Set(fields.services).count == fields.services.count, "a service that counts twice")
  for data in [advertisement, response] { check(AdvertisingData(data)) }
  return 0
}

private func check(_ data: AdvertisingData) {
  var rebuilt = AdvertisingDataBuilder(capacity: data.octets.count)
  for structure in data {
    precondition(rebuilt.append(structure.type, structure.data.bytes), "the structures are longer than the data")
    guard let field = structure.field else { continue }
    let written = field.structure
    guard let again = written.field else {
      preconditionFailure("\(field) is written as \(written), which says nothing")
    }
    precondition(again == field, "\(field) is written as \(written), which says \(again)")
    precondition(again.structure == written, "\(field) is written differently the second time")
  }
  precondition(data.octets.bytes.starts(with: rebuilt.octets), "the structures are not the data")
  _ = Beacon(data)
  for mode in [AdvertisingData.Flags.limitedDiscoverable, .generalDiscoverable] {
    guard let changed = data.discoverable(mode, capacity: data.octets.count + 3) else {
      preconditionFailure("there was room for Flags")
    }
    let flags = AdvertisingData.Flags(rawValue: AdvertisingFields(changed.prefix(3)).flags ?? 0)
    let isFirst = changed.count > 2 && changed[0] == 2 && changed[1] == ADType.flags.rawValue
    precondition(!isFirst || flags.contains(mode), "the mode is not in the Flags")
    precondition(AdvertisingData(changed).discoverable(mode) == changed, "the Flags change again")
  }
}
