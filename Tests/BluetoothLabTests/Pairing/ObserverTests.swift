import BluetoothCapture
import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import Foundation
import Testing

/// A passive observer of two devices that pair: it has their capture without keys.
@Suite("A passive observer of pairing") struct ObserverTests {
  private func setting(
    _ central: SMP.IOCapability, _ peripheral: SMP.IOCapability, isSecureConnections: Bool
  ) -> PairingAir.Setting {
    var setting = PairingAir.Setting()
    setting.central.ioCapability = central
    setting.central.secureConnections = isSecureConnections ? .preferred : .never
    setting.central.asksForAuthentication = true
    setting.peripheral.ioCapability = peripheral
    return setting
  }

  @Test(
    "A capture without keys shows the same air and contains none of the keys that the hosts made and exchanged",
    arguments: [SMP.IOCapability.noInputNoOutput, .displayYesNo, .keyboardDisplay], [false, true])
  func captureWithoutKeys(capability: SMP.IOCapability, isSecureConnections: Bool) throws {
    var setting = setting(capability, .keyboardDisplay, isSecureConnections: isSecureConnections)
    let open = try PairingAir(setting, seed: 1)
    setting.secrets = .none
    let closed = try PairingAir(setting, seed: 1)
    #expect(open.air == closed.air)
    #expect(closed.keysOfFile == nil)
    #expect(closed.keys.count >= 8)
    // The capture with keys contains them: both hosts have the same ones.
    #expect(open.keys == closed.keys)
    for key in open.keysOfFile?.longTermKeys ?? [] { #expect(open.file.shows(key.bytes.reversed())) }
    let keys = closed.keys + (open.keysOfFile?.longTermKeys ?? []).map { $0.bytes.reversed() }
    for key in keys { #expect(!closed.file.shows(key) && !closed.file.shows(key.reversed())) }
  }

  // MARK: LE legacy pairing protects little from a passive observer · Vol 3, Part H, 2.3.5

  @Test("LE legacy pairing by Just Works: a passive observer computes the key and reads all encrypted data")
  func justWorks() throws {
    var setting = setting(.noInputNoOutput, .noInputNoOutput, isSecureConnections: false)
    setting.secrets = .none
    setting.meetsAgain = true
    let air = try PairingAir(setting, seed: 5)
    let observer = PassiveObserver(air.air)
    try #require(observer.sessions.count == 2)
    let found = try #require(observer.shortTermKey(trying: [0]))
    let read = try #require(observer.sessions[0].read(with: found.key))
    #expect(read.contains(where: air.isAnswer))

    // The data include the distributed keys, also the key for the next link.
    let bond = try #require(air.central.outcomes.first?.bond)
    let distributed = try #require(read.first { $0[2] == 0x06 && $0[4] == SMP.Code.encryptionInformation.rawValue })
    let longTermKey = try #require(Block(distributed.dropFirst(5).reversed()))
    #expect(longTermKey == bond.peerKey?.value)
    #expect(try #require(observer.sessions[1].read(with: longTermKey)).contains(where: air.isAnswer))
  }

  @Test("LE legacy pairing by passkey: an observer finds the key among a million passkeys (a thousand in this test)")
  func passkey() throws {
    var setting = setting(.displayOnly, .keyboardOnly, isSecureConnections: false)
    setting.secrets = .none
    let air = try PairingAir(setting, seed: 5)
    guard case .show(let passkey)? = air.central.prompts.first else {
      Issue.record("no passkey was shown")
      return
    }
    let observer = PassiveObserver(air.air)
    let start = passkey / 1_000 * 1_000
    let found = try #require(observer.shortTermKey(trying: start..<start + 1_000))
    #expect(found.temporaryKey == passkey)
    #expect(try #require(observer.sessions.first?.read(with: found.key)).contains(where: air.isAnswer))
    #expect(observer.shortTermKey(trying: [0]) == nil)
  }

  @Test("LE legacy pairing with out of band data is as strong as its Temporary Key of 128 bits")
  func outOfBand() throws {
    var setting = setting(.noInputNoOutput, .noInputNoOutput, isSecureConnections: false)
    let key = Block(high: 0xFEED_0123_4567_89AB, low: 0xBEEF)
    setting.centralData.temporaryKeys[PairingDevice.addresses.peripheral] = key
    setting.peripheralData.temporaryKeys[PairingDevice.addresses.central] = key
    let air = try PairingAir(setting, seed: 5)
    #expect(air.value == air.expected)
    #expect(air.central.outcomes.map(\.method) == [.outOfBand])
    #expect(PassiveObserver(air.air).shortTermKey(trying: 0..<1_000) == nil)
  }

  // MARK: LE Secure Connections

  @Test("LE Secure Connections by passkey: an observer learns the used passkey but no key")
  func secureConnections() throws {
    let air = try PairingAir(setting(.displayOnly, .keyboardOnly, isSecureConnections: true), seed: 5)
    guard case .show(let passkey)? = air.central.prompts.first else {
      Issue.record("no passkey was shown")
      return
    }
    #expect(air.value == air.expected)
    let observer = PassiveObserver(air.air)
    #expect(observer.passkeyOfSecureConnections == passkey)
    #expect(observer.shortTermKey(trying: [passkey]) == nil)

    // All values sent in clear enter the key, together with the DHKey.
    let session = try #require(observer.sessions.first)
    let (central, peripheral) = (try #require(observer.central), try #require(observer.peripheral))
    let nonces = [true, false].compactMap {
      observer.security(.pairingRandom, fromCentral: $0).last.flatMap(Block.init(octetsOnAir:))
    }
    try #require(nonces.count == 2)
    let keys = [true, false].map { Array(observer.security(.pairingPublicKey, fromCentral: $0).joined().prefix(32)) }
    let secrets: [[UInt8]] = keys + keys.map { $0.reversed() } + [[UInt8](repeating: 0, count: 32)]
    for secret in secrets {
      let made = Toolbox.f5(w: secret, n1: nonces[0], n2: nonces[1], a1: central, a2: peripheral)
      #expect(session.read(with: made.longTermKey) == nil)
    }
    let longTermKey = try #require(air.keysOfFile?.longTermKeys.first)
    #expect(try #require(session.read(with: longTermKey)).contains(where: air.isAnswer))
  }
}

extension PairingAir {
  /// Returns true if an L2CAP frame is the answer with the protected value.
  fileprivate func isAnswer(_ frame: [UInt8]) -> Bool {
    frame == [UInt8(expected.count + 1), 0, 4, 0, 0x0B] + expected
  }
}

extension PassiveObserver.Session {
  /// Returns the L2CAP frames of the session; nil: `key` is wrong.
  fileprivate func read(with key: Block) -> [[UInt8]]? {
    var (assembly, frames) = (FrameAssembly(), [[UInt8]]())
    for (packet, plaintext) in zip(packets, open(with: key)) {
      guard let plaintext else { return nil }
      if packet.header & 0b11 != 0b11,
        let frame = assembly.add(plaintext, header: packet.header, isFromCentral: packet.isFromCentral)
      {
        frames.append(frame)
      }
    }
    return frames
  }
}
