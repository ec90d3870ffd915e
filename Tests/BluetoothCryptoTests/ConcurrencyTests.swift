import Foundation
import TestVectors
import Testing

@testable import BluetoothCrypto

@Suite("Many threads at once")
struct ConcurrencyTests {
  /// Calls `body` on eight threads at once, and returns their results.
  private func onThreads<Result: Sendable>(_ body: @escaping @Sendable (Int) -> Result) async -> [Result] {
    await withTaskGroup(of: Result.self) { group in
      for index in 0..<8 {
        group.addTask {
          await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: body(index)) }.start()
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test("Eight threads with one cipher, and with keys that they use once, get what one thread gets")
  func threads() async {
    let cipher = LinkLayerCipher(sessionKey: Block(high: 1, low: 2), initializationVector: 3)
    /// Returns the results of one of the threads.
    @Sendable func results(_ index: Int) -> [[UInt8]] {
      (0..<200).map { number in
        let plaintext = [UInt8](repeating: UInt8(index), count: number)
        var sealed = [UInt8](repeating: 0, count: number + LinkLayerCipher.codeLength)
        var opened = [UInt8](repeating: 0xFF, count: number)
        let isGenuine = sealed.withUnsafeMutableBytes { sealed in
          plaintext.withUnsafeBytes {
            cipher.seal($0, header: 2, counter: UInt64(number), sender: .central, into: sealed)
          }
          return opened.withUnsafeMutableBytes {
            cipher.open(
              UnsafeRawBufferPointer(sealed), header: 2, counter: UInt64(number), sender: .central, into: $0)
          }
        }
        guard isGenuine, opened == plaintext else { return [] }
        let key = Block(high: UInt64(index), low: UInt64(number))
        return sealed + AES128.cmac(plaintext, key: key).bytes + AES128.encrypt(key, key: key).bytes
      }
    }
    let expected = Set((0..<8).map { results($0).flatMap(\.self) })
    #expect(expected.count == 8)
    let found = await onThreads { results($0).flatMap(\.self) }
    #expect(Set(found) == expected)
    #expect(!found.contains { $0.isEmpty })
  }

  @Test("Eight threads with one key pair agree with their peers")
  func keyPairs() async {
    let secrets = await onThreads { index -> Bool in
      guard let own = P256KeyPair(privateKey: [UInt8](repeating: UInt8(index + 1), count: 32)) else { return false }
      return own.sharedSecret(with: P256KeyPair.debug.publicKey) == P256KeyPair.debug.sharedSecret(with: own.publicKey)
    }
    #expect(secrets == [Bool](repeating: true, count: 8))
  }
}
