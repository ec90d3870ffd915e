import BluetoothCrypto
import BluetoothWire

/// An observer that has heard every packet of a connection and has no key: the values sent in clear, and the encrypted
/// packets.
struct PassiveObserver {
  /// A packet after the peripheral's request to start encryption.
  struct Sealed {
    var isFromCentral: Bool
    var header: UInt8
    var payload: [UInt8]
    /// The number of its sender's earlier packets in the session.
    var counter: UInt64
  }

  /// A session that begins with LL_START_ENC_REQ.
  struct Session {
    /// SKDs and SKDm, IVs and IVm · Vol 6, Part B, 5.1.3.1.
    var diversifier: Block
    var initializationVector: UInt64
    var packets: [Sealed] = []

    /// Decrypts the packets with `key`. Returns nil for each packet whose MIC does not match.
    func open(with key: Block) -> [[UInt8]?] {
      let cipher = LinkLayerCipher(
        longTermKey: key, diversifier: diversifier, initializationVector: initializationVector)
      return packets.map { packet in
        var plaintext = [UInt8](repeating: 0, count: max(0, packet.payload.count - LinkLayerCipher.codeLength))
        let isGenuine = packet.payload.withUnsafeBytes { sealed in
          plaintext.withUnsafeMutableBytes {
            cipher.open(
              sealed, header: packet.header, counter: packet.counter,
              sender: packet.isFromCentral ? .central : .peripheral, into: $0)
          }
        }
        return isGenuine ? plaintext : nil
      }
    }
  }

  /// The central's address in CONNECT_IND.
  private(set) var central: Toolbox.Address?
  private(set) var peripheral: Toolbox.Address?
  /// The L2CAP frames in clear, with their headers, of both sides in the order of their completion.
  private(set) var frames: [(isFromCentral: Bool, octets: [UInt8])] = []
  private(set) var sessions: [Session] = []

  private var sequenceNumbers: [UInt8?] = [nil, nil]
  private var assembly = FrameAssembly()
  private var counters: [UInt64] = [0, 0]
  private var isEncrypted = false
  private var request: [UInt8] = []
  private var response: [UInt8] = []

  init(_ air: [AirCapture.Packet]) {
    for packet in air {
      if packet.isOfConnection {
        hear(packet)
      } else if packet.header & 0x0F == 0x05 {
        meet(packet)
      }
    }
  }

  /// Reads a CONNECT_IND · Vol 6, Part B, 2.3.3.1.
  private mutating func meet(_ packet: AirCapture.Packet) {
    func address(_ offset: Int) -> UInt64 { Self.number(packet.payload[offset..<offset + 6]) }
    central = Toolbox.Address(isRandom: packet.header & 0x40 != 0, value: address(0))
    peripheral = Toolbox.Address(isRandom: packet.header & 0x80 != 0, value: address(6))
    (sequenceNumbers, assembly, isEncrypted) = ([nil, nil], FrameAssembly(), false)
  }

  private mutating func hear(_ packet: AirCapture.Packet) {
    let (side, header, payload) = (packet.isFromCentral ? 0 : 1, packet.header, packet.payload)
    let isNew = sequenceNumbers[side] != header & 0x08
    sequenceNumbers[side] = header & 0x08
    guard isNew, !payload.isEmpty else { return }
    if isEncrypted {
      sessions[sessions.count - 1].packets.append(
        Sealed(isFromCentral: packet.isFromCentral, header: header, payload: payload, counter: counters[side]))
      counters[side] += 1
    } else if header & 0b11 == 0b11 {
      control(payload)
    } else if let frame = assembly.add(payload, header: header, isFromCentral: packet.isFromCentral) {
      frames.append((packet.isFromCentral, frame))
    }
  }

  /// Follows LL_ENC_REQ, LL_ENC_RSP and LL_START_ENC_REQ · 2.4.2.
  private mutating func control(_ pdu: [UInt8]) {
    switch pdu.first {
    case 0x03: request = Array(pdu.dropFirst(11))
    case 0x04: response = Array(pdu.dropFirst())
    case 0x05 where request.count == 12 && response.count == 12:
      isEncrypted = true
      counters = [0, 0]
      sessions.append(
        Session(
          diversifier: Block(high: Self.number(response.prefix(8)), low: Self.number(request.prefix(8))),
          initializationVector: Self.number(response.suffix(4)) << 32 | Self.number(request.suffix(4))))
    default: break
    }
  }

  /// Returns the number in `octets`, least significant octet first.
  private static func number(_ octets: some BidirectionalCollection<UInt8>) -> UInt64 {
    octets.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Returns the Security Manager PDUs with this code that one side has sent in clear, without their code.
  func security(_ code: SMP.Code, fromCentral: Bool) -> [[UInt8]] {
    frames.compactMap { frame in
      guard frame.isFromCentral == fromCentral, frame.octets[2] == 0x06, frame.octets.count > 4,
        frame.octets[4] == code.rawValue
      else { return nil }
      return Array(frame.octets.dropFirst(5))
    }
  }

  // MARK: LE legacy pairing

  /// Returns the Short Term Key if the Temporary Key is in the given sequence: an observer can try each on the values
  /// sent in clear · Vol 3, Part H, 2.3.5.5.
  func shortTermKey(trying temporaryKeys: some Sequence<UInt32>) -> (key: Block, temporaryKey: UInt32)? {
    guard let central, let peripheral,
      let request = security(.pairingRequest, fromCentral: true).first,
      let response = security(.pairingResponse, fromCentral: false).first,
      let confirm = security(.pairingConfirm, fromCentral: true).first.flatMap(Block.init(octetsOnAir:)),
      let initiator = security(.pairingRandom, fromCentral: true).first.flatMap(Block.init(octetsOnAir:)),
      let responder = security(.pairingRandom, fromCentral: false).first.flatMap(Block.init(octetsOnAir:))
    else { return nil }
    let (preq, pres) = (Self.number([0x01] + request), Self.number([0x02] + response))
    for number in temporaryKeys {
      let key = Block(high: 0, low: UInt64(number))
      let value = Toolbox.c1(
        temporaryKey: key, random: initiator, request: preq, response: pres, initiator: central,
        responder: peripheral)
      if value == confirm {
        return (Toolbox.s1(temporaryKey: key, responder: responder, initiator: initiator), number)
      }
    }
    return nil
  }

  // MARK: LE Secure Connections

  /// The passkey: each of the twenty rounds reveals one bit of it after the round · Vol 3, Part H, 2.3.5.6.3.
  var passkeyOfSecureConnections: UInt32? {
    guard let own = security(.pairingPublicKey, fromCentral: true).first,
      let peer = security(.pairingPublicKey, fromCentral: false).first
    else { return nil }
    let confirms = security(.pairingConfirm, fromCentral: true).compactMap(Block.init(octetsOnAir:))
    let nonces = security(.pairingRandom, fromCentral: true).compactMap(Block.init(octetsOnAir:))
    guard confirms.count == 20, nonces.count == 20 else { return nil }
    var passkey: UInt32 = 0
    for round in 0..<20 {
      let bit = ([0, 1] as [UInt8]).first { bit in
        let value = Toolbox.f4(
          u: own.prefix(32).reversed(), v: peer.prefix(32).reversed(), x: nonces[round], z: 0x80 | bit)
        return value == confirms[round]
      }
      guard let bit else { return nil }
      passkey |= UInt32(bit) << round
    }
    return passkey
  }
}

extension Block {
  /// Creates a block from 16 octets, least significant first.
  init?(octetsOnAir octets: [UInt8]) { self.init(octets.reversed()) }
}
