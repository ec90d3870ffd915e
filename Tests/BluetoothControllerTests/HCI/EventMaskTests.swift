import BluetoothWire
import Testing

@testable import BluetoothController

private let handle = HCI.ConnectionHandle(rawValue: 0x0001)
private let peer = HCI.PeerAddress(type: 0, value: 1)

/// An event and its bit in the event masks.
private struct Maskable: CustomTestStringConvertible {
  let event: HCI.Event
  var mask: HCI.EventMask = []
  var page2: HCI.EventMaskPage2 = []
  /// For LE meta events, the number of the bit in the LE event mask.
  var le: Int?

  init(_ event: HCI.Event, bit: Int) {
    self.event = event
    mask = HCI.EventMask(rawValue: 1 << bit)
  }

  init(_ event: HCI.Event, page2 bit: Int) {
    self.event = event
    page2 = HCI.EventMaskPage2(rawValue: 1 << bit)
  }

  init(_ event: HCI.Event, le bit: Int) {
    self.event = event
    le = bit
    mask = .leMeta
  }

  var testDescription: String { "\(event)".prefix(48).description }
  var leMask: HCI.LEEventMask { le.map { HCI.LEEventMask(rawValue: 1 << $0) } ?? [] }

  static let all: [Maskable] = [
    Maskable(.disconnectionComplete(.success, handle, reason: .connectionTimeout), bit: 4),
    Maskable(.encryptionChange(.success, handle, enabled: 1), bit: 7),
    Maskable(
      .readRemoteVersionInformationComplete(
        .success, handle, HCI.RemoteVersion(version: 0, companyIdentifier: 0, subversion: 0)), bit: 11),
    Maskable(.hardwareError(1), bit: 15), Maskable(.dataBufferOverflow(linkType: 1), bit: 25),
    Maskable(.encryptionKeyRefreshComplete(.success, handle), bit: 47),
    Maskable(.authenticatedPayloadTimeoutExpired(handle), page2: 23),
    Maskable(.encryptionChangeV2(.success, handle, enabled: 1, keySize: 16), page2: 25),
    Maskable(.leConnectionComplete(HCI.ConnectionComplete(failure: .unspecifiedError)), le: 0),
    Maskable(
      .leAdvertisingReport(
        HCI.AdvertisingReports(
          HCI.AdvertisingReport(type: .scannable, address: peer, data: [], rssi: 0), in: PacketPool())), le: 1),
    Maskable(
      .leConnectionUpdateComplete(
        .success, handle, HCI.ConnectionValues(interval: 6, latency: 0, supervisionTimeout: 10)), le: 2),
    Maskable(.leReadRemoteFeaturesComplete(.success, handle, []), le: 3),
    Maskable(.leLongTermKeyRequest(handle, random: 0, encryptedDiversifier: 0), le: 4),
    Maskable(
      .leRemoteConnectionParameterRequest(
        handle, LinkParameters(minimumInterval: 6, maximumInterval: 6, latency: 0, supervisionTimeout: 10)),
      le: 5),
    Maskable(
      .leDataLengthChange(
        handle, transmit: HCI.DataLength(octets: 27, time: 328), receive: HCI.DataLength(octets: 27, time: 328)), le: 6),
    Maskable(.leReadLocalP256PublicKeyComplete(.success, ByteSlice([UInt8](0..<64))), le: 7),
    Maskable(.leGenerateDHKeyComplete(.success, ByteSlice([UInt8](0..<32))), le: 8),
    Maskable(.leEnhancedConnectionComplete(HCI.ConnectionComplete(failure: .unspecifiedError)), le: 9),
    Maskable(
      .leDirectedAdvertisingReport(HCI.DirectedAdvertisingReport(address: peer, directAddress: peer, rssi: 0)), le: 10),
    Maskable(.lePHYUpdateComplete(.success, handle, transmit: 1, receive: 1), le: 11),
    Maskable(
      .leExtendedAdvertisingReport(
        HCI.ExtendedAdvertisingReports(
          HCI.ExtendedAdvertisingReport(
            type: .scannable, address: peer, primaryPHY: 1, secondaryPHY: 0, advertisingSID: 0xFF, transmitPower: 127,
            rssi: 0, periodicAdvertisingInterval: 0, directAddress: peer, data: []), in: PacketPool())), le: 12),
    Maskable(.lePeriodicAdvertisingSyncEstablished(.success, .none), le: 13),
    Maskable(
      .lePeriodicAdvertisingReport(
        HCI.PeriodicAdvertisingReport(
          handle: HCI.SyncHandle(rawValue: 0), transmitPower: 0, rssi: 0, status: .complete, data: [])), le: 14),
    Maskable(.lePeriodicAdvertisingSyncLost(HCI.SyncHandle(rawValue: 0)), le: 15),
    Maskable(.leScanTimeout, le: 16),
    Maskable(
      .leAdvertisingSetTerminated(.success, HCI.AdvertisingHandle(rawValue: 0), handle, completedEvents: 0), le: 17),
    Maskable(.leScanRequestReceived(HCI.AdvertisingHandle(rawValue: 0), scanner: peer), le: 18),
    Maskable(.leChannelSelectionAlgorithm(handle, 1), le: 19),
    Maskable(.lePeriodicAdvertisingSyncTransferReceived(.success, handle, serviceData: 0, .none), le: 23),
    Maskable(.leRequestPeerSCAComplete(.success, handle, clockAccuracy: 0), le: 30),
  ]
}

@Suite("Event masks")
struct EventMaskTests {
  private func output() -> HCIEventQueue { HCIEventQueue(features: .claimed, pool: PacketPool()) }

  private func passes(_ event: HCI.Event, _ output: consuming HCIEventQueue) -> Bool {
    output.send(event)
    return output.takePacket() == event.packet(in: PacketPool())
  }

  @Test("Every event that a host can mask has a row")
  func rows() {
    let maskable = HCI.EventDefinition.all.map(\.kind).filter { $0.mask != nil }
    #expect(Set(Maskable.all.map { $0.event.encoded(in: PacketPool()).kind }) == Set(maskable))
  }

  @Test("An event passes if only its own bit is set", arguments: Maskable.all)
  private func alone(_ row: Maskable) {
    var output = output()
    output.eventMask = row.mask
    output.eventMaskPage2 = row.page2
    output.leEventMask = row.leMask
    #expect(passes(row.event, output))
  }

  @Test("An event is masked if all other bits are set", arguments: Maskable.all)
  private func withoutIt(_ row: Maskable) {
    var output = output()
    output.eventMask = HCI.EventMask(rawValue: row.le == nil ? ~row.mask.rawValue : .max)
    output.eventMaskPage2 = HCI.EventMaskPage2(rawValue: ~row.page2.rawValue)
    output.leEventMask = HCI.LEEventMask(rawValue: ~row.leMask.rawValue)
    #expect(!passes(row.event, output))
  }

  @Test("No LE meta event passes without the LE Meta bit", arguments: Maskable.all.filter { $0.le != nil })
  private func withoutMeta(_ row: Maskable) {
    var output = output()
    output.eventMask = HCI.EventMask(rawValue: ~HCI.EventMask.leMeta.rawValue)
    output.leEventMask = HCI.LEEventMask(rawValue: .max)
    #expect(!passes(row.event, output))
  }

  @Test("After a reset the masks have the defaults of the specification", arguments: Maskable.all)
  private func initial(_ row: Maskable) {
    var output = output()
    output.eventMask = HCI.EventMask(rawValue: .max)
    output.eventMaskPage2 = HCI.EventMaskPage2(rawValue: .max)
    output.leEventMask = HCI.LEEventMask(rawValue: .max)
    output.reset()
    #expect(output.eventMask.rawValue == 0x1FFF_FFFF_FFFF)
    #expect(output.eventMaskPage2.isEmpty)
    #expect(output.leEventMask.rawValue == 0x1F)
    // No LE meta event, none of page 2, and none of page 1 from bit 45 upwards.
    #expect(passes(row.event, output) == (row.le == nil && !row.mask.isEmpty && row.mask.rawValue < 1 << 45))
  }

  @Test("Answers to commands and completed packets pass every mask")
  func unmaskable() {
    let events: [HCI.Event] = [
      .commandComplete(credits: 1, .reset, .status(.success)), .commandStatus(.success, credits: 1, .disconnect),
      .numberOfCompletedPackets(HCI.CompletedPackets(handle, count: 1, in: PacketPool())),
    ]
    for event in events {
      var output = output()
      output.eventMask = []
      output.leEventMask = []
      #expect(passes(event, output))
    }
  }

  @Test("Enhanced Connection Complete replaces Connection Complete if it is enabled and supported")
  func connectionComplete() {
    let complete = HCI.ConnectionComplete(failure: .unspecifiedError)
    // The bits of LE Connection Complete and of LE Enhanced Connection Complete · 7.8.1.
    let (old, enhanced) = (HCI.LEEventMask(rawValue: 1 << 0), HCI.LEEventMask(rawValue: 1 << 9))
    for (features, mask, expected): (HCI.LEFeatures, HCI.LEEventMask, HCI.Event?) in [
      (.extendedAdvertising, [old, enhanced], .leEnhancedConnectionComplete(complete)),
      (.llPrivacy, enhanced, .leEnhancedConnectionComplete(complete)),
      (.llPrivacy, old, .leConnectionComplete(complete)),
      (.encryption, [old, enhanced], .leConnectionComplete(complete)),
      (.encryption, enhanced, nil), (.llPrivacy, [], nil),
    ] {
      var output = HCIEventQueue(features: features, pool: PacketPool())
      output.eventMask = .leMeta
      output.leEventMask = mask
      output.send(complete)
      #expect(output.takePacket() == expected?.packet(in: PacketPool()))
      #expect(output.takePacket() == nil)
    }
  }

  @Test("Encryption Change v2 replaces v1 if it is enabled")
  func encryptionChange() {
    var output = output()
    output.eventMask = .encryptionChange
    output.eventMaskPage2 = .encryptionChangeV2
    output.send(.encryptionChange(.success, handle, enabled: 1))
    #expect(
      output.takePacket()
        == HCI.Event.encryptionChangeV2(.success, handle, enabled: 1, keySize: 16).packet(in: PacketPool()))
    #expect(output.takePacket() == nil)
  }
}
