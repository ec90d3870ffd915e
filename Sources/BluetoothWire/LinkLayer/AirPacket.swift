/// The link layer · Vol 6, Part B.
package enum LL {
  /// The access address of every advertising physical channel packet · 2.1.2.
  package static let advertisingAccessAddress: UInt32 = 0x8E89_BED6
  /// The CRCInit of every advertising physical channel packet · 3.1.1.
  package static let advertisingCRCInit: UInt32 = 0x555555
  /// T_IFS, the time from the end of a packet to the start of the response · 4.1.1.
  package static let interFrameSpace = TimeSpan.microseconds(150)
  /// T_MAFS, the minimum time from the end of a packet to the start of the packet to which its AuxPtr points · 4.1.2.
  package static let minimumAuxiliaryFrameSpace = TimeSpan.microseconds(300)
}

/// A link layer packet: the part that follows the preamble, before whitening · Vol 6, Part B, 2.1.
///
/// The CRC is not stored: it is computed from the PDU and `crcInit` when a capture needs it.
package struct AirPacket: Hashable, Sendable {
  package var accessAddress: UInt32
  /// The initial value of the CRC, 24 bits · 3.1.1.
  package var crcInit: UInt32
  /// The first two octets of the PDU, the first in the low byte. The second is the length of the payload.
  package var header: UInt16
  /// True for a packet of an advertising or periodic physical channel, false for a packet of a connection. It is not
  /// transmitted: only fault injection and captures use it.
  package var isAdvertising: Bool
  package var payload: ByteSlice
  /// The payload before encryption; nil if `payload` is not encrypted. It is not transmitted: only fault injection and
  /// captures use it.
  package var plainPayload: ByteSlice?

  package init(accessAddress: UInt32, crcInit: UInt32, header: UInt16, payload: ByteSlice) {
    self.accessAddress = accessAddress
    self.crcInit = crcInit
    self.header = header
    self.payload = payload
    isAdvertising = accessAddress == LL.advertisingAccessAddress
  }

  /// Returns the duration of the packet on the air, from the start of its preamble · 2.1, 2.2.
  package func airTime(_ modulation: Modulation) -> TimeSpan { modulation.airTime(payloadOctets: payload.count) }
}
