import BluetoothDaemon
import BluetoothWire

/// The numbers by which the two sides name peers. The server's handles are the numbers; a client has handles of its
/// own, because a server that has been started again counts from the beginning.
package struct PeerNumbering: Sendable {
  /// The number of peers that a server can have at a time: two times as many as it keeps if none has a link.
  package static let maximumCount = 131_072

  /// Returns the number of a peer; nil: the other side does not know the peer.
  package let number: @Sendable (PeerHandle) -> UInt32?
  /// Returns the peer of a number; nil: there is none.
  package let peer: @Sendable (UInt32) -> PeerHandle?
  /// Returns the identifier by which the other side knows a peer.
  package let outgoing: @Sendable (PeerIdentifier) -> PeerIdentifier
  /// Returns the identifier of the peer that the other side knows by an identifier.
  package let incoming: @Sendable (PeerIdentifier) -> PeerIdentifier

  package init(
    number: @escaping @Sendable (PeerHandle) -> UInt32?, peer: @escaping @Sendable (UInt32) -> PeerHandle?,
    outgoing: @escaping @Sendable (PeerIdentifier) -> PeerIdentifier = { $0 },
    incoming: @escaping @Sendable (PeerIdentifier) -> PeerIdentifier = { $0 }
  ) {
    self.number = number
    self.peer = peer
    self.outgoing = outgoing
    self.incoming = incoming
  }

  /// The numbering before the server has named a peer.
  package static let none = PeerNumbering(number: { _ in nil }, peer: { _ in nil })

  /// The identifier of no peer, in place of one that an app can't know.
  private static let noPeer = PeerIdentifier(high: 0, low: 0)

  /// The numbering of a server: each handle is its own number, unless the directory does not have it. A client may name
  /// a peer that has just been removed.
  ///
  /// - Parameter app: the name of the app at the other side, which has identifiers of its own; nil: it has those of the
  ///   adapter.
  package static func ofServer(_ directory: PeerDirectory, for app: String? = nil) -> PeerNumbering {
    let number: @Sendable (PeerHandle) -> UInt32? = { directory.peer($0)?.handle.index }
    let peer: @Sendable (UInt32) -> PeerHandle? = { directory.handle($0) }
    guard let app else { return PeerNumbering(number: number, peer: peer) }
    return PeerNumbering(
      number: number, peer: peer, outgoing: { directory.identifier($0, ofApp: app) },
      incoming: { directory.adapterIdentifier($0, ofApp: app) ?? noPeer })
  }
}

/// Appends the fields of a message to a frame, in the little-endian octet order of Bluetooth.
package struct MessageWriter {
  /// The frame without the value of its length field.
  private(set) var octets: [UInt8]
  private let numbering: PeerNumbering
  /// The peers that the message refers to.
  package private(set) var peers: [PeerHandle] = []
  /// True if the other side does not know one of the peers.
  package private(set) var hasUnknownPeer = false
  private var isTooLong = false

  package init(_ numbering: PeerNumbering) {
    octets = [0, 0, 0, 0, 0, 0]
    self.numbering = numbering
  }

  /// Writes the type of the message, which is in front of all fields.
  mutating func begin(_ type: UInt16) {
    octets[Frame.headerLength] = UInt8(truncatingIfNeeded: type)
    octets[Frame.headerLength + 1] = UInt8(truncatingIfNeeded: type >> 8)
  }

  /// Returns the complete frame; nil: the message can't be sent, because it is too long or names a peer that the other
  /// side does not know.
  package consuming func frame() -> [UInt8]? {
    let length = octets.count - Frame.headerLength
    guard !isTooLong, !hasUnknownPeer, length <= DaemonProtocol.maximumFrameLength else { return nil }
    for index in 0..<Frame.headerLength { octets[index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
    return octets
  }

  package mutating func append<T: FixedWidthInteger>(_ value: T) {
    withUnsafeBytes(of: value.littleEndian) { octets.append(contentsOf: $0) }
  }

  package mutating func append(_ value: Bool) { octets.append(value ? 1 : 0) }

  /// Appends a number that the other side reads as one of four octets.
  package mutating func append(count: Int) {
    if count < 0 || count > Int(Int32.max) { isTooLong = true }
    append(UInt32(truncatingIfNeeded: count))
  }

  package mutating func append(_ value: ByteSlice) {
    append(count: value.count)
    value.withUnsafeBytes { octets.append(contentsOf: $0) }
  }

  /// Appends octets whose number the other side limits.
  package mutating func append(_ value: ByteSlice, atMost maximum: Int) {
    if value.count > maximum { isTooLong = true }
    append(value)
  }

  package mutating func append(_ text: String) {
    let utf8 = text.utf8
    if utf8.count > DaemonProtocol.maximumTextLength { isTooLong = true }
    append(UInt16(truncatingIfNeeded: utf8.count))
    octets.append(contentsOf: utf8)
  }

  package mutating func append(_ peer: PeerHandle) {
    peers.append(peer)
    let number = numbering.number(peer)
    if number == nil { hasUnknownPeer = true }
    append(number ?? 0)
  }

  package mutating func append(_ identifier: PeerIdentifier) {
    let known = numbering.outgoing(identifier)
    append(known.high)
    append(known.low)
  }

  /// Notes the number of elements in the list of a command, which the other side limits.
  mutating func limit(_ count: Int) {
    if count > DaemonProtocol.maximumFilterCount { isTooLong = true }
  }
}
