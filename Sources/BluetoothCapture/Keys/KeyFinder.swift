import BluetoothWire

/// Finds keys in the packets between a host and its controller, so that a capture can replace them by zeros.
///
/// A key of the Security Manager in ACL data (Vol 3, Part H, 3.6.2, 3.6.4, 3.6.6) may span several fragments of its
/// L2CAP frame, so all packets must be passed in order.
package struct KeyFinder {
  private struct FrameID: Hashable {
    let handle: HCI.ConnectionHandle
    let isFromHost: Bool
  }

  /// An L2CAP frame, until its last fragment · Vol 3, Part A, 3.1.
  private struct Frame {
    /// The number of octets received.
    var position = 0
    /// The length of the information payload, which follows the channel identifier.
    var length: UInt16 = 0
    var channel: UInt16 = 0
    var isKey = false

    var isComplete: Bool { position >= 4 && position >= 4 + Int(length) }

    /// Processes the next octets of the frame. Returns the range of octets that belong to a key; nil if there are none.
    mutating func take(_ octets: ByteSlice) -> Range<Int>? {
      let start = position
      position += octets.count
      var index = start
      while index < min(position, KeyFinder.headerLength) {
        let octet = octets[index - start]
        switch index {
        case 0: length = UInt16(octet)
        case 1: length |= UInt16(octet) << 8
        case 2: channel = UInt16(octet)
        case 3: channel |= UInt16(octet) << 8
        default: isKey = channel == KeyFinder.securityManagerChannel && KeyFinder.keyCodes.contains(octet)
        }
        index += 1
      }
      guard isKey, position > KeyFinder.headerLength else { return nil }
      return max(KeyFinder.headerLength - start, 0)..<octets.count
    }
  }

  /// The length, the channel identifier, and the code of the SMP PDU.
  private static let headerLength = 5
  /// The Security Manager's fixed channel · Vol 3, Part A, 2.1.
  private static let securityManagerChannel: UInt16 = 0x0006
  private static let keyCodes = [SMP.Code.encryptionInformation, .identityInformation, .signingInformation]
    .map(\.rawValue)

  /// The latest frame of each link and direction.
  private var frames: [FrameID: Frame] = [:]

  package init() {}

  /// Returns the next packet in H4 form, with zeros in place of keys.
  package mutating func octets(of packet: HCI.Packet, isFromHost: Bool) -> [UInt8] {
    var octets: [UInt8] = []
    octets.append(h4: packet, without: keys(in: packet, isFromHost: isFromHost))
    return octets
  }

  /// Returns the range of the next packet's parameters or data that may hold keys; nil if there are none.
  mutating func keys(in packet: HCI.Packet, isFromHost: Bool) -> Range<Int>? {
    guard case .acl(let data) = packet else {
      guard let keys = packet.keys?.clamped(to: 0..<packet.payload.count), !keys.isEmpty else { return nil }
      return keys
    }
    let id = FrameID(handle: data.handle, isFromHost: isFromHost)
    var frame = Frame()
    if data.boundary == .continuing {
      // Without its beginning, which was not captured, the frame may be one of a key.
      guard let former = frames[id] else { return data.payload.isEmpty ? nil : 0..<data.payload.count }
      if former.isComplete { return nil }
      frame = former
    }
    let keys = frame.take(data.payload)
    frames[id] = frame
    return keys
  }
}
