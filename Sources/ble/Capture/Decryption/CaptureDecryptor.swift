import BluetoothCrypto
import BluetoothDissection
import BluetoothWire

/// Decrypts the packets of encrypted links in a capture of packets on the air · Vol 6, Part B, 5.1.3; Part E.
///
/// LL_ENC_REQ and LL_ENC_RSP tell the parts of a session's key and of its vector. No packet tells the long term key, so
/// each known one is tried: the MIC of the first encrypted packet proves the right one.
struct CaptureDecryptor {
  /// The packets of one sender in a session.
  private struct Side {
    /// packetCounter of the next packet.
    var counter: UInt64 = 0
    /// The last encrypted packet, which a retransmission repeats.
    var last: (header: UInt8, sealed: ByteSlice, plaintext: [UInt8])?
  }

  private struct Session {
    let parts: (central: LL.SessionPart, peripheral: LL.SessionPart)
    /// The ciphers of the keys that are possible; one if `isProven`.
    var ciphers: [LinkLayerCipher]
    var isProven = false
    var sides: [LinkLayerCipher.Sender: Side] = [:]
    /// The number of packets that no cipher has decrypted.
    var failures = 0
  }

  private struct Link {
    var lifetime: LinkLifetime
    /// SKDm and IVm of the last LL_ENC_REQ.
    var central: LL.SessionPart?
    var session: Session?
    /// True if all following packets with a payload are encrypted.
    var isEncrypted = false
  }

  /// The results so far.
  struct Counts: Hashable, Sendable {
    /// The packets that were decrypted.
    var decrypted = 0
    /// The encrypted packets of sessions whose key is known that could not be decrypted.
    var failed = 0
    /// The encrypted sessions.
    var sessions = 0
    /// The encrypted sessions whose key is known.
    var proven = 0
    /// The packets that the capture shows in plain text already.
    var plain = 0
  }

  private let keys: [Block]
  private var links: [Dissector.LinkKey: Link] = [:]
  private(set) var counts = Counts()

  /// The most packets of a sender in succession that a capture can lack without the rest staying encrypted.
  private static let maximumGap: UInt64 = 64
  /// The number of packets after which a session is given up if no key has decrypted one.
  private static let maximumFailures = 16
  /// The bits of a header that a retransmission repeats: LLID and SN.
  private static let repeatedHeaderBits: UInt8 = 0x0B

  /// - Parameter keys: the long term keys to try.
  init(keys: [Block]) {
    var seen = Set<Block>()
    self.keys = keys.filter { seen.insert($0).inserted }
  }

  /// Returns the next packet of the capture in plain text; the same packet if it was not sent encrypted, or can't be
  /// decrypted.
  mutating func decrypt(_ packet: CapturedPacket) -> CapturedPacket {
    let packet = packet.withPseudoHeader
    guard packet.interface.link == .linkLayerWithHeader, packet.originalLength <= packet.octets.count,
      case .air(let air) = CapturedContent(packet), !air.hasWrongCRC, air.isIntact
    else { return packet }
    if air.isAdvertising {
      if let pdu = try? LL.AdvertisingPDU(header: air.header, payload: air.payload),
        case .connectInd(_, _, let data, _) = pdu
      {
        let key = Dissector.LinkKey(interface: packet.interface.index, number: data.accessAddress)
        links[key] = Link(lifetime: LinkLifetime(timeout: data.timeout))
        _ = links[key]?.lifetime.isOver(before: air, at: packet.time)
      }
      return packet
    }
    let key = Dissector.LinkKey(interface: packet.interface.index, number: air.accessAddress)
    var link = links[key] ?? Link(lifetime: LinkLifetime())
    defer { links[key] = link }
    if link.lifetime.isOver(before: air, at: packet.time) {
      link = Link(lifetime: LinkLifetime())
      _ = link.lifetime.isOver(before: air, at: packet.time)
    }
    guard !air.payload.isEmpty else { return packet }
    if air.isDecrypted { counts.plain += 1 }
    let plaintext = air.isDecrypted ? nil : open(air, &link)
    if LL.DataHeader(rawValue: air.header).llid == .control {
      look(at: plaintext.map { ByteSlice($0) } ?? air.payload, air, &link)
    }
    return plaintext.map { packet.decrypted($0, air) } ?? packet
  }

  /// Returns the decrypted payload of a packet; nil if it is not encrypted, or can't be decrypted.
  private mutating func open(_ air: CapturedAirPacket, _ link: inout Link) -> [UInt8]? {
    guard var session = link.session, air.payload.count > LinkLayerCipher.codeLength else { return nil }
    defer { link.session = session }
    let header = UInt8(truncatingIfNeeded: air.header)
    let senders: [LinkLayerCipher.Sender] =
      switch air.direction {
      case .toPeripheral?: [.central]
      case .toCentral?: [.peripheral]
      case nil: [.central, .peripheral]
      }
    for sender in senders {
      guard let last = session.sides[sender]?.last,
        (last.header ^ header) & Self.repeatedHeaderBits == 0, last.sealed == air.payload
      else { continue }
      counts.decrypted += 1
      return last.plaintext
    }
    for sender in senders {
      var side = session.sides[sender] ?? Side()
      for gap in 0...Self.maximumGap {
        for cipher in session.ciphers {
          let counter = side.counter + gap
          guard let plaintext = cipher.open(air.payload, header: header, counter: counter, sender: sender) else {
            continue
          }
          side.counter = counter + 1
          side.last = (header, air.payload, plaintext)
          session.sides[sender] = side
          session.ciphers = [cipher]
          if !link.isEncrypted { begin(&link) }
          if !session.isProven { counts.proven += 1 }
          session.isProven = true
          counts.decrypted += 1
          return plaintext
        }
      }
    }
    if link.isEncrypted {
      session.failures += 1
      if session.isProven { counts.failed += 1 }
      if !session.isProven, session.failures >= Self.maximumFailures { session.ciphers = [] }
    }
    return nil
  }

  private mutating func begin(_ link: inout Link) {
    link.isEncrypted = true
    counts.sessions += 1
  }

  /// Follows the procedures that begin and end encryption · Vol 6, Part B, 5.1.3.
  private mutating func look(at payload: ByteSlice, _ air: CapturedAirPacket, _ link: inout Link) {
    guard let pdu = try? LL.ControlPDU(payload: payload) else { return }
    link.lifetime.follow(pdu, in: air)
    switch pdu {
    case .encReq(_, _, let part): link.central = part
    case .encRsp(let peripheral):
      guard let central = link.central else { return }
      // A retransmission begins no session.
      if let parts = link.session?.parts, parts == (central, peripheral) { return }
      let ciphers = keys.map { key in
        LinkLayerCipher(
          longTermKey: key, diversifier: Block(high: peripheral.diversifier, low: central.diversifier),
          initializationVector: UInt64(peripheral.initializationVector) << 32 | UInt64(central.initializationVector))
      }
      link.session = Session(parts: (central, peripheral), ciphers: ciphers)
      link.isEncrypted = false
    case .startEncReq: if !link.isEncrypted { begin(&link) }
    case .pauseEncRsp: link.isEncrypted = false
    default: break
    }
  }
}

extension LinkLayerCipher {
  /// Returns the decrypted payload; nil if the MIC is wrong.
  fileprivate func open(_ sealed: ByteSlice, header: UInt8, counter: UInt64, sender: Sender) -> [UInt8]? {
    let count = sealed.count - Self.codeLength
    guard 0...Self.maximumLength ~= count else { return nil }
    var plaintext = [UInt8](repeating: 0, count: count)
    let isGenuine = sealed.withUnsafeBytes { sealed in
      plaintext.withUnsafeMutableBytes {
        open(sealed, header: header, counter: counter, sender: sender, into: $0)
      }
    }
    return isGenuine ? plaintext : nil
  }
}

extension CapturedPacket {
  /// The flags Decrypted, MIC Checked and MIC Valid of LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR.
  private static let decryptedFlags: UInt16 = 0x0008 | 0x1000 | 0x2000
  private static let pseudoHeaderLength = 10
  private static let flagsOffset = 8

  /// The packet with the pseudo-header of LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR in place of the header of the nRF Sniffer;
  /// the same packet if it has no such header.
  fileprivate var withPseudoHeader: CapturedPacket {
    guard interface.link == .nordicSniffer, case .air(let air) = CapturedContent(self), let channel = air.channel,
      let power = air.power
    else { return self }
    // Dewhitened, signal power valid, and the results of the sniffer.
    var flags: UInt16 = 0x0003 | (air.isChecked ? 0x0400 : 0) | (air.hasWrongCRC ? 0 : 0x0800)
    if let phy = air.phy { flags |= UInt16(phy.rawValue - 1) << 14 }
    if air.isDecrypted { flags |= Self.decryptedFlags }
    switch air.direction {
    case .toPeripheral?: flags |= 2 << 7
    case .toCentral?: flags |= 3 << 7
    case nil: if air.isAdvertising, air.accessAddress != LL.advertisingAccessAddress { flags |= 1 << 7 }
    }
    let header: [UInt8] = [
      ChannelIndex(channel).radioChannel.number, UInt8(bitPattern: Int8(clamping: power)), 0, 0, 0, 0, 0, 0,
      UInt8(truncatingIfNeeded: flags), UInt8(truncatingIfNeeded: flags >> 8),
    ]
    let octets = header + air.octets
    return CapturedPacket(
      number: number, time: time,
      interface: CaptureInterface(index: interface.index, name: interface.name, link: .linkLayerWithHeader),
      octets: octets, originalLength: octets.count + max(0, originalLength - self.octets.count), comments: comments)
  }

  /// Returns the packet with this payload in place of the encrypted one, with the CRC that it would have had, and with
  /// the flags of a decrypted packet.
  fileprivate func decrypted(_ payload: [UInt8], _ air: CapturedAirPacket) -> CapturedPacket {
    let start = Self.pseudoHeaderLength + (air.phy == .leCoded ? 5 : 4)
    let header = octets[start]
    let pdu = [header, UInt8(payload.count)] + payload
    var crc = LL.CRC24(initial: LL.CRC24.initialValue(of: octets[start..<octets.count - 3], crc: air.crc))
    for octet in pdu { crc.update(octet) }
    var octets = Array(self.octets[..<start])
    for index in 0..<2 {
      octets[Self.flagsOffset + index] |= UInt8(truncatingIfNeeded: Self.decryptedFlags >> (8 * UInt16(index)))
    }
    octets += pdu + (0..<3).map { UInt8(truncatingIfNeeded: crc.value >> (8 * UInt32($0))) }
    var packet = CapturedPacket(
      number: number, time: time, interface: interface, octets: octets, originalLength: octets.count)
    packet.comments = comments.filter { $0 != "encrypted" }
    return packet
  }
}

extension LL.CRC24 {
  /// Returns CRCInit of a packet, 24 bits: the CRC runs backwards from its value after the PDU · Vol 6, Part B, 3.1.1.
  ///
  /// - Parameter crc: the first of the three octets in the low byte.
  static func initialValue(of pdu: some BidirectionalCollection<UInt8>, crc: UInt32) -> UInt32 {
    // The polynomial in the order in which a register sends its bits, without x²⁴.
    let polynomial: UInt32 = 0xDA_6000
    var register = crc
    for octet in pdu.reversed() {
      for _ in 0..<8 {
        register = register & 0x80_0000 != 0 ? (register ^ polynomial) << 1 | 1 : register << 1
        register &= 0xFF_FFFF
      }
      register ^= UInt32(octet)
    }
    return (0..<24).reduce(0) { $0 << 1 | register >> UInt32($1) & 1 }
  }
}
