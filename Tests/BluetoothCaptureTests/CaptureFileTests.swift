import BluetoothCapture
import Foundation
import Testing

@Suite struct CaptureFileTests {
  @Test("A capture file holds what was appended, in order")
  func append() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("capture-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    let file = try CaptureFile(path: url.path)
    try file.append([1, 2])
    try file.append([])
    try file.append([3])
    #expect(try Data(contentsOf: url) == Data([1, 2, 3]))
  }

  @Test("A file that can't be made is an error that names it and says why")
  func unwritable() {
    #expect {
      _ = try CaptureFile(path: "/nowhere/at all.pcapng")
    } throws: { error in
      "\(error)" == "/nowhere/at all.pcapng: No such file or directory"
    }
  }
}
