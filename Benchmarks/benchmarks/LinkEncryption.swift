import BluetoothCrypto
import BluetoothRadio
import BluetoothWire

/// The cost of encryption. Its effect on a link's throughput is among the measurements of `LinkLayer`.
enum LinkEncryption {
  static let all: [(name: String, measure: @Sendable (Int) throws -> Measurement)] = [
    ("AES-CCM of a short packet", { try cipher(length: 27, aim: "0 allocations", divisor: $0) }),
    ("AES-CCM of a long packet", { try cipher(length: LinkLayerCipher.maximumLength, aim: "—", divisor: $0) }),
    ("encrypted link", link),
  ]

  /// Encrypts and decrypts a packet as the link layer does.
  private static func cipher(length: Int, aim: String, divisor: Int) throws -> Measurement {
    let count = 100_000 / divisor
    let cipher = LinkLayerCipher(
      sessionKey: Block(0x9991_7CE3_0B52_36A4_B2C7_3D5E_6F80_1829), initializationVector: 0x24AB_DCBA_BEBA_AFDE)
    let plaintext = [UInt8](repeating: 0x5A, count: length)
    var sealed = [UInt8](repeating: 0, count: plaintext.count + LinkLayerCipher.codeLength)
    var opened = [UInt8](repeating: 0, count: plaintext.count)
    func seal(_ counter: Int) {
      plaintext.withUnsafeBytes { plaintext in
        sealed.withUnsafeMutableBytes {
          cipher.seal(plaintext, header: 2, counter: UInt64(counter), sender: .central, into: $0)
        }
      }
    }
    var forged = 0
    func open(_ counter: Int) {
      sealed.withUnsafeBytes { sealed in
        opened.withUnsafeMutableBytes {
          if !cipher.open(sealed, header: 2, counter: UInt64(counter), sender: .central, into: $0) { forged += 1 }
        }
      }
    }
    let sealing = bestTime(of: 5) { for counter in 0..<count { seal(counter) } }
    seal(0)
    let opening = bestTime(of: 5) { for _ in 0..<count { open(0) } }
    guard forged == 0, opened == plaintext else { throw DidNotHappen() }
    let allocated = allocations {
      for counter in 0..<count {
        seal(counter)
        open(counter)
      }
    }
    func microseconds(_ time: Double) -> String { (time / Double(count) * 1e6).rounded(to: 2) }
    let perPacket = allocated.map { (Double($0) / Double(2 * count)).rounded(to: 2) } ?? "not counted"
    return Measurement(
      name: "AES-CCM of a packet with \(length) octets",
      result: "\(microseconds(sealing)) µs to send, \(microseconds(opening)) µs to receive, \(perPacket) allocations",
      aim: aim, method: "\(count.grouped) packets, best of 5; MIC and counter mode")
  }

  /// Returns a link on LE 1M with an interval of 30 ms, whose peripheral sends packets of 251 octets at the maximum
  /// rate.
  static func streaming(isEncrypted: Bool) throws -> LinkPair {
    let link = try LinkPair(interval: 24)
    if isEncrypted { try link.encrypt() }
    link.with(link.peripheral) { $0.isStreaming = true }
    return link
  }

  /// Measures this link unencrypted and encrypted.
  @Sendable private static func link(divisor: Int) throws -> Measurement {
    let seconds = max(1, 60 / Int64(divisor))
    func speed(isEncrypted: Bool) throws -> Double {
      let link = try streaming(isEncrypted: isEncrypted)
      link.run(for: .seconds(1))
      return Double(seconds) / bestTime(of: 3) { link.run(for: .seconds(seconds)) }
    }
    let plain = try speed(isEncrypted: false)
    let encrypted = try speed(isEncrypted: true)
    return Measurement(
      name: "radio seconds per second, a link full of data",
      result: "\(plain.rounded(to: 0)) in clear, \(encrypted.rounded(to: 0)) encrypted", aim: "—",
      method: "\(seconds) s of radio time at 1M and 30 ms, packets of 251 octets to the central, best of 3")
  }
}
