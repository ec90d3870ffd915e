import BluetoothHost
import BluetoothWire
import Testing

/// A central that starts encryption in the middle of pairing, on the air.
@Suite struct EarlyEncryptionTests {
  @Test(
    "S13 S14 Encryption before the DHKey checks is rejected with PIN or Key Missing, and pairing goes on",
    arguments: [0, 0x1234_5678 as UInt128])
  func beforeChecks(key: UInt128) throws {
    var setting = PairingAir.Setting()
    for side in [\PairingAir.Setting.central, \.peripheral] {
      setting[keyPath: side].ioCapability = .displayYesNo
      setting[keyPath: side].asksForAuthentication = true
    }
    setting.earlyKey = key
    let air = try PairingAir(setting, seed: 1)
    let control = air.air.filter { $0.isOfConnection && $0.header & 0b11 == 0b11 }
    // LL_ENC_REQ, LL_REJECT_IND or LL_REJECT_EXT_IND, LL_START_ENC_REQ · Vol 6, Part B, 2.4.2.
    let requests = control.indices.filter { control[$0].payload.first == 0x03 && control[$0].payload.count == 23 }
    let rejects = control.indices.filter { [[0x0D, 0x06], [0x11, 0x03, 0x06]].contains(control[$0].payload) }
    let starts = control.indices.filter { control[$0].payload == [0x05] }
    #expect(requests.count == 2 && rejects.count == 1 && starts.count == 1)
    let first = try #require(air.air.firstIndex { $0.comments.contains("encrypted") })
    let reject = try #require(air.air.firstIndex { [[0x0D, 0x06], [0x11, 0x03, 0x06]].contains($0.payload) })
    #expect(reject < first)
    for device in [air.central, air.peripheral] {
      #expect(device.outcomes.map(\.method) == [.numericComparison], "\(device.failures)")
    }
    #expect(air.value == air.expected)
  }
}
