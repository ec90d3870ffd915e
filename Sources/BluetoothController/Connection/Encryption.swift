// Design: encryption of a connection
//
// A data PDU is encrypted when it is first taken from the queue. The ciphertext waits for the acknowledgement, so a
// retransmission is the same octet for octet. The peripheral starts decrypting when its LL_START_ENC_REQ is
// acknowledged, and stops when its LL_PAUSE_ENC_RSP is acknowledged: in both cases before it processes the payload of
// the acknowledging packet. During these procedures `LinkARQ` holds back data and other LL Control PDUs, and requests
// of the peer that crossed LL_ENC_REQ wait for the end of the procedure. Any other PDU that is not part of the
// procedure then ends the connection with 0x3D.

import BluetoothCrypto
import BluetoothWire

/// The encryption of a connection and the state of its procedures · Vol 6, Part B, 5.1.3.
struct Encryption {
  /// The request of a central's host.
  struct Request {
    /// Rand and EDIV, which identify the key for the peer's host.
    var random: UInt64
    var encryptedDiversifier: UInt16
    var longTermKey: Secret<UInt128>
  }

  /// The PDU or event for which this device waits.
  enum Phase {
    /// None: no procedure is in progress.
    case none

    /// A central, after its LL_PAUSE_ENC_REQ: LL_PAUSE_ENC_RSP.
    case pauseResponse(Request)
    /// A central, after its LL_ENC_REQ: LL_ENC_RSP.
    case response(Request, LL.SessionPart)
    /// A central, after LL_ENC_RSP: LL_START_ENC_REQ.
    case startRequest
    /// A central, after its encrypted LL_START_ENC_RSP: the peripheral's LL_START_ENC_RSP.
    case startResponse

    /// A peripheral, after its LL_PAUSE_ENC_RSP: the central's LL_PAUSE_ENC_RSP, which is not encrypted.
    case pauseConfirmation
    /// A peripheral, paused: LL_ENC_REQ.
    case request
    /// A peripheral, after its LL_ENC_RSP: the host's answer to the Long Term Key Request.
    case longTermKey(central: LL.SessionPart, peripheral: LL.SessionPart)
    /// A peripheral, after its LL_START_ENC_REQ: LL_START_ENC_RSP, which is encrypted.
    case startConfirmation
  }

  /// The treatment of a PDU that does not belong to the procedure in progress.
  enum Treatment {
    case take
    /// The peer may have sent the PDU before it knew of the procedure; a request is processed when the procedure has
    /// ended.
    case keep
    /// The PDU violates the specification · 5.1.3.1, 5.1.3.2, and may be an attempt to inject unencrypted data.
    case endConnection
  }

  var phase = Phase.none
  /// True if the link was encrypted before, so that the host gets Encryption Key Refresh Complete instead of
  /// Encryption Change.
  var isRefresh = false
  var session: EncryptionSession?
  /// The time at which a peripheral stops waiting; a central's procedure has a separate deadline · 5.2.
  var deadline: Instant?
  var payloadTimer = AuthenticatedPayloadTimer()
  private var random: RandomStream

  init(random: RandomStream) { self.random = random }

  var isIdle: Bool { if case .none = phase { true } else { false } }
  /// True if data from and to the host are encrypted on the air.
  var isOn: Bool { session != nil && isIdle }

  /// The length of the MIC in the peer's PDUs, octets.
  var receivedCodeLength: Int { session?.decrypts == true ? LinkLayerCipher.codeLength : 0 }

  var others: Treatment {
    switch phase {
    case .none: .take
    case .pauseResponse: .keep
    case .response: isRefresh ? .endConnection : .keep
    case .startRequest, .startResponse, .pauseConfirmation, .request, .longTermKey, .startConfirmation: .endConnection
    }
  }

  /// Generates this device's part of a new session.
  mutating func newPart() -> LL.SessionPart {
    LL.SessionPart(
      diversifier: random.next(), initializationVector: UInt32(truncatingIfNeeded: random.next()))
  }

  /// True if data may arrive now; otherwise the connection ends.
  var admitsData: Bool { if case .endConnection = others { false } else { true } }

  /// Begins the request of a central's host and returns LL_ENC_REQ.
  mutating func begin(_ request: Request) -> LL.ControlPDU {
    let part = newPart()
    phase = .response(request, part)
    return .encReq(random: request.random, encryptedDiversifier: request.encryptedDiversifier, part)
  }

  /// Returns the error with which the peripheral rejects the request; nil: the PDU is not a rejection. A paused link
  /// can't continue without encryption, so a rejection is then ignored · 5.1.3.1.
  func refusal(in pdu: LL.ControlPDU) -> HCI.ErrorCode? {
    let request: LL.ControlOpcode
    switch phase {
    case .pauseResponse: request = .pauseEncReq
    case .response, .startRequest: request = .encReq
    default: return nil
    }
    guard request == .pauseEncReq || !isRefresh else { return nil }
    switch pdu {
    case .rejectInd(let reason): return reason
    case .rejectExtInd(request.rawValue, let reason): return reason
    case .unknownRsp(request.rawValue): return .unsupportedRemoteFeature
    default: return nil
    }
  }

  /// Returns the decrypted payload of a new PDU; nil: its MIC is wrong.
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
  /// True if the PDU may be sent while encryption is being started or paused · 5.1.3.1, 5.1.3.2.
  var belongsToEncryption: Bool {
    switch self {
    case .encReq, .encRsp, .startEncReq, .startEncRsp, .pauseEncReq, .pauseEncRsp, .rejectInd, .rejectExtInd,
      .terminateInd:
      true
    default: false
    }
  }
}
