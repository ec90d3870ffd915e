import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

extension ControllerHarness {
  /// Scans by the extended commands, by default on LE 1M without pause.
  func startScan(
    isActive: Bool = false, policy: UInt8 = 0,
    le1M: HCI.ExtendedScanParameters.Scan? = HCI.ExtendedScanParameters.Scan(
      isActive: false, interval: 48, window: 48),
    leCoded: HCI.ExtendedScanParameters.Scan? = nil, _ enable: HCI.ExtendedScanEnable = HCI.ExtendedScanEnable(true)
  ) {
    var (le1M, leCoded) = (le1M, leCoded)
    if isActive {
      le1M?.isActive = true
      leCoded?.isActive = true
    }
    let parameters = HCI.ExtendedScanParameters(
      ownAddressType: .public, filterPolicy: policy, le1M: le1M, leCoded: leCoded)
    #expect(send(.leSetExtendedScanParameters(parameters)) == .success)
    #expect(send(.leSetExtendedScanEnable(enable)) == .success)
  }
}

extension Sequence<HCI.ExtendedAdvertisingReport> {
  /// The data of all reports, joined.
  var data: [UInt8] { flatMap(\.data.bytes) }
  var types: [HCI.ExtendedAdvertisingReport.EventType] { map(\.type) }
}

/// An advertiser that sends any packets that a test specifies, independent of a link layer.
struct ScriptedAdvertiser {
  let air: PerfectAir
  let pool = PacketPool()
  var address = DeviceAddress(0x6666_6666_6666, .public)
  var sid: UInt8 = 3

  var dataInfo: LL.AdvertisingDataInfo { LL.AdvertisingDataInfo(sid: sid, did: 0x123) }

  func pointer(
    to offset: TimeSpan, on channel: UInt8 = 10, _ phy: RadioPHY = .le1M
  ) -> LL.AuxiliaryPointer {
    LL.AuxiliaryPointer(
      channel: ChannelIndex(channel), isClockAccurate: true, offset: LL.PacketOffset(offset), phy: phy)
  }

  /// Sends ADV_EXT_IND on all primary channels at `start`, as if from three advertisers at once, with a pointer to
  /// `offset` later.
  func announce(
    at start: Instant, mode: LL.ExtendedAdvertisingPayload.Mode = .nonConnectable, to offset: TimeSpan,
    on channel: UInt8 = 10, _ phy: RadioPHY = .le1M, modulation: Modulation = .le1M
  ) {
    let payload = LL.ExtendedAdvertisingPayload(
      mode: mode, dataInfo: dataInfo, auxiliary: pointer(to: offset, on: channel, phy))
    for primary in UInt8(37)...39 { send(payload, at: start, on: primary, modulation) }
  }

  /// Sends AUX_ADV_IND or a packet that follows it.
  func send(
    _ payload: LL.ExtendedAdvertisingPayload, at start: Instant, on channel: UInt8 = 10,
    _ modulation: Modulation = .le1M
  ) {
    send(.extended(payload), at: start, on: channel, modulation)
  }

  func send(_ pdu: LL.AdvertisingPDU, at start: Instant, on channel: UInt8 = 10, _ modulation: Modulation = .le1M) {
    air.play(pdu.packet(in: pool), at: start, on: ChannelIndex(channel), modulation)
  }

  /// Sends a packet with any octets.
  func send(raw octets: [UInt8], type: UInt16 = 0x07, at start: Instant, on channel: UInt8) {
    let packet = AirPacket(
      accessAddress: LL.advertisingAccessAddress, crcInit: LL.advertisingCRCInit,
      header: type | UInt16(truncatingIfNeeded: octets.count) << 8, payload: ByteSlice(octets))
    air.play(packet, at: start, on: ChannelIndex(channel))
  }
}
