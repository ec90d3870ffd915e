import BluetoothWire

/// Finds the keys in the packets between one host and its controller, so that a capture can have zeros in their place. Keys
/// of the Security Manager in ACL data (Vol 3, Part H, 3.6.2, 3.6.4, 3.6.6) are found in all fragments of their frame: so all
/// packets are to be told, in order.
struct KeyFinder {
  private struct FrameID: Hashable {
    let handle: HCI.ConnectionHandle
    let isFromHost: Bool
  }

  /// A frame of which more is to come · Vol 3, Part A, 3.1.
  private struct Frame {
    /// Octets that have come.
    var position = 0
    /// Of what follows the channel.
    var length: UInt16 = 0
    var channel: UInt16 = 0
    var isKey = false

    var isComplete: Bool { position >= 4 && position >= 4 + Int(length) }

    /// Takes the next octets; says which of them belong to a key.
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

  /// Length, channel, and the code of the PDU.
  private static let headerLength = 5
  /// The Security Manager's fixed channel · Vol 3, Part A, 2.1.
  private static let securityManagerChannel: UInt16 = 0x0006
  private static let keyCodes = [SMP.Code.encryptionInformation, .identityInformation, .signingInformation]
    .map(\.rawValue)

  private var frames: [FrameID: Frame] = [:]

  /// Where the next packet's parameters, or its data, hold keys; nil: they hold none.
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
