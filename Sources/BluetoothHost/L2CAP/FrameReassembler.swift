import BluetoothWire

/// The reassembly of one link's L2CAP frames from ACL packets · Vol 3, Part A, 7.2.1. A frame in a single packet is
/// not copied.
struct FrameReassembler {
  /// The maximum length of a frame on any channel of this host, including the header.
  static let maximumLength = L2CAP.headerLength + ATT.maximumMTU

  /// The number of frames and fragments that were discarded because they could not be reassembled.
  private(set) var dropped = 0

  /// The beginning of the last frame that was longer than any channel accepts, with its channel. Such a frame ends
  /// its channel · Vol 3, Part A, 3.4.3.
  private var tooLong: L2CAP.Frame?

  /// The fragments of the incomplete frame; none is empty.
  private var parts: [ByteSlice] = []
  private var count = 0
  /// True while fragments belong to a discarded frame, until the next start of a frame.
  private var isSkipping = false

  /// Processes an ACL packet. Returns the frame that it completes; nil: no frame is complete.
  mutating func receive(_ data: HCI.ACLData, pool: PacketPool) -> L2CAP.Frame? {
    if data.boundary == .continuing {
      if isSkipping { return nil }
      guard count > 0 else {
        drop()
        return nil
      }
    } else {
      // The previous frame remains incomplete.
      if count > 0 { drop() }
      isSkipping = false
      if let frame = try? L2CAP.Frame(data.payload), data.payload.count <= Self.maximumLength { return frame }
    }
    guard !data.payload.isEmpty else { return nil }
    parts.append(data.payload)
    count += data.payload.count
    return complete(pool)
  }

  private mutating func complete(_ pool: PacketPool) -> L2CAP.Frame? {
    guard let length = announcedLength else { return nil }
    guard length <= Self.maximumLength else {
      // The channel identifier follows the length.
      if count >= L2CAP.headerLength { dropTooLong() }
      return nil
    }
    guard count <= length else {
      drop()
      return nil
    }
    guard count == length, count >= L2CAP.headerLength else { return nil }
    var writer = ByteWriter(pool, capacity: count, headroom: 0)
    for part in parts { writer.append(part) }
    clear()
    return try? L2CAP.Frame(writer.finish())
  }

  /// The length of the incomplete frame according to its header; nil: the length field has not arrived yet. The field
  /// is the first two octets.
  private var announcedLength: Int? {
    guard count >= 2 else { return nil }
    let high = parts[0].count > 1 ? parts[0][1] : parts[1][0]
    return L2CAP.headerLength + (Int(parts[0][0]) | Int(high) << 8)
  }

  /// Removes and returns the beginning of the frame that the last packet belonged to, if the frame was too long.
  mutating func takeTooLong() -> L2CAP.Frame? {
    guard tooLong != nil else { return nil }
    defer { tooLong = nil }
    return tooLong
  }

  private mutating func dropTooLong() {
    let header = 4
    var beginning: [UInt8] = []
    for part in parts { beginning += part.prefix(L2CAP.headerLength + header - beginning.count).bytes }
    let channel = UInt16(beginning[2]) | UInt16(beginning[3]) << 8
    tooLong = L2CAP.Frame(
      channel: L2CAP.ChannelID(rawValue: channel), payload: ByteSlice(beginning.dropFirst(L2CAP.headerLength)))
    drop()
  }

  private mutating func drop() {
    dropped += 1
    clear()
    isSkipping = true
  }

  private mutating func clear() {
    parts.removeAll(keepingCapacity: true)
    count = 0
  }
}
