import BluetoothCrypto
import BluetoothWire
import TestVectors
import Testing

@testable import BluetoothController

@Suite("HCI commands for cryptography")
struct CryptographyCommandTests {
  private let air = PerfectAir()
  private let device: ControllerHarness

  init() {
    device = ControllerHarness("device", address: 0x1111_1111_1111)
    air.start(device)
  }

  private func another(_ name: String, address: UInt64) -> ControllerHarness {
    let device = ControllerHarness(name, address: address)
    air.start(device)
    return device
  }

  private func little(_ key: P256KeyPair.PublicKey) -> ByteSlice { ByteSlice(key.x.reversed() + key.y.reversed()) }

  /// Returns X and Y of the key pair that the controller generates.
  private func readPublicKey(_ device: ControllerHarness) throws -> P256KeyPair.PublicKey {
    device.clear()
    #expect(device.send(.leReadLocalP256PublicKey) == .success)
    guard case .leReadLocalP256PublicKeyComplete(.success, let octets)? = device.events.last else {
      Issue.record("no key")
      throw DecodingError.truncated
    }
    return P256KeyPair.PublicKey(x: octets.bytes.prefix(32).reversed(), y: octets.bytes.suffix(32).reversed())
  }

  private func dhKey(_ device: ControllerHarness) -> [UInt8]? {
    guard case .leGenerateDHKeyComplete(.success, let octets)? = device.events.last else { return nil }
    return octets.value.bytes.reversed()
  }

  @Test("LE Encrypt gives the session key of the Core Specification's sample data")
  func encrypt() throws {
    #expect(
      device.complete(
        .leEncrypt(
          key: 0x4C68_3841_39F5_74D8_36BC_F34E_9DFB_01BF, plaintext: 0x0213_2435_4657_6879_ACBD_CEDF_E0F1_0213))
        == .leEncrypt(0x99AD_1B52_26A3_7E3E_058E_3B8E_27C2_C666))
  }

  @Test("Two controllers compute the same DHKey, and each key pair is new")
  func agreement() throws {
    let other = another("other", address: 0x2222_2222_2222)
    let old = try readPublicKey(device)
    let key = try readPublicKey(device)
    #expect(key != old)
    let otherKey = try readPublicKey(other)
    #expect(device.send(.leGenerateDHKey(little(otherKey))) == .success)
    #expect(other.send(.leGenerateDHKeyV2(little(key), usesDebugKey: false)) == .success)
    let secret = try #require(dhKey(device))
    #expect(secret.count == 32 && secret == dhKey(other))
  }

  @Test("The key pair depends on the device's seed: the same seed gives the same key")
  func determinism() throws {
    let twin = another("device", address: 0x1111_1111_1111)
    #expect(try readPublicKey(device) == readPublicKey(twin))
  }

  @Test("The second version computes with the debug key without a generated key pair")
  func debugKey() throws {
    let peer = try #require(P256KeyPair(privateKey: [UInt8](1...32)))
    #expect(device.send(.leGenerateDHKey(little(peer.publicKey))) == .commandDisallowed)
    #expect(device.send(.leGenerateDHKeyV2(little(peer.publicKey), usesDebugKey: true)) == .success)
    #expect(dhKey(device) == peer.sharedSecret(with: P256KeyPair.debug.publicKey))
  }

  @Test("A point that is not on the curve, and an unknown key type, are refused with 0x12")
  func invalid() throws {
    let key = try readPublicKey(device)
    let wrong = little(P256KeyPair.PublicKey(x: key.x, y: key.x))
    let before = device.events.count
    #expect(device.send(.leGenerateDHKey(wrong)) == .invalidHCICommandParameters)
    #expect(device.send(.leGenerateDHKey(ByteSlice([UInt8](repeating: 0, count: 64)))) == .invalidHCICommandParameters)
    #expect(device.send(.leGenerateDHKeyV2(wrong, usesDebugKey: true)) == .invalidHCICommandParameters)
    let parameters = ByteSlice(little(key).bytes + [2])
    #expect(
      device.send(raw: .command(opcode: .leGenerateDHKeyV2, parameters: parameters), opcode: .leGenerateDHKeyV2)?.status
        == .invalidHCICommandParameters)
    // Only the Command Status events are added.
    #expect(device.events.count == before + 4)
  }

  @Test("A reset deletes the key pair")
  func reset() throws {
    let key = try readPublicKey(device)
    device.send(.reset)
    #expect(device.send(.leGenerateDHKey(little(key))) == .commandDisallowed)
  }
}
