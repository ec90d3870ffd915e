import BluetoothAir
import BluetoothDissection

extension CapturedDevices {
  /// Reads all packets of a capture.
  init(of input: CaptureInput) throws {
    self.init()
    var dissector = Dissector()
    while let element = try input.next() {
      switch element {
      case .packet(let packet): add(dissector.describe(packet))
      case .unread(let kind): dissector.add(unread: kind)
      case .interface, .dropped: break
      }
    }
    dissector.complainOfNotes()
    if isIncomplete { complain("note: the capture has more than \(all.count) devices; later ones are left out") }
  }

  /// Returns the device that the command line means.
  ///
  /// - Throws: `Failure` if no device or more than one is possible.
  func device(_ text: String?) throws -> Device {
    do throws(CapturedDeviceError) { return try choose(text) } catch {
      switch error {
      case .none: throw Failure(error.description, status: ExitStatus.notFound)
      case .unknown(let text, let names):
        throw Failure(
          error.description + NameSuggestion.suggestion(for: text, among: names), status: ExitStatus.notFound)
      case .several(let devices):
        throw Failure(
          "the capture has \(devices.count) such devices; choose one with --device:",
          details: devices.map { device in
            "  \(device.address.digits)\(device.name.map { "  \($0.debugDescription)" } ?? "")"
              + (device.server.hasServices ? "  with a GATT server" : "")
          }, status: ExitStatus.ambiguous)
      }
    }
  }
}
