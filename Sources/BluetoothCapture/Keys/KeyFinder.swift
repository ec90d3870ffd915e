import BluetoothWire

/// Finds keys in the packets between a host and its controller, so that a capture can replace them by zeros.
///
/// A key of the Security Manager in ACL data (Vol 3, Part H, 3.6.2, 3.6.4, 3.6.6) may span several fragments of its
/// L2CAP frame, so all packets must be passed in order.
struct KeyFinder {
  private struct FrameID: Hashable {
    let handle: HCI.ConnectionHandle
    let isFromHost: Bool
  }

  /// An incomplete L2CAP frame · Vol 3, Part A, 3.1.
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

  private var frames: [FrameID: Frame] = [:]

  /// Returns the range of the next packet's parameters or data that holds keys; nil if there are none.
  mutating func keys(in packet: HCI.Packet, isFromHost: Bool) -> Range<Int>? {
    guard case .acl(let data) = packet else {
      guard let keys = packet.keys?.clamped(to: 0..<packet.payload.count), !keys.isEmpty else { return nil }
      return keys
    }
    let id = FrameID(handle: data.handle, isFromHost: isFromHost)
    let former = frames.removeValue(forKey: id)
    guard var frame = data.boundary == .continuing ? former : Frame() else { return nil }
    let keys = frame.take(data.payload)
    if !frame.isComplete { frames[id] = frame }
    return keys
  }
}
