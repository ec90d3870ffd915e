import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Own_Address_Type 0x02 and 0x03 · Vol 4, Part E, 7.8.9, 7.8.12, 7.8.56, 7.8.66.
@Suite("Own addresses from the resolving list")
struct OwnAddressTests {
  /// The entry for the peer in the resolving list.
  enum Entry: CaseIterable { case none, withoutLocalKey, withLocalKey }

  private static let localKey: UInt128 = 0x1234_5678
  private static let peerKey: UInt128 = 0x8765_4321
  private let air = PerfectAir()
  private let peer = ControllerHarness("peer", address: 0x2222_2222_2222)

  init() {
    air.start(peer)
  }

  /// Returns a device without the address that `type` falls back on.
  private func device(_ type: HCI.OwnAddressType, _ entry: Entry) -> ControllerHarness {
    let device = ControllerHarness("device", address: 0x1111_1111_1111) {
      if type == .resolvableOrPublic { $0.address = DeviceAddress(0xC000_0000_0001, .random) }
    }
    air.start(device)
    if entry != .none {
      let key = entry == .withLocalKey ? Self.localKey : 0
      #expect(
        device.send(
          .leAddDeviceToResolvingList(HCI.PeerAddress(peer.address), peerIRK: Self.peerKey, localIRK: key)) == .success)
      device.send(.leSetPrivacyMode(HCI.PeerAddress(peer.address), isDevicePrivacy: true))
    }
    return device
  }

  private func expected(_ entry: Entry) -> HCI.ErrorCode {
    entry == .withLocalKey ? .success : .invalidHCICommandParameters
  }

  private func advertisers(_ device: ControllerHarness) -> Set<DeviceAddress> {
    Set(
      air.log.lazy.filter { $0.device == device.number }.compactMap { sent in
        switch sent.advertisingPDU {
        case .advInd(let address, _, _)?: address
        case .extended(let payload)?: payload.advertiser
        default: nil
        }
      })
  }

  @Test(
    "Legacy advertising is enabled without an address of the device if the peer's entry has a local IRK",
    arguments: [HCI.OwnAddressType.resolvableOrPublic, .resolvableOrRandom], Entry.allCases)
  func legacyAdvertising(type: HCI.OwnAddressType, entry: Entry) {
    let device = device(type, entry)
    let parameters = HCI.AdvertisingParameters(
      minimumInterval: 160, maximumInterval: 160, type: .connectableScannableUndirected, ownAddressType: type,
      peer: HCI.PeerAddress(peer.address))
    #expect(device.send(.leSetAdvertisingParameters(parameters)) == .success)
    #expect(device.send(.leSetResolvablePrivateAddressTimeout(10)) == .success)
    #expect(device.send(.leSetAdvertisingEnable(true)) == expected(entry))
    air.run(for: .seconds(15))
    let addresses = advertisers(device)
    // The address is renewed after 10 s.
    #expect(addresses.count == (entry == .withLocalKey ? 2 : 0))
    #expect(addresses.allSatisfy { PrivatePair.isPrivate($0, Self.localKey) })
  }

  @Test(
    "A set without its own address is enabled if its peer's entry has a local IRK",
    arguments: [HCI.OwnAddressType.resolvableOrPublic, .resolvableOrRandom], Entry.allCases)
  func advertisingSet(type: HCI.OwnAddressType, entry: Entry) {
    let device = device(type, entry)
    let parameters = HCI.ExtendedAdvertisingParameters.every100ms(1, .connectable) {
      $0.ownAddressType = type
      $0.peer = HCI.PeerAddress(peer.address)
    }
    #expect(device.send(.leSetExtendedAdvertisingParameters(parameters)) == .success)
    #expect(device.enable(1) == expected(entry))
    air.run(for: .seconds(1))
    let addresses = advertisers(device)
    #expect(addresses.count == (entry == .withLocalKey ? 1 : 0))
    #expect(addresses.allSatisfy { PrivatePair.isPrivate($0, Self.localKey) })
  }

  private func request(_ type: HCI.OwnAddressType, usesAcceptList: Bool) -> HCI.CreateConnection {
    HCI.CreateConnection(
      scanInterval: 48, scanWindow: 48, usesAcceptList: usesAcceptList, peer: HCI.PeerAddress(peer.address),
      ownAddressType: type,
      parameters: LinkParameters(minimumInterval: 24, maximumInterval: 24, latency: 0, supervisionTimeout: 200))
  }

  @Test(
    "Initiating starts without an address of the device if the peer's entry has a local IRK",
    arguments: [HCI.OwnAddressType.resolvableOrPublic, .resolvableOrRandom], Entry.allCases)
  func initiating(type: HCI.OwnAddressType, entry: Entry) {
    let device = device(type, entry)
    peer.advertise()
    #expect(device.send(.leCreateConnection(request(type, usesAcceptList: false))) == expected(entry))
    air.run(for: .seconds(1))
    let initiators = air.log.compactMap { sent -> DeviceAddress? in
      if case .connectInd(let initiator, _, _, _)? = sent.advertisingPDU { initiator } else { nil }
    }
    #expect(initiators.count == (entry == .withLocalKey ? 1 : 0))
    #expect(initiators.allSatisfy { PrivatePair.isPrivate($0, Self.localKey) })
    #expect(device.connectionCompletes.map(\.localResolvablePrivateAddress) == initiators.map(\.value))
  }

  @Test("LE Extended Create Connection too succeeds if the peer's entry has a local IRK", arguments: Entry.allCases)
  func extendedInitiating(entry: Entry) {
    let device = device(.resolvableOrRandom, entry)
    var request = HCI.ExtendedCreateConnection.extended(to: peer)
    request.ownAddressType = .resolvableOrRandom
    #expect(device.send(.leExtendedCreateConnection(request)) == expected(entry))
  }

  @Test("With the accept list the device needs its own address, since the peer's entry is not known in advance")
  func acceptList() {
    for type in [HCI.OwnAddressType.resolvableOrPublic, .resolvableOrRandom] {
      let device = device(type, .withLocalKey)
      #expect(
        device.send(.leCreateConnection(request(type, usesAcceptList: true))) == .invalidHCICommandParameters)
    }
  }

  @Test("A scanner needs its own address, whatever the resolving list contains")
  func scanning() {
    for type in [HCI.OwnAddressType.resolvableOrPublic, .resolvableOrRandom] {
      let device = device(type, .withLocalKey)
      let parameters = HCI.ScanParameters(isActive: true, interval: 48, window: 48, ownAddressType: type)
      #expect(device.send(.leSetScanParameters(parameters)) == .success)
      #expect(device.send(.leSetScanEnable(true, filterDuplicates: false)) == .invalidHCICommandParameters)
    }
  }
}
