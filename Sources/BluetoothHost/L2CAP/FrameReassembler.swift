import BluetoothWire

/// Puts the frames of one link together from the ACL packets that they arrive in · Vol 3, Part A, 7.2.1. A frame that
/// arrives in one packet is not copied.
struct FrameReassembler {
  /// The longest frame that any channel of this host takes, header included.
  static let maximumLength = L2CAP.headerLength + ATT.maximumMTU

  /// How many frames, or parts of frames, were thrown away because they did not fit together.
  private(set) var dropped = 0

  /// The last frame that was longer than any channel takes: whose it was, and how its payload began. Such a frame ends its
  /// channel · Vol 3, Part A, 3.4.3.
  private var tooLong: L2CAP.Frame?

  /// The frame that is not complete yet; no part is empty.
  private var parts: [ByteSlice] = []
  private var count = 0
  /// What arrives belongs to a frame that was thrown away, up to the next start.
  private var isSkipping = false

  /// The frame that is complete with this packet; nil: none is.
  mutating func receive(_ data: HCI.ACLData, pool: PacketPool) -> L2CAP.Frame? {
    if data.boundary == .continuing {
      if isSkipping { return nil }
      guard count > 0 else {
        drop()
        return nil
      }
    } else {
      // The frame that was open will not be completed.
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
      // Whose it is stands behind the length.
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

  /// How long the open frame is to become; nil: that has not arrived yet. Its field is the first two octets.
  private var announcedLength: Int? {
    guard count >= 2 else { return nil }
    let high = parts[0].count > 1 ? parts[0][1] : parts[1][0]
    return L2CAP.headerLength + (Int(parts[0][0]) | Int(high) << 8)
  }

  /// The frame for which the last packet was in vain, if it was too long.
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
