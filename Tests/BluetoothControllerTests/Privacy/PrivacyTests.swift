import BluetoothCrypto
import BluetoothRadio
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("Privacy")
struct PrivacyTests {
  private static let centralIdentity = HCI.PeerAddress(type: 2, value: 0x1111_1111_1111)
  private static let peripheralIdentity = HCI.PeerAddress(type: 2, value: 0x2222_2222_2222)

  // MARK: Advertising

  @Test(
    "An advertiser uses a private address that its peer can resolve, and a new one after the timeout",
    .requirement("L111", "L174"))
  func advertising() throws {
    let pair = PrivatePair()
    #expect(pair.peripheral.send(.leSetResolvablePrivateAddressTimeout(10)) == .success)
    pair.advertise()
    pair.air.run(for: .seconds(25))
    let addresses = pair.advertisers
    #expect(addresses.count == 3)
    #expect(addresses.allSatisfy { PrivatePair.isPrivate($0, PrivatePair.peripheralKey) })
    let read = pair.peripheral.complete(.leReadLocalResolvableAddress(HCI.PeerAddress(pair.central.address)))
    #expect(read == .leLocalResolvableAddress(addresses[2].value))
  }

  @Test("An advertiser uses its public address for a peer that is not on the list", arguments: [false, true])
  func notOnList(resolves: Bool) {
    let pair = PrivatePair(resolves: resolves, isKnown: false)
    pair.advertise()
    pair.air.run(for: .seconds(1))
    #expect(pair.advertisers == [pair.peripheral.address])
  }

  @Test("Private addresses of the device itself do not need address resolution")
  func withoutResolution() {
    let pair = PrivatePair(resolves: false)
    pair.advertise()
    pair.air.run(for: .seconds(1))
    #expect(pair.advertisers.allSatisfy { PrivatePair.isPrivate($0, PrivatePair.peripheralKey) })
  }

  @Test("An advertising set has one private address on all channels, and a new one when its data change")
  func advertisingSet() throws {
    let pair = PrivatePair()
    let handle = HCI.AdvertisingHandle(rawValue: 1)
    let parameters = HCI.ExtendedAdvertisingParameters(
      handle: handle, properties: .connectable, minimumInterval: 160, maximumInterval: 160,
      ownAddressType: .resolvableOrPublic, peer: HCI.PeerAddress(pair.central.address))
    #expect(pair.peripheral.send(.leSetExtendedAdvertisingParameters(parameters)) == .success)
    #expect(pair.peripheral.send(.leSetDataRelatedAddressChanges(handle, .advertisingData)) == .success)
    #expect(
      pair.peripheral.send(
        .leSetExtendedAdvertisingEnable(true, HCI.AdvertisingSetEnables([.init(handle)], in: pair.peripheral.pool)))
        == .success)
    pair.air.run(for: .seconds(1))
    pair.peripheral.send(
      .leSetExtendedAdvertisingData(handle, HCI.AdvertisingDataFragment(.complete, [2, 1, 6])))
    pair.air.run(for: .seconds(1))
    #expect(pair.advertisers.count == 2)
    #expect(pair.advertisers.allSatisfy { PrivatePair.isPrivate($0, PrivatePair.peripheralKey) })
  }

  @Test(
    "A set takes a new private address only if data change that the host has named",
    arguments: [[], .advertisingData, .scanResponseData, [.advertisingData, .scanResponseData]]
      as [HCI.AddressChangeReasons])
  func dataRelatedChanges(reasons: HCI.AddressChangeReasons) {
    let pair = PrivatePair()
    let handle: HCI.AdvertisingHandle = 1
    let parameters = HCI.ExtendedAdvertisingParameters.every100ms(handle, [.legacy, .connectable, .scannable]) {
      $0.ownAddressType = .resolvableOrPublic
      $0.peer = HCI.PeerAddress(pair.central.address)
    }
    let device = pair.peripheral
    #expect(device.send(.leSetExtendedAdvertisingParameters(parameters)) == .success)
    #expect(device.send(.leSetDataRelatedAddressChanges(handle, reasons)) == .success)
    device.enable(handle)
    /// Returns the number of addresses that the set has used until now.
    func addresses() -> Int {
      pair.air.run(for: .milliseconds(500))
      return pair.advertisers.count
    }
    #expect(addresses() == 1)
    device.setData([2, 1, 6], of: handle)
    let afterData = reasons.contains(.advertisingData) ? 2 : 1
    #expect(addresses() == afterData)
    device.setResponse([2, 9, 65], of: handle)
    let afterResponse = afterData + (reasons.contains(.scanResponseData) ? 1 : 0)
    #expect(addresses() == afterResponse)
    // Unchanged data keep the address.
    #expect(addresses() == afterResponse)
    #expect(device.send(.leSetDataRelatedAddressChanges(handle, [])) == .success)
    device.setData([2, 1, 4], of: handle)
    device.setResponse([2, 9, 66], of: handle)
    #expect(addresses() == afterResponse)
    #expect(pair.advertisers.allSatisfy { PrivatePair.isPrivate($0, PrivatePair.peripheralKey) })
  }

  // MARK: Scanning

  @Test("A scanner reports the identity address of an advertiser that it can resolve")
  func resolvedReports() throws {
    let pair = PrivatePair()
    pair.advertise()
    pair.scan()
    pair.air.run(for: .seconds(1))
    #expect(!pair.central.reports.isEmpty)
    #expect(pair.central.reports.allSatisfy { $0.address == Self.peripheralIdentity })
    let read = pair.central.complete(.leReadPeerResolvableAddress(HCI.PeerAddress(pair.peripheral.address)))
    #expect(read == .lePeerResolvableAddress(try #require(pair.advertisers.first).value))
  }

  @Test("Without address resolution a scanner reports the private address")
  func unresolvedReports() {
    let pair = PrivatePair(resolves: false)
    pair.advertise()
    pair.scan()
    pair.air.run(for: .seconds(1))
    #expect(pair.central.reports.map(\.address).first == pair.advertisers.first.map { HCI.PeerAddress($0) })
  }

  @Test("A scanner reports an identity address in device privacy mode and not in network privacy mode")
  func privacyModes() {
    for isDevicePrivacy in [false, true] {
      let pair = PrivatePair()
      pair.central.send(
        .leSetPrivacyMode(HCI.PeerAddress(pair.peripheral.address), isDevicePrivacy: isDevicePrivacy))
      pair.advertise(as: .public)
      pair.scan()
      pair.air.run(for: .seconds(1))
      #expect(pair.central.reports.isEmpty != isDevicePrivacy)
      #expect(pair.central.reports.allSatisfy { $0.address == HCI.PeerAddress(pair.peripheral.address) })
    }
  }

  @Test("An active scanner uses a private address, which the advertiser resolves for its accept list")
  func scanRequests() throws {
    let pair = PrivatePair()
    pair.peripheral.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(pair.central.address)))
    pair.peripheral.send(.leSetScanResponseData([3, 9, 65, 66]))
    pair.advertise(filterPolicy: 0b01)
    pair.scan(isActive: true)
    pair.air.run(for: .seconds(2))
    let scanners = pair.air.log.compactMap { sent -> DeviceAddress? in
      if case .scanReq(let scanner, _)? = sent.advertisingPDU { scanner } else { nil }
    }
    #expect(!scanners.isEmpty && scanners.allSatisfy { PrivatePair.isPrivate($0, PrivatePair.centralKey) })
    let responses = pair.central.reports.filter { $0.type == .scanResponse }
    #expect(!responses.isEmpty && responses.allSatisfy { $0.address == Self.peripheralIdentity })
  }

  @Test("A scanner's accept list contains identity addresses")
  func scannersAcceptList() {
    for isOnList in [false, true] {
      let pair = PrivatePair()
      if isOnList { pair.central.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(pair.peripheral.address))) }
      pair.advertise()
      pair.scan(filterPolicy: 1)
      pair.air.run(for: .seconds(1))
      #expect(pair.central.reports.isEmpty != isOnList)
    }
  }

  @Test("Directed advertising uses a private target address, which only the target resolves")
  func directedReports() throws {
    let pair = PrivatePair()
    pair.advertise(.connectableDirectedLowDutyCycle)
    pair.scan()
    pair.air.run(for: .seconds(1))
    #expect(
      pair.central.reports.allSatisfy { $0.type == .connectableDirected && $0.address == Self.peripheralIdentity })
    #expect(!pair.central.reports.isEmpty)
    guard case .advDirectInd(_, let target, _)? = pair.air.log.first?.advertisingPDU else {
      Issue.record("no ADV_DIRECT_IND")
      return
    }
    #expect(PrivatePair.isPrivate(target, PrivatePair.centralKey))
  }

  @Test("Directed advertising to an unknown private address is reported with the extended filter policies only")
  func unresolvedTarget() {
    for filterPolicy in [UInt8(0), 2] {
      let pair = PrivatePair(resolves: false)
      pair.advertise(.connectableDirectedLowDutyCycle)
      pair.scan(filterPolicy: filterPolicy)
      pair.air.run(for: .seconds(1))
      let isReported = pair.central.events.contains {
        if case .leDirectedAdvertisingReport = $0 { true } else { false }
      }
      #expect(isReported == (filterPolicy == 2) && pair.central.reports.isEmpty)
    }
  }

  // MARK: Connections

  @Test(
    "Two private devices connect, and report identities and private addresses to hosts", .requirement("L111"),
    arguments: [false, true])
  func connecting(usesAcceptList: Bool) throws {
    let pair = PrivatePair()
    if usesAcceptList {
      pair.central.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(pair.peripheral.address)))
      pair.peripheral.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(pair.central.address)))
    }
    pair.advertise(filterPolicy: usesAcceptList ? 0b10 : 0)
    pair.connect(usesAcceptList: usesAcceptList)
    pair.air.run(for: .seconds(1))
    let central = try #require(pair.central.connectionCompletes.first)
    let peripheral = try #require(pair.peripheral.connectionCompletes.first)
    #expect(central.peer == Self.peripheralIdentity && peripheral.peer == Self.centralIdentity)
    #expect(central.localResolvablePrivateAddress == peripheral.peerResolvablePrivateAddress)
    #expect(peripheral.localResolvablePrivateAddress == central.peerResolvablePrivateAddress)
    #expect(Toolbox.resolves(central.localResolvablePrivateAddress, irk: Block(PrivatePair.centralKey)))
    #expect(Toolbox.resolves(central.peerResolvablePrivateAddress, irk: Block(PrivatePair.peripheralKey)))
    let addresses = pair.air.log.flatMap { sent -> [DeviceAddress] in
      if case .connectInd(let initiator, let advertiser, _, _)? = sent.advertisingPDU {
        [initiator, advertiser]
      } else {
        []
      }
    }
    #expect(addresses.map(\.value) == [central.localResolvablePrivateAddress, central.peerResolvablePrivateAddress])
  }

  @Test(
    "Directed advertising connects two private devices",
    arguments: [HCI.AdvertisingType.connectableDirectedLowDutyCycle, .connectableDirectedHighDutyCycle])
  func directed(type: HCI.AdvertisingType) throws {
    let pair = PrivatePair()
    pair.connect()
    pair.advertise(type)
    pair.air.run(for: .seconds(1))
    #expect(pair.central.connectionCompletes.map(\.peer) == [Self.peripheralIdentity])
    #expect(pair.peripheral.connectionCompletes.map(\.peer) == [Self.centralIdentity])
  }

  @Test("An advertiser refuses a central's identity address in network privacy mode")
  func identityAddressOfCentral() {
    for isDevicePrivacy in [false, true] {
      let pair = PrivatePair()
      pair.peripheral.send(
        .leSetPrivacyMode(HCI.PeerAddress(pair.central.address), isDevicePrivacy: isDevicePrivacy))
      pair.advertise()
      pair.connect(as: .public)
      pair.air.run(for: .seconds(1))
      #expect(pair.peripheral.connectionCompletes.isEmpty != isDevicePrivacy)
    }
  }

  @Test("An initiator does not connect to the identity address of a peripheral in network privacy mode")
  func identityAddressOfPeripheral() {
    let pair = PrivatePair()
    pair.advertise(as: .public)
    pair.connect()
    pair.air.run(for: .seconds(1))
    #expect(pair.central.connectionCompletes.isEmpty)
    #expect(!pair.air.log.contains { $0.device == pair.central.number })
  }

  @Test("A second connection to a private device that is already connected is refused")
  func oneConnection() throws {
    let pair = PrivatePair()
    pair.advertise()
    pair.connect()
    pair.air.run(for: .seconds(1))
    #expect(pair.central.connectionCompletes.count == 1)
    let request = HCI.CreateConnection(
      scanInterval: 48, scanWindow: 48, usesAcceptList: false, peer: HCI.PeerAddress(pair.peripheral.address),
      ownAddressType: .resolvableOrPublic,
      parameters: LinkParameters(
        minimumInterval: 24, maximumInterval: 24, latency: 0, supervisionTimeout: 200))
    #expect(pair.central.send(.leCreateConnection(request)) == .connectionAlreadyExists)
  }

  // MARK: Commands

  @Test("The resolving list and address resolution can't be changed while they are in use")
  func inUse() {
    let pair = PrivatePair()
    let peer = HCI.PeerAddress(type: 0, value: 9)
    pair.advertise()
    let changes: [HCI.Command] = [
      .leAddDeviceToResolvingList(peer, peerIRK: 3, localIRK: 4),
      .leRemoveDeviceFromResolvingList(HCI.PeerAddress(pair.central.address)), .leClearResolvingList,
      .leSetPrivacyMode(HCI.PeerAddress(pair.central.address), isDevicePrivacy: true),
      .leSetAddressResolutionEnable(false),
    ]
    for command in changes { #expect(pair.peripheral.send(command) == .commandDisallowed) }
    #expect(pair.peripheral.send(.leSetResolvablePrivateAddressTimeout(60)) == .success)
    pair.peripheral.send(.leSetAdvertisingEnable(false))
    pair.peripheral.send(.leSetAddressResolutionEnable(false))
    pair.advertise()
    for command in changes.dropLast() { #expect(pair.peripheral.send(command) == .success || command == changes[3]) }
    pair.scan()
    #expect(pair.central.send(.leClearResolvingList) == .commandDisallowed)
  }

  @Test("Resolvable addresses of devices that are not on the list can't be read")
  func reading() {
    let pair = PrivatePair()
    let nobody = HCI.PeerAddress(type: 0, value: 9)
    #expect(pair.central.complete(.leReadResolvingListSize) == .leResolvingListSize(UInt8(ResolvingList.capacity)))
    #expect(pair.central.send(.leReadPeerResolvableAddress(nobody)) == .unknownConnectionIdentifier)
    #expect(pair.central.send(.leReadLocalResolvableAddress(nobody)) == .unknownConnectionIdentifier)
    #expect(pair.central.send(.leSetPrivacyMode(nobody, isDevicePrivacy: true)) == .unknownConnectionIdentifier)
    #expect(pair.central.send(.leSetResolvablePrivateAddressTimeout(0)) == .invalidHCICommandParameters)
  }
}
