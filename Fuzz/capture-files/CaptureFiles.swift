import BluetoothDissection

/// Fuzzes capture files, in arbitrary portions.
///
/// The first octet selects the length of the portions. The packets, their words and the problem must not depend on the
/// portions, and all packets can be added to the devices of a capture.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCaptureFiles(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 1 else { return 0 }
  let octets = Array(UnsafeBufferPointer(start: start, count: count))
  let file = octets[1...]
  let whole = lines(file, in: file.count)
  precondition(whole == lines(file, in: 1 + Int(octets[0]) * 3), "it depends on the portions")
  return 0
}

/// The octets to which a compressed file may grow.
private let inflatedLimit = 1 << 20

private func lines(_ file: ArraySlice<UInt8>, in portion: Int) -> [String] {
  var decoder = CaptureDecoder(inflatedLimit: inflatedLimit)
  var dissector = Dissector()
  var devices = CapturedDevices()
  var result: [String] = []
  var rest = file
  do throws(CaptureProblem) {
    while !rest.isEmpty {
      decoder.append(rest.prefix(portion))
      rest = rest.dropFirst(portion)
      while let element = try decoder.next() {
        switch element {
        case .packet(let packet):
          let description = dissector.describe(packet)
          devices.add(description)
          result.append(description.line(withComments: true))
        case .interface(let interface): result.append(interface.title)
        case .dropped(let interface, let count): result.append("\(interface.title) \(count)")
        case .unread(let kind): dissector.add(unread: kind)
        }
      }
    }
    try decoder.finish()
  } catch {
    result.append(error.reason)
  }
  for device in devices.all {
    _ = device.server.content
    _ = device.server.notes
    _ = device.advertising.timeline
  }
  return result + dissector.notes.lines
}
