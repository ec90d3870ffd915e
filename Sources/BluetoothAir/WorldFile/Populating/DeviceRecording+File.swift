import BluetoothDissection
import BluetoothLab
import Foundation

extension DeviceRecording {
  /// Reads a device from a capture, or from a file that `ble clone` or `ble replay --output` has written.
  ///
  /// - Parameters:
  ///   - path: the file; its first octets tell if it is a capture.
  ///   - device: the name of the device in the file or, in a capture, its address, its name or a part of its name; nil:
  ///     the only device.
  /// - Throws: `DeviceRecordingError` with all problems of the file.
  package init(path: String, device: String? = nil) throws(DeviceRecordingError) {
    if Self.isCapture(path) {
      try self.init(capture: path, device: device)
    } else {
      try self.init(file: path, device: device)
    }
  }

  /// Reads a device from a file that `ble clone` or `ble replay --output` has written.
  ///
  /// - Parameter device: the name of the device in the file; nil: the only one.
  /// - Throws: `DeviceRecordingError` with all problems of the file.
  package init(file path: String, device: String? = nil) throws(DeviceRecordingError) {
    let file: WorldFile
    do throws(WorldFileFailure) { file = try WorldFile(recording: path) } catch {
      throw DeviceRecordingError(lines: error.description)
    }
    let found = device.map { name in file.members.filter { $0.name == name } } ?? file.members
    guard found.count == 1, let member = found.first else {
      let names = file.members.map { $0.name.debugDescription }.joined(separator: ", ")
      throw DeviceRecordingError(
        path,
        device.map { "no device \"\($0)\"; the file has " + (names.isEmpty ? "no device" : names) }
          ?? "expected one device, got \(file.members.count)" + (names.isEmpty ? "" : ": " + names))
    }
    self.init(named: member.options.gapName ?? member.name, member.accessory)
  }

  private static func isCapture(_ path: String) -> Bool {
    // A file that can't be read is reported by the caller.
    guard let file = try? openFile(path) else { return false }
    var decoder = CaptureDecoder()
    // A bug report has its packets after other lines, and the header of a compressed file has any length.
    while decoder.format == nil, let octets = try? file.read(upToCount: 1 << 18), !octets.isEmpty {
      decoder.append(octets)
      do { while decoder.format == nil, try decoder.next() != nil {} } catch { return false }
    }
    return decoder.format != nil
  }
}
