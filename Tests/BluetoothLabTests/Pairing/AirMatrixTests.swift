import BluetoothCapture
import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import Foundation
import Requirements
import TestSupport
import Testing

/// Complete devices pair in every combination while the air is captured. The capture is then inspected with the key
/// file and without it.
@Suite("Pairing on the air: all combinations") struct AirMatrixTests {
  @Test(
    "The method of the tables pairs, the exported keys decrypt the air, and without keys nothing is readable",
    .requirement("L038", "L166"),
    arguments: PairingCombination.all)
  func matrix(_ part: PairingCombination) throws {
    for (seed, requests) in PairingRequests.all.enumerated() {
      var setting = PairingAir.Setting()
      setting.central = PairingPolicy(.central, in: part, requests)
      setting.peripheral = PairingPolicy(.peripheral, in: part, requests)
      setting.starter = requests.starter
      setting.agreedPasskey = [part.initiator, part.responder] == [.keyboardOnly, .keyboardOnly] ? 123_456 : nil
      let expected = try part.expected(requests.isProtected).method
      try check(setting, expected, part.isSecureConnections, seed: UInt64(seed))
    }
  }

  @Test(
    "Out of band pairing too uses the tables' method, and only the exported keys decrypt the air",
    arguments: [Link.Role.central, .peripheral], [false, true])
  func outOfBand(starter: Link.Role, bonds: Bool) throws {
    for isSecureConnections in [false, true] {
      // The sides that have the other's data; with a Temporary Key both have it.
      for has in isSecureConnections ? [1, 2, 3] : [3] {
        var setting = PairingAir.Setting()
        setting.central = PairingPolicy(
          .noInputNoOutput, secureConnections: isSecureConnections ? .preferred : .never, bonding: bonds)
        setting.peripheral = setting.central
        setting.starter = starter
        let (central, peripheral) = (PairingDevice.addresses.central, PairingDevice.addresses.peripheral)
        if isSecureConnections {
          var generator = RandomStream(seed: 7)
          let own = (OutOfBand.Own(using: &generator), OutOfBand.Own(using: &generator))
          (setting.centralData.own, setting.peripheralData.own) = own
          if has & 1 != 0 { setting.centralData.peers[peripheral] = OutOfBand.Peer(own.1) }
          if has & 2 != 0 { setting.peripheralData.peers[central] = OutOfBand.Peer(own.0) }
        } else {
          setting.centralData.temporaryKeys[peripheral] = Block(high: 0xFEED, low: 0xBEEF)
          setting.peripheralData.temporaryKeys[central] = Block(high: 0xFEED, low: 0xBEEF)
        }
        try check(setting, .outOfBand, isSecureConnections, seed: UInt64(has))
      }
    }
  }

  @Test("A bond's next link needs no pairing, and the exported keys decrypt it as well", arguments: [false, true])
  func nextLink(isSecureConnections: Bool) throws {
    var setting = PairingAir.Setting()
    setting.central.secureConnections = isSecureConnections ? .preferred : .never
    setting.meetsAgain = true
    try check(setting, .justWorks, isSecureConnections, sessions: 2, seed: 3)
  }

  // MARK: Inspection

  private func check(
    _ setting: PairingAir.Setting, _ method: PairingMethod, _ isSecureConnections: Bool, sessions: Int = 1,
    seed: UInt64
  ) throws {
    let air = try PairingAir(setting, seed: seed)
    let level: HostLinkSecurity.Level = method == .justWorks ? .encrypted : .authenticated
    for device in [air.central, air.peripheral] {
      #expect(device.outcomes.map(\.method) == [method], "\(device.name): \(device.failures)")
      #expect(device.outcomes.allSatisfy { $0.isSecureConnections == isSecureConnections })
      #expect(device.outcomes.allSatisfy { ($0.bond != nil) == setting.central.isBonding })
      #expect(device.security.level == level)
    }
    #expect(air.value == air.expected)
    let count = try expectDecrypted(air, sessions: sessions, reader: setting.starter)
    expectSecret(air, sessions: sessions, packets: count)
  }

  /// Checks that the key file decrypts all encrypted packets and that they contain the value. Returns the number of
  /// packets.
  private func expectDecrypted(_ air: PairingAir, sessions: Int, reader: Link.Role) throws -> Int {
    var decryptor = try #require(air.keysOfFile)
    var count = 0
    for packet in air.air where packet.isOfConnection {
      let isEncrypted = decryptor.open(packet) != nil
      #expect(isEncrypted == packet.comments.contains("encrypted"))
      if isEncrypted { count += 1 }
    }
    #expect(decryptor.failed == 0)
    #expect(decryptor.begun == sessions)
    let isCentral = reader == .central
    let handle = try #require(air.central.valueHandle)
    let request: [UInt8] = [3, 0, 4, 0, 0x0A, UInt8(handle & 0xFF), UInt8(handle >> 8)]
    let response = [UInt8(air.expected.count + 1), 0, 4, 0, 0x0B] + air.expected
    #expect(decryptor.frames.count { $0 == (isCentral, request) } == sessions)
    #expect(decryptor.frames.count { $0 == (!isCentral, response) } == sessions)
    return count
  }

  /// Checks that the captured packets reveal nothing without the keys, or with other keys.
  private func expectSecret(_ air: PairingAir, sessions: Int, packets: Int) {
    let observer = PassiveObserver(air.air)
    let sealed = observer.sessions.flatMap(\.packets)
    #expect(observer.sessions.count == sessions)
    // LL_START_ENC_RSP of both sides, the request and its answer at least.
    #expect(sealed.count == packets && packets >= 4 * sessions)
    // No PDU begins like an L2CAP frame, with its length and a fixed channel.
    #expect(!sealed.contains { $0.header & 0b11 == 0b10 && observer.isFrame($0.payload) })
    var octets = Data()
    for packet in air.air { octets.append(contentsOf: packet.data) }
    #expect(!octets.shows(air.expected))
    for key in air.keys { #expect(!octets.shows(key) && !octets.shows(key.reversed())) }

    let keys = air.keysOfFile?.longTermKeys ?? []
    #expect(!keys.isEmpty)
    for session in observer.sessions {
      for key in [Block.zero] + keys.flatMap(\.neighbours) {
        #expect(session.open(with: key).allSatisfy { $0 == nil })
      }
    }
  }
}

extension OutOfBand.Peer {
  /// Creates the data that the other device gets.
  fileprivate init(_ own: OutOfBand.Own) { self.init(random: own.random, confirm: own.confirm) }
}

extension Block {
  /// Wrong keys to try: with one bit changed, and with the octets reversed.
  fileprivate var neighbours: [Block] {
    [Block(high: high, low: low ^ 1), Block(high: low.byteSwapped, low: high.byteSwapped)]
  }
}

extension PassiveObserver {
  /// Returns true if a PDU reads like the start of an L2CAP frame on a fixed channel of LE · Vol 3, Part A, 2.1, 3.1.
  fileprivate func isFrame(_ payload: [UInt8]) -> Bool {
    guard payload.count >= 4, payload[3] == 0, 4...6 ~= payload[2] else { return false }
    let length = Int(payload[0]) | Int(payload[1]) << 8
    // With the MIC and without it.
    return [payload.count - 4, payload.count - 8].contains(length)
  }
}

extension Data {
  /// Returns true if the data contain eight consecutive octets of `secret`.
  func shows(_ secret: [UInt8]) -> Bool {
    stride(from: 0, through: secret.count - 8, by: 4).contains { range(of: Data(secret[$0..<$0 + 8])) != nil }
  }
}
