import BluetoothLab
import Foundation
import TestSupport
import TestVectors
import Testing

@Suite struct EncryptedCaptureTests {
  /// Packets are lost and retransmitted.
  private static let faults: FaultPlan = [.air(.lose, .anything, .percent(10))]

  private func isFound(_ octets: [UInt8], in data: Data) -> Bool { data.range(of: Data(octets)) != nil }

  private static let keys = EncryptedLinkHost.keys + [EncryptedLinkHost.identityKey, EncryptedLinkHost.signatureKey]

  @Test("A capture of an encrypted link without keys reveals neither the keys nor the plaintext")
  func passive() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.file("air.pcapng")
      let capture = try Capture(path: path)
      #expect(capture.keysPath == nil)
      try await World.afterEncryptedLink(faults: Self.faults, capture: capture)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["air.pcapng"])
      let file = try Data(contentsOf: URL(fileURLWithPath: path))
      for key in Self.keys {
        let octets = EncryptedLinkHost.octets(key)
        #expect(!isFound(octets, in: file))
        #expect(!isFound(octets.reversed(), in: file))
        #expect(!isFound(Array(octets.prefix(9)), in: file))
      }
      let air = try AirCapture(path: path).air
      for packet in air {
        for start in stride(from: 0, to: EncryptedLinkHost.value.count - 8, by: 4) {
          let part = Array(EncryptedLinkHost.value[start..<start + 8])
          #expect(!isFound(part, in: Data(packet.data)))
        }
      }
      #expect(air.count { $0.comments.contains("encrypted") } > 30)
      #expect(air.allSatisfy { $0.flags & 0x3008 == 0 })
    }
  }

  @Test("The key file decrypts the air of a capture, after a key refresh too, to the content of a decrypted capture")
  func decrypted() async throws {
    try await withTemporaryFolder { folder in
      let capture = try Capture(path: folder.file("encrypted.pcapng"), writesKeys: true)
      try await World.afterEncryptedLink(faults: Self.faults, capture: capture)
      let path = folder.file("decrypted.pcapng")
      try await World.afterEncryptedLink(faults: Self.faults, capture: try Capture(path: path, decryptsAir: true))

      let encrypted = try AirCapture(path: folder.file("encrypted.pcapng"))
      let decrypted = try AirCapture(path: path)
      #expect(encrypted.hci == decrypted.hci)
      #expect(encrypted.air.map(\.nanoseconds) == decrypted.air.map(\.nanoseconds))
      var decryptor = try AirDecryptor(keysPath: try #require(capture.keysPath))
      var count = 0
      for (sealed, plain) in zip(encrypted.air, decrypted.air) {
        guard sealed.isOfConnection, let payload = decryptor.open(sealed) else {
          #expect(sealed == plain)
          continue
        }
        count += 1
        #expect(payload == plain.payload)
        #expect(plain.flags == sealed.flags | 0x3008)
        #expect(sealed.comments.contains("encrypted"))
      }
      #expect(decryptor.begun == 2)
      #expect(count > 30)
      #expect(count == encrypted.air.count { $0.comments.contains("encrypted") })
    }
  }

  @Test("The key file contains each session once, and the HCI interfaces of the capture contain whole keys")
  func keys() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.file("air.pcapng")
      let capture = try Capture(path: path, writesKeys: true)
      #expect(capture.keysPath == path + ".keys.json")
      try await World.afterEncryptedLink(capture: capture)
      let text = try String(contentsOfFile: path + ".keys.json", encoding: .utf8)
      for key in EncryptedLinkHost.keys {
        let search = KeySearch(EncryptedLinkHost.octets(key))
        #expect(text.split(separator: "\n").count { search.finds(in: String($0)) } == 1)
      }
      #expect(text.contains(#""central": "C0:FF:EE:00:00:02""#))
      #expect(text.contains(#""peripheral": "C0:FF:EE:00:00:01""#))
      let file = try Data(contentsOf: URL(fileURLWithPath: path))
      // Distributed keys are fragmented on HCI, but the keys in resolving list commands are whole.
      for key in EncryptedLinkHost.keys + [EncryptedLinkHost.identityKey] {
        #expect(isFound(EncryptedLinkHost.octets(key), in: file))
      }
    }
  }

  @Test("An injected packet appears unchanged in a decrypted capture")
  func injected() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.file("air.pcapng")
      let foreign: [UInt8] = [1, 2, 3, 4, 5, 6, 7]
      try await World.afterEncryptedLink(
        faults: [.air(.inject(foreign), AirMatch(.attribute(opcode: 0x0B)), .number(1))],
        capture: try Capture(path: path, decryptsAir: true))
      let replaced = try AirCapture(path: path).air.filter { $0.comments.contains { $0.hasPrefix("fault:") } }
      #expect(replaced.map(\.payload) == [foreign])
      #expect(replaced.allSatisfy { $0.flags & 0x3008 == 0 })
    }
  }

  @Test("Captures with keys or plaintext are readable by their owner only")
  func mode() async throws {
    try withTemporaryFolder { folder in
      for (decrypts, writes) in [(false, true), (true, false), (true, true)] {
        let path = folder.file("air.pcapng")
        let capture = try Capture(path: path, decryptsAir: decrypts, writesKeys: writes)
        for path in [path, capture.keysPath].compactMap({ $0 }) {
          let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
          #expect(mode == 0o600)
        }
      }
    }
  }

  @Test("A key file that can't be created gives an error that names it")
  func unwritable() async throws {
    try withTemporaryFolder { folder in
      let path = folder.file("air.pcapng")
      try FileManager.default.createDirectory(atPath: path + ".keys.json", withIntermediateDirectories: false)
      #expect {
        _ = try Capture(path: path, writesKeys: true)
      } throws: { error in
        "\(error)".contains("air.pcapng.keys.json: ")
      }
    }
  }
}
