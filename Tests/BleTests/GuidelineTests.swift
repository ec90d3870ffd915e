import ArgumentParser
import BluetoothDissection
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers
import Requirements
import Testing

@testable import ble

/// The rules of Apple's accessory guidelines about advertising.
@Suite struct GuidelineTests {
  /// Returns the rules that the packets break.
  private static func breaches(_ packets: [(AdvertisingPacket.PDUType, [UInt8])]) -> [String] {
    var rules = AppleGuidelines()
    for (type, data) in packets { rules.add(type, Data(data)) }
    return rules.findings.filter { !$0.isKept }.map(\.rule)
  }

  private static let flags: [UInt8] = [2, 0x01, 6]

  @Test("A directed advertising packet breaks a rule of Apple's accessory guidelines", .requirement("L200"))
  func directed() {
    #expect(Self.breaches([(.advInd, Self.flags)]) == [])
    #expect(Self.breaches([(.advInd, Self.flags), (.advDirectInd, [])]) == ["L200"])
  }

  @Test(
    "Advertising without flags, transmit power, name and services breaks a rule of Apple's accessory guidelines",
    .requirement("L201"),
    arguments: [
      ([2, 0x01, 6], true), ([2, 0x0A, 0], true), ([2, 0x08, 0x41], true), ([2, 0x09, 0x41], true),
      ([3, 0x02, 0x0D, 0x18], true), ([3, 0x03, 0x0D, 0x18], true), ([5, 0x05, 0, 0, 0, 1], true),
      ([17, 0x07] + [UInt8](repeating: 7, count: 16), true), ([4, 0xFF, 0xFF, 0xFF, 1], false), ([], false),
    ] as [([UInt8], Bool)])
  func content(data: [UInt8], isKept: Bool) {
    #expect(Self.breaches([(.advInd, data)]) == (isKept ? [] : ["L201"]))
    // A scan response is no advertising.
    #expect(Self.breaches([(.advInd, []), (.scanRsp, data)]) == ["L201"])
  }

  @Test("Without advertising packets there is no finding about the rules of Apple's accessory guidelines")
  func silence() {
    var rules = AppleGuidelines()
    #expect(!rules.isHeard && rules.findings.isEmpty)
    rules.add(.scanRsp, Data([2, 0x09, 0x41]))
    rules.add(.auxScanRsp, Data([2, 0x09, 0x42]))
    #expect(!rules.isHeard && rules.findings.isEmpty)
    rules.add(.advInd, Data(Self.flags))
    #expect(rules.isHeard)
    #expect(rules.findings.map(\.isKept) == [true, true, false])
  }

  @Test("A scan response that changes breaks a rule of Apple's accessory guidelines", .requirement("L202"))
  func response() {
    let packets: [(AdvertisingPacket.PDUType, [UInt8])] = [(.advInd, Self.flags), (.scanRsp, [2, 0x09, 0x41])]
    #expect(Self.breaches(packets + packets) == [])
    #expect(Self.breaches(packets + [(.scanRsp, [2, 0x09, 0x42])]) == ["L202"])
  }

  @Test(
    "The accessories of the lab keep the rules of Apple's accessory guidelines about advertising",
    .requirement("L200", "L201", "L202"))
  func accessories() throws {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("accessories.yaml").path
    let options = try AdapterOptions.parse(["--world", path, "--virtual-time"])
    let rules = NIOLockedValueBox<[String: AppleGuidelines]>([:])
    try Stage(options).run { stage in
      let central = try await stage.makeCentral()
      do {
        try await withTimeLimit(stage.limit(5)) {
          for try await packet in central.packets() {
            rules.withLockedValue { $0[packet.address.digits, default: AppleGuidelines()].add(packet) }
          }
        }
      } catch is TimeLimitExceeded {}
    }
    let observed = rules.withLockedValue { $0 }
    #expect(observed.count == 20)
    for (address, rules) in observed {
      for finding in rules.findings { #expect(finding.isKept, "\(address): \(finding.line)") }
    }
  }
}
