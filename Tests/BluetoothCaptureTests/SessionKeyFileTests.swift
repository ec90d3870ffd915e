import BluetoothWire
import Foundation
import Testing

@testable import BluetoothCapture

@Suite struct SessionKeyFileTests {
  private func withFile(_ body: (URL) throws -> Void) throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    try body(url)
  }

  private func sessions(_ url: URL) throws -> [[String: Any]] {
    let object = try JSONSerialization.jsonObject(with: Data(contentsOf: url))
    let file = try #require(object as? [String: Any])
    #expect(Array(file.keys) == ["sessions"])
    return try #require(file["sessions"] as? [[String: Any]])
  }

  private func session(_ accessAddress: UInt32) -> LL.SessionRecord {
    LL.SessionRecord(
      accessAddress: accessAddress, central: DeviceAddress(0x0102_0304_0506, .public),
      peripheral: DeviceAddress(0xC102_0304_0506, .random),
      keys: LL.SessionKeys(
        longTermKey: Secret(0x0C68_3841_39F5_74D8_36BC_F34E_9DFB_01BF),
        central: LL.SessionPart(diversifier: 0x0CBD_CEDF_E0F1_0213, initializationVector: 0x0ADC_BA24),
        peripheral: LL.SessionPart(diversifier: 0x0213_2435_4657_6879, initializationVector: 0x0BAB_AFDE)))
  }

  @Test("The key file has each session with its keys, as numbers with all digits")
  func contents() throws {
    try withFile { url in
      let file = try SessionKeyFile(path: url.path)
      try file.append(session(0x0065_4321), at: Instant(nanoseconds: 1_234_567_890_123))
      let first = try #require(try sessions(url).first)
      #expect(first["time"] as? Int == 1_234_567_890_123)
      #expect(
        first.filter { $0.key != "time" } as? [String: String] == [
          "accessAddress": "00654321", "central": "01:02:03:04:05:06", "peripheral": "C1:02:03:04:05:06 (random)",
          "LTK": "0C68384139F574D836BCF34E9DFB01BF", "SKDm": "0CBDCEDFE0F10213", "SKDs": "0213243546576879",
          "IVm": "0ADCBA24", "IVs": "0BABAFDE",
        ])
    }
  }

  @Test("The key file is valid JSON before its first session and after each session")
  func whole() throws {
    try withFile { url in
      let file = try SessionKeyFile(path: url.path)
      #expect(try sessions(url).isEmpty)
      for number in 1...3 as ClosedRange<UInt32> {
        try file.append(session(number), at: .zero)
        #expect(try sessions(url).compactMap { $0["accessAddress"] as? String } == (1...number).map(\.hexadecimal))
      }
    }
  }

  @Test("Only the owner may read a key file, even if it replaces a file that others could read")
  func mode() throws {
    try withFile { url in
      try Data([1]).write(to: url)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url.path)
      let file = try SessionKeyFile(path: url.path)
      try file.append(session(1), at: .zero)
      let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }

  @Test("The key file replaces a symbolic link and leaves the link's target unchanged")
  func link() throws {
    try withFile { url in
      let other = url.appendingPathExtension("other")
      defer { try? FileManager.default.removeItem(at: other) }
      try Data("precious".utf8).write(to: other)
      try FileManager.default.createSymbolicLink(at: url, withDestinationURL: other)
      let file = try SessionKeyFile(path: url.path)
      try file.append(session(1), at: .zero)
      #expect(try Data(contentsOf: other) == Data("precious".utf8))
      #expect(try sessions(url).count == 1)
      #expect(try FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType == .typeRegular)
    }
  }

  @Test("The key file replaces a hard link and leaves the other name's contents unchanged")
  func hardLink() throws {
    try withFile { url in
      let other = url.appendingPathExtension("other")
      defer { try? FileManager.default.removeItem(at: other) }
      try Data("precious".utf8).write(to: other)
      try FileManager.default.linkItem(at: other, to: url)
      let file = try SessionKeyFile(path: url.path)
      try file.append(session(1), at: .zero)
      #expect(try Data(contentsOf: other) == Data("precious".utf8))
      #expect(try sessions(url).count == 1)
    }
  }
}
