import BluetoothCrypto
import Foundation

/// The packets of a capture, for tests that inspect them.
struct AirCapture {
  struct Packet: Equatable {
    var nanoseconds: UInt64
    var interface: Int
    /// The octets, with the pseudo header of the interface's link type.
    var data: [UInt8]
    var comments: [String]
  }

  var packets: [Packet] = []

  init(path: String) throws { self.init(try Data(contentsOf: URL(fileURLWithPath: path))) }

  /// - Parameter wanted: The interface whose packets are kept; nil: all interfaces.
  init(_ file: Data, interface wanted: Int? = nil) {
    file.withUnsafeBytes { bytes in
      func long(_ offset: Int) -> Int { Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
      func short(_ offset: Int) -> Int { Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)) }
      func octets(_ offset: Int, _ count: Int) -> [UInt8] {
        Array(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
      }
      var block = 0
      while block < bytes.count {
        let end = block + long(block + 4)
        defer { block = end }
        // An Enhanced Packet Block.
        guard long(block) == 6, wanted == nil || wanted == long(block + 8) else { continue }
        let count = long(block + 20)
        var (option, comments) = (block + 28 + (count + 3) / 4 * 4, [String]())
        while option < end - 4, short(option) == 1 {
          let length = short(option + 2)
          comments.append(String(decoding: octets(option + 4, length), as: UTF8.self))
          option += 4 + (length + 3) / 4 * 4
        }
        packets.append(
          Packet(
            nanoseconds: UInt64(long(block + 12)) << 32 | UInt64(long(block + 16)), interface: long(block + 8),
            data: octets(block + 28, count), comments: comments))
      }
    }
  }

  /// The packets of the air, which is the first interface.
  var air: [Packet] { packets.filter { $0.interface == 0 } }
  var hci: [Packet] { packets.filter { $0.interface != 0 } }
}

extension AirCapture.Packet {
  // The flags of a packet on the air: LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR, without the coding indicator of LE Coded.
  var flags: Int { Int(data[8]) | Int(data[9]) << 8 }
  var isFromCentral: Bool { flags >> 7 & 0b111 == 2 }
  var isOfConnection: Bool { 2...3 ~= flags >> 7 & 0b111 }
  var accessAddress: UInt32 { (0..<4).reversed().reduce(0) { $0 << 8 | UInt32(data[10 + $1]) } }
  var header: UInt8 { data[14] }
  var payload: [UInt8] { Array(data[16..<data.count - 3]) }
}

/// Reassembles the L2CAP frames of a connection from the data PDUs of both sides.
struct FrameAssembly {
  private var parts: [[UInt8]] = [[], []]

  /// Returns the frame that this PDU completes, with its header. Each PDU must be passed once.
  mutating func add(_ payload: [UInt8], header: UInt8, isFromCentral: Bool) -> [UInt8]? {
    let side = isFromCentral ? 0 : 1
    // LLID: the start of a frame, or a continuation · Vol 6, Part B, 2.4.
    if header & 0b11 == 0b10 { parts[side].removeAll() }
    parts[side] += payload
    let frame = parts[side]
    return frame.count >= 4 && frame.count == 4 + Int(frame[0]) | Int(frame[1]) << 8 ? frame : nil
  }
}

/// Decrypts the packets of connections, one connection after the other, with the keys in the capture's key file.
struct AirDecryptor {
  /// The hexadecimal numbers of a session, by name.
  private typealias Session = [String: String]

  private struct Side {
    var sequenceNumber: UInt8?
    var counter: UInt64 = 0
    /// The plaintext of the last packet, which may be retransmitted.
    var plaintext: [UInt8]?
  }

  private let sessions: [Session]
  private var request: [UInt8] = []
  private var response: [UInt8] = []
  private var cipher: LinkLayerCipher?
  private var sides = [Side(), Side()]
  /// The access address of the connection.
  private var accessAddress: UInt32?
  private var assembly = FrameAssembly()
  /// The L2CAP frames that were encrypted, with their headers, of both sides in the order of their completion.
  private(set) var frames: [(isFromCentral: Bool, octets: [UInt8])] = []
  /// The number of sessions with decrypted packets.
  private(set) var begun = 0
  /// True if no unencrypted packet is expected.
  private var isEncrypted = false
  /// The number of packets whose decryption failed.
  private(set) var failed = 0

  init(keysPath: String) throws {
    let file = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: keysPath)))
    let entries = (file as? [String: [[String: Any]]])?["sessions"] ?? []
    sessions = entries.map { $0.compactMapValues { $0 as? String } }
  }

  /// The long term keys of the file.
  var longTermKeys: [Block] { sessions.compactMap { $0["LTK"].flatMap { UInt128($0, radix: 16) }.map(Block.init) } }

  /// Returns the payload of the next packet if it was encrypted.
  mutating func open(_ packet: AirCapture.Packet) -> [UInt8]? {
    if packet.accessAddress != accessAddress {
      accessAddress = packet.accessAddress
      sides = [Side(), Side()]
      isEncrypted = false
      cipher = nil
      assembly = FrameAssembly()
    }
    let index = packet.isFromCentral ? 0 : 1
    let isNew = sides[index].sequenceNumber != packet.header & 0x08
    sides[index].sequenceNumber = packet.header & 0x08
    guard isNew else { return sides[index].plaintext }
    sides[index].plaintext = packet.payload.isEmpty ? nil : decrypt(packet, from: index)
    if isEncrypted, !packet.payload.isEmpty, sides[index].plaintext == nil { failed += 1 }
    let plaintext = sides[index].plaintext
    if packet.header & 0b11 == 0b11 {
      note(plaintext ?? packet.payload)
    } else if let plaintext,
      let frame = assembly.add(plaintext, header: packet.header, isFromCentral: packet.isFromCentral)
    {
      frames.append((packet.isFromCentral, frame))
    }
    return plaintext
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

  /// Follows the LL Control PDUs of the encryption procedures · Vol 6, Part B, 2.4.2.
  private mutating func note(_ pdu: [UInt8]) {
    switch pdu.first {
    case 0x03: request = Array(pdu.dropFirst(11))
    case 0x04: response = Array(pdu.dropFirst())
    case 0x05:
      isEncrypted = true
      begin()
    // LL_PAUSE_ENC_RSP.
    case 0x0B: isEncrypted = false
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
