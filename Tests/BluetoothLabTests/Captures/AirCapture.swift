import BluetoothCrypto
import Foundation

/// The packets of a capture, for tests that look into them.
struct AirCapture {
  struct Packet: Equatable {
    var nanoseconds: UInt64
    var interface: Int
    /// With the pseudo header of its kind of interface.
    var data: [UInt8]
    var comments: [String]
  }

  var packets: [Packet] = []

  init(path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    func number(_ offset: Int, _ octets: Int = 4) -> Int {
      (0..<octets).reversed().reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
    }
    var block = 0
    while block < bytes.count {
      let end = block + number(block + 4)
      defer { block = end }
      // An Enhanced Packet Block.
      guard number(block) == 6 else { continue }
      let count = number(block + 20)
      var (option, comments) = (block + 28 + (count + 3) / 4 * 4, [String]())
      while option < end - 4, number(option, 2) == 1 {
        let length = number(option + 2, 2)
        comments.append(String(decoding: bytes[option + 4..<option + 4 + length], as: UTF8.self))
        option += 4 + (length + 3) / 4 * 4
      }
      packets.append(
        Packet(
          nanoseconds: UInt64(number(block + 12)) << 32 | UInt64(number(block + 16)), interface: number(block + 8),
          data: Array(bytes[block + 28..<block + 28 + count]), comments: comments))
    }
  }

  /// The interface of the air is the first.
  var air: [Packet] { packets.filter { $0.interface == 0 } }
  var hci: [Packet] { packets.filter { $0.interface != 0 } }
}

extension AirCapture.Packet {
  // Of the air: LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR, without the coding indicator of LE Coded.
  var flags: Int { Int(data[8]) | Int(data[9]) << 8 }
  var isFromCentral: Bool { flags >> 7 & 0b111 == 2 }
  var isOfConnection: Bool { 2...3 ~= flags >> 7 & 0b111 }
  var accessAddress: UInt32 { (0..<4).reversed().reduce(0) { $0 << 8 | UInt32(data[10 + $1]) } }
  var header: UInt8 { data[14] }
  var payload: [UInt8] { Array(data[16..<data.count - 3]) }
}

/// Decrypts the packets of one connection with the keys that a capture has written beside it.
struct AirDecryptor {
  /// Its numbers in hexadecimal, by name.
  private typealias Session = [String: String]

  private struct Side {
    var sequenceNumber: UInt8?
    var counter: UInt64 = 0
    /// Of the last packet, which may come again.
    var plaintext: [UInt8]?
  }

  private let sessions: [Session]
  private var request: [UInt8] = []
  private var response: [UInt8] = []
  private var cipher: LinkLayerCipher?
  private var sides = [Side(), Side()]
  /// How many sessions packets were decrypted of.
  private(set) var begun = 0

  init(keysPath: String) throws {
    let file = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: keysPath)))
    let entries = (file as? [String: [[String: Any]]])?["sessions"] ?? []
    sessions = entries.map { $0.compactMapValues { $0 as? String } }
  }

  /// The payload of the next packet, if it was encrypted.
  mutating func open(_ packet: AirCapture.Packet) -> [UInt8]? {
    let index = packet.isFromCentral ? 0 : 1
    let isNew = sides[index].sequenceNumber != packet.header & 0x08
    sides[index].sequenceNumber = packet.header & 0x08
    guard isNew else { return sides[index].plaintext }
    sides[index].plaintext = packet.payload.isEmpty ? nil : decrypt(packet, from: index)
    if packet.header & 0b11 == 0b11 { note(sides[index].plaintext ?? packet.payload) }
    return sides[index].plaintext
  }

  private mutating func decrypt(_ packet: AirCapture.Packet, from index: Int) -> [UInt8]? {
    guard let cipher, packet.payload.count > LinkLayerCipher.codeLength else { return nil }
    var plaintext = [UInt8](repeating: 0, count: packet.payload.count - LinkLayerCipher.codeLength)
    let isGenuine = packet.payload.withUnsafeBytes { sealed in
      plaintext.withUnsafeMutableBytes {
        cipher.open(
          sealed, header: packet.header, counter: sides[index].counter, sender: index == 0 ? .central : .peripheral,
          into: $0)
      }
    }
    guard isGenuine else { return nil }
    sides[index].counter += 1
    return plaintext
  }

  /// Looks at an LL Control PDU · Vol 6, Part B, 2.4.2.
  private mutating func note(_ pdu: [UInt8]) {
    switch pdu.first {
    case 0x03: request = Array(pdu.dropFirst(11))
    case 0x04: response = Array(pdu.dropFirst())
    case 0x05: begin()
    default: break
    }
  }

  private mutating func begin() {
    func text(_ octets: some Sequence<UInt8>) -> String {
      octets.reversed().map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }
    let session = sessions.first {
      $0["SKDm"] == text(request.prefix(8)) && $0["IVm"] == text(request.suffix(4))
        && $0["SKDs"] == text(response.prefix(8)) && $0["IVs"] == text(response.suffix(4))
    }
    func number<T: FixedWidthInteger>(_ name: String) -> T? { session?[name].flatMap { T($0, radix: 16) } }
    guard let key: UInt128 = number("LTK"), let skdm: UInt64 = number("SKDm"), let skds: UInt64 = number("SKDs"),
      let ivm: UInt64 = number("IVm"), let ivs: UInt64 = number("IVs")
    else { return }
    cipher = LinkLayerCipher(
      longTermKey: Block(key), diversifier: Block(high: skds, low: skdm), initializationVector: ivs << 32 | ivm)
    sides[0].counter = 0
    sides[1].counter = 0
    begun += 1
  }
}
