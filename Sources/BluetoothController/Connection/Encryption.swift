import BluetoothCrypto
import BluetoothWire

/// Encryption of a connection, and where its procedures are · Vol 6, Part B, 5.1.3.
struct Encryption {
  /// What the host of a central asks for.
  struct Request {
    /// Rand and EDIV, by which the other host finds the key.
    var random: UInt64
    var encryptedDiversifier: UInt16
    var longTermKey: Secret<UInt128>
  }

  /// What this device waits for.
  enum Phase {
    /// Nothing: no procedure is going.
    case none

    /// A central, after its LL_PAUSE_ENC_REQ: LL_PAUSE_ENC_RSP.
    case pauseResponse(Request)
    /// A central, after its LL_ENC_REQ: LL_ENC_RSP.
    case response(Request, LL.SessionPart)
    /// A central, after LL_ENC_RSP: LL_START_ENC_REQ.
    case startRequest
    /// A central, after its encrypted LL_START_ENC_RSP: the peripheral's.
    case startResponse

    /// A peripheral, after its LL_PAUSE_ENC_RSP: the central's, which is not encrypted.
    case pauseConfirmation
    /// A peripheral, paused: LL_ENC_REQ.
    case request
    /// A peripheral, after its LL_ENC_RSP: the host's answer to the Long Term Key Request.
    case longTermKey(central: LL.SessionPart, peripheral: LL.SessionPart)
    /// A peripheral, after its LL_START_ENC_REQ: LL_START_ENC_RSP, which is encrypted.
    case startConfirmation
  }

  /// What to do with a PDU that is no part of the procedure that is going.
  enum Treatment {
    case take
    /// The peer may have sent it before it knew; a request is looked at when the procedure is over.
    case keep
    /// Nobody who keeps to the specification sends it now · 5.1.3.1, 5.1.3.2: somebody tries to have data pass in clear.
    case endConnection
  }

  var phase = Phase.none
  /// Whether the link was encrypted before, so that the host hears of a new key instead of encryption.
  var isRefresh = false
  var session: EncryptionSession?
  /// When a peripheral gives up waiting; a central's procedure has its own deadline · 5.2.
  var deadline: Instant?
  var payloadTimer = AuthenticatedPayloadTimer()
  private var random: SplitGenerator

  init(random: SplitGenerator) { self.random = random }

  var isIdle: Bool { if case .none = phase { true } else { false } }
  /// Whether what the host sends is encrypted, and what it gets was.
  var isOn: Bool { session != nil && isIdle }

  /// How much longer than its data a PDU of the peer's may be.
  var receivedCodeLength: Int { session?.decrypts == true ? LinkLayerCipher.codeLength : 0 }

  var others: Treatment {
    switch phase {
    case .none: .take
    case .pauseResponse: .keep
    case .response: isRefresh ? .endConnection : .keep
    case .startRequest, .startResponse, .pauseConfirmation, .request, .longTermKey, .startConfirmation: .endConnection
    }
  }

  /// This device's part of a new session.
  mutating func newPart() -> LL.SessionPart {
    LL.SessionPart(
      diversifier: random.next(), initializationVector: UInt32(truncatingIfNeeded: random.next()))
  }

  /// The payload of a new PDU in clear; nil: it is not genuine.
  mutating func plaintext(of packet: AirPacket, at now: Instant) -> ByteSlice? {
    guard session?.decrypts == true, !packet.payload.isEmpty else { return packet.payload }
    guard let payload = session?.open(packet.payload, header: UInt8(truncatingIfNeeded: packet.header)) else {
      return nil
    }
    payloadTimer.restart(at: now)
    return payload
  }
}

extension LL.ControlOpcode {
  /// Whether it may be sent while encryption is being started or paused · 5.1.3.1, 5.1.3.2.
  var belongsToEncryption: Bool {
    switch self {
    case .encReq, .encRsp, .startEncReq, .startEncRsp, .pauseEncReq, .pauseEncRsp, .rejectInd, .rejectExtInd,
      .terminateInd:
      true
    default: false
    }
  }
}
