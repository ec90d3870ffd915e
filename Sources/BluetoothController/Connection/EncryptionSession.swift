import BluetoothCrypto
import BluetoothWire

/// An encrypted session of a connection · Vol 6, Part B, 5.1.3; Part E. Encryption and decryption begin at separate
/// times, and each direction counts its packets from 0.
struct EncryptionSession {
  private let cipher: LinkLayerCipher
  private let own: LinkLayerCipher.Sender
  private let peer: LinkLayerCipher.Sender
  private let pool: PacketPool
  /// packetCounter of the next packet sent, and of the next packet received.
  private var sent: UInt64 = 0
  private var received: UInt64 = 0

  /// True if new PDUs are sent encrypted. A retransmission repeats the octets of the first transmission.
  var encrypts = false
  /// True if received PDUs must be encrypted.
  var decrypts = false

  init(_ keys: LL.SessionKeys, role: ConnectionRole, pool: PacketPool) {
    cipher = LinkLayerCipher(
      longTermKey: Block(keys.longTermKey.value),
      diversifier: Block(high: keys.peripheral.diversifier, low: keys.central.diversifier),
      initializationVector: UInt64(keys.peripheral.initializationVector) << 32
        | UInt64(keys.central.initializationVector))
    (own, peer) = role == .central ? (.central, .peripheral) : (.peripheral, .central)
    self.pool = pool
  }

  /// Returns the octets that encryption adds to a PDU with `octets` of payload: an empty PDU has no MIC · 2.4.
  func addedLength(to octets: Int) -> Int { encrypts && octets > 0 ? LinkLayerCipher.codeLength : 0 }

  /// Encrypts a PDU before its first transmission.
  mutating func seal(_ pdu: inout OutgoingPDU) {
    guard encrypts, !pdu.isEmpty else { return }
    var writer = ByteWriter(pool)
    pdu.payload.withUnsafeBytes { plaintext in
      writer.append(count: plaintext.count + LinkLayerCipher.codeLength) {
        cipher.seal(plaintext, header: pdu.llid.rawValue, counter: sent, sender: own, into: $0)
      }
    }
    sent += 1
    pdu.plaintext = pdu.payload
    pdu.payload = writer.finish()
  }

  /// Decrypts a new PDU that is not empty; returns nil if its MIC is wrong.
  ///
  /// - Parameters:
  ///   - header: the PDU's first octet as received: its reserved bits are authenticated, too.
  mutating func open(_ payload: ByteSlice, header: UInt8) -> ByteSlice? {
    let length = payload.count - LinkLayerCipher.codeLength
    guard length >= 0 else { return nil }
    var writer = ByteWriter(pool)
    let isGenuine = payload.withUnsafeBytes { sealed in
      writer.append(count: length) {
        cipher.open(sealed, header: header, counter: received, sender: peer, into: $0)
      }
    }
    received += 1
    return isGenuine ? writer.finish() : nil
  }
}
