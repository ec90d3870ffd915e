import BluetoothCrypto
import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// TargetA is resolved with the local IRK of the advertiser's entry in the resolving list · Vol 6, Part B, 4.3.3, 6.3,
/// 6.4; Vol 4, Part E, 7.7.65.11.
@Suite("Resolution of the target of directed advertising")
struct TargetResolutionTests {
  /// The target of an advertiser, by the entry whose local IRK resolves it.
  enum Target: CaseIterable { case byOwnEntry, byOtherEntry, byUnknownAdvertiser }

  private static let keys: (peer: [UInt128], local: [UInt128]) = ([0x51, 0x52], [0x61, 0x62])
  private let air = PerfectAir()
  private let device = ControllerHarness("device", address: 0x1111_1111_1111)
  private let peers = [DeviceAddress(0x2222_2222_2222, .public), DeviceAddress(0x3333_3333_3333, .public)]

  init() {
    air.start(device)
    for (index, peer) in peers.enumerated() {
      #expect(
        device.send(
          .leAddDeviceToResolvingList(
            HCI.PeerAddress(peer), peerIRK: Self.keys.peer[index], localIRK: Self.keys.local[index])) == .success)
    }
    #expect(device.send(.leSetAddressResolutionEnable(true)) == .success)
  }

  private func privateAddress(_ key: UInt128) throws -> DeviceAddress {
    var random = RandomStream(seed: 7)
    return DeviceAddress(try #require(IdentityResolvingKey(Block(key))).newAddress(using: &random), .random)
  }

  /// Returns the addresses of the advertiser and its target.
  private func addresses(_ target: Target) throws -> (advertiser: DeviceAddress, target: DeviceAddress) {
    switch target {
    case .byOwnEntry: (try privateAddress(Self.keys.peer[0]), try privateAddress(Self.keys.local[0]))
    case .byOtherEntry: (try privateAddress(Self.keys.peer[0]), try privateAddress(Self.keys.local[1]))
    case .byUnknownAdvertiser: (DeviceAddress(0x4444_4444_4444, .public), try privateAddress(Self.keys.local[0]))
    }
  }

  /// Sends ADV_DIRECT_IND on all primary channels for a while.
  private func advertise(_ target: Target) throws {
    let advertiser = ScriptedAdvertiser(air: air)
    let (own, other) = try addresses(target)
    for round in 0..<20 {
      for channel in UInt8(37)...39 {
        advertiser.send(
          .advDirectInd(advertiser: own, target: other, usesAlgorithm2: true),
          at: air.now + .milliseconds(50 * Int64(round) + 1), on: channel)
      }
    }
    air.run(for: .seconds(1))
  }

  @Test("A scanner reports advertising whose target the advertiser's own entry resolves", arguments: Target.allCases)
  func basicPolicy(target: Target) throws {
    let parameters = HCI.ScanParameters(isActive: false, interval: 48, window: 48, ownAddressType: .public)
    #expect(device.send(.leSetScanParameters(parameters)) == .success)
    #expect(device.send(.leSetScanEnable(true, filterDuplicates: true)) == .success)
    try advertise(target)
    #expect(device.reports.map(\.type) == (target == .byOwnEntry ? [.connectableDirected] : []))
  }

  @Test(
    "With an extended policy, other targets are reported in LE Directed Advertising Report", arguments: Target.allCases)
  func extendedPolicy(target: Target) throws {
    let parameters = HCI.ScanParameters(
      isActive: false, interval: 48, window: 48, ownAddressType: .public, filterPolicy: 2)
    #expect(device.send(.leSetScanParameters(parameters)) == .success)
    #expect(device.send(.leSetScanEnable(true, filterDuplicates: true)) == .success)
    try advertise(target)
    let addresses = try addresses(target)
    let directed = device.events.compactMap { event -> HCI.DirectedAdvertisingReport? in
      if case .leDirectedAdvertisingReport(let report) = event { report } else { nil }
    }
    #expect(device.reports.isEmpty == (target != .byOwnEntry))
    #expect(directed.map(\.directAddress) == (target == .byOwnEntry ? [] : [HCI.PeerAddress(addresses.target)]))
  }

  @Test("Extended reports mark a target that the advertiser's entry does not resolve", arguments: Target.allCases)
  func extendedReports(target: Target) throws {
    device.startScan(policy: 2, HCI.ExtendedScanEnable(true, duplicates: .on))
    try advertise(target)
    let addresses = try addresses(target)
    let expected =
      target == .byOwnEntry
      ? HCI.PeerAddress(identity: device.address) : HCI.PeerAddress(type: 0xFE, value: addresses.target.value)
    #expect(device.extendedReports.map(\.directAddress) == [expected])
  }

  @Test("An initiator answers a target that the advertiser's own entry resolves", arguments: Target.allCases)
  func initiator(target: Target) throws {
    let peer = target == .byUnknownAdvertiser ? DeviceAddress(0x4444_4444_4444, .public) : peers[0]
    let request = HCI.CreateConnection(
      scanInterval: 48, scanWindow: 48, usesAcceptList: false, peer: HCI.PeerAddress(peer), ownAddressType: .public,
      parameters: LinkParameters(minimumInterval: 24, maximumInterval: 24, latency: 0, supervisionTimeout: 200))
    #expect(device.send(.leCreateConnection(request)) == .success)
    try advertise(target)
    let hasAnswered = air.log.contains { $0.device == device.number && $0.isAdvertising }
    #expect(hasAnswered == (target == .byOwnEntry))
  }
}
