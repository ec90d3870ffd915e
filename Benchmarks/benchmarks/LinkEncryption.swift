import BluetoothCrypto
import BluetoothRadio
import BluetoothWire

/// The cost of encryption. Its effect on a link's throughput is among the measurements of `LinkLayer`.
enum LinkEncryption {
  static let all: [(name: String, measure: @Sendable (Int) throws -> Measurement)] = [
    ("AES-CCM of a short packet", { try cipher(length: 27, divisor: $0) }),
    ("AES-CCM of a long packet", { try cipher(length: LinkLayerCipher.maximumLength, divisor: $0) }),
    ("encrypted link", link),
  ]

  /// A packet that is encrypted and decrypted as the link layer does.
  private struct CipheredPacket {
    private let cipher = LinkLayerCipher(
      sessionKey: Block(0x9991_7CE3_0B52_36A4_B2C7_3D5E_6F80_1829), initializationVector: 0x24AB_DCBA_BEBA_AFDE)
    private let plaintext: [UInt8]
    private var sealed: [UInt8]
    private var opened: [UInt8]
    private var forged = 0
    /// True if each decryption gave the plaintext.
    var isGenuine: Bool { forged == 0 && opened == plaintext }

    init(length: Int) {
      plaintext = [UInt8](repeating: 0x5A, count: length)
      sealed = [UInt8](repeating: 0, count: length + LinkLayerCipher.codeLength)
      opened = [UInt8](repeating: 0, count: length)
    }

    mutating func seal(_ counter: Int) {
      plaintext.withUnsafeBytes { plaintext in
        sealed.withUnsafeMutableBytes {
          cipher.seal(plaintext, header: 2, counter: UInt64(counter), sender: .central, into: $0)
        }
      }
    }

    mutating func open(_ counter: Int) {
      let isRight = sealed.withUnsafeBytes { sealed in
        opened.withUnsafeMutableBytes {
          cipher.open(sealed, header: 2, counter: UInt64(counter), sender: .central, into: $0)
        }
      }
      if !isRight { forged += 1 }
    }
  }

  private static func cipher(length: Int, divisor: Int) throws -> Measurement {
    let count = 100_000 / divisor
    var packet = CipheredPacket(length: length)
    let sealing = bestTime(of: 5) { for counter in 0..<count { packet.seal(counter) } }
    packet.seal(0)
    let opening = bestTime(of: 5) { for _ in 0..<count { packet.open(0) } }
    guard packet.isGenuine else { throw DidNotHappen() }
    let perPacket = try allocationsPerPacket(length: length, count).map { ($0 / 2).rounded(to: 2) } ?? "not counted"
    func microseconds(_ time: Double) -> String { (time / Double(count) * 1e6).rounded(to: 2) }
    return Measurement(
      name: "AES-CCM of a packet with \(length) octets",
      result: "\(microseconds(sealing)) µs to send, \(microseconds(opening)) µs to receive, \(perPacket) allocations",
      aim: "0 allocations", method: "\(count.grouped) packets, best of 5; MIC and counter mode")
  }

  /// Returns the heap allocations for the encryption and the decryption of a packet together; nil if they cannot be
  /// counted.
  static func allocationsPerPacket(length: Int, _ count: Int) throws -> Double? {
    var packet = CipheredPacket(length: length)
    packet.seal(0)
    packet.open(0)
    let allocated = allocations {
      for counter in 1...count {
        packet.seal(counter)
        packet.open(counter)
      }
    }
    guard packet.isGenuine else { throw DidNotHappen() }
    return allocated.map { Double($0) / Double(count) }
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
