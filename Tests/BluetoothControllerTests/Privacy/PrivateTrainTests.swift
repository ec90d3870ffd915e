import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Vol 6, Part B, 4.3.5, 4.4.3.5, 5.1.13, 6.3; Vol 4, Part E, 7.8.38 to 7.8.45, 7.7.65.14, 7.7.65.24.
@Suite("Trains and reports of advertisers with private addresses")
struct PrivateTrainTests {
  private static let identity = HCI.PeerAddress(type: 2, value: 0x2222_2222_2222)
  private let pair = PrivatePair()
  private var scanner: ControllerHarness { pair.central }
  private var advertiser: ControllerHarness { pair.peripheral }

  /// The train as the host identifies it.
  private var train: HCI.PeriodicAdvertiser {
    HCI.PeriodicAdvertiser(HCI.PeerAddress(advertiser.address), advertisingSID: 3)
  }

  private func advertise(as own: HCI.OwnAddressType = .resolvableOrPublic) {
    let set = HCI.ExtendedAdvertisingParameters.every100ms {
      $0.advertisingSID = 3
      $0.ownAddressType = own
      $0.peer = HCI.PeerAddress(scanner.address)
    }
    #expect(advertiser.send(.leSetExtendedAdvertisingParameters(set)) == .success)
    let parameters = HCI.PeriodicAdvertisingParameters(handle: 1, minimumInterval: 40, maximumInterval: 40)
    #expect(advertiser.send(.leSetPeriodicAdvertisingParameters(parameters)) == .success)
    #expect(advertiser.setPeriodicData([7]) == .success)
    #expect(advertiser.send(.leSetPeriodicAdvertisingEnable(.enabled, 1)) == .success)
    #expect(advertiser.enable(1) == .success)
  }

  private func synchronize(
    _ options: HCI.PeriodicAdvertisingCreateSync.Options = [], with train: HCI.PeriodicAdvertiser? = nil
  ) -> HCI.ErrorCode? {
    scanner.send(
      .lePeriodicAdvertisingCreateSync(
        HCI.PeriodicAdvertisingCreateSync(
          options: options, advertiser: train ?? self.train, keeping: HCI.SyncKeeping(timeout: 100))))
  }

  @Test(
    "A train is found by its advertiser's identity address, from the command or the list", arguments: [false, true])
  func created(usesList: Bool) throws {
    advertise()
    scanner.startScan()
    if usesList {
      #expect(scanner.send(.leAddDeviceToPeriodicAdvertiserList(train)) == .success)
      #expect(synchronize(.usesAdvertiserList) == .success)
    } else {
      #expect(synchronize() == .success)
    }
    pair.air.run(for: .seconds(2))
    let (status, sync) = try #require(scanner.syncs.first)
    #expect(status == .success)
    #expect(sync.advertiser == HCI.PeriodicAdvertiser(Self.identity, advertisingSID: 3))
    #expect(pair.advertisers.allSatisfy { PrivatePair.isPrivate($0, PrivatePair.peripheralKey) })
    #expect(scanner.periodicReports.count > 20)
    // The train is already received, although its advertiser's address may have changed.
    #expect(synchronize() == .connectionAlreadyExists)
  }

  @Test("A train with an identity address is found in device privacy mode and not in network privacy mode")
  func privacyModes() {
    for isDevicePrivacy in [false, true] {
      let other = PrivateTrainTests()
      other.scanner.send(
        .leSetPrivacyMode(HCI.PeerAddress(other.advertiser.address), isDevicePrivacy: isDevicePrivacy))
      other.advertise(as: .public)
      other.scanner.startScan()
      #expect(other.synchronize() == .success)
      other.pair.air.run(for: .seconds(2))
      #expect(other.scanner.syncs.isEmpty != isDevicePrivacy)
    }
  }

  @Test("The recipient of a transfer gets the identity address of the train's advertiser")
  func transfer() throws {
    advertise()
    let connectable = HCI.ExtendedAdvertisingParameters.every100ms(2, .connectable) {
      $0.ownAddressType = .resolvableOrPublic
      $0.peer = HCI.PeerAddress(scanner.address)
    }
    #expect(advertiser.send(.leSetExtendedAdvertisingParameters(connectable)) == .success)
    #expect(advertiser.enable(2) == .success)
    var request = HCI.ExtendedCreateConnection.extended(to: advertiser)
    request.ownAddressType = .resolvableOrPublic
    #expect(scanner.send(.leExtendedCreateConnection(request)) == .success)
    let keeping = HCI.SyncKeeping(timeout: 200)
    let parameters = HCI.SyncTransferParameters(mode: .reporting, keeping: keeping)
    #expect(scanner.send(.leSetDefaultPeriodicAdvertisingSyncTransferParameters(parameters)) == .success)
    pair.air.run(for: .seconds(1))
    let handle = try #require(advertiser.connectionCompletes.first).handle
    advertiser.send(.leReadRemoteFeatures(handle))
    pair.air.run(for: .seconds(1))
    #expect(advertiser.send(.lePeriodicAdvertisingSetInfoTransfer(handle, serviceData: 5, 1)) == .success)
    pair.air.run(for: .seconds(1))
    let (status, _, _, sync) = try #require(scanner.syncTransfers.first)
    #expect(status == .success)
    #expect(sync.advertiser == HCI.PeriodicAdvertiser(Self.identity, advertisingSID: 3))
    #expect(!scanner.periodicReports.isEmpty)
  }

  @Test("The resolving list can't be changed while a Create Sync is pending")
  func inUse() {
    let peer = HCI.PeerAddress(advertiser.address)
    let changes: [HCI.Command] = [
      .leSetPrivacyMode(peer, isDevicePrivacy: true),
      .leAddDeviceToResolvingList(HCI.PeerAddress(type: 0, value: 9), peerIRK: 3, localIRK: 4),
      .leRemoveDeviceFromResolvingList(peer), .leClearResolvingList, .leSetAddressResolutionEnable(false),
    ]
    #expect(synchronize() == .success)
    for command in changes { #expect(scanner.send(command) == .commandDisallowed) }
    #expect(scanner.send(.lePeriodicAdvertisingCreateSyncCancel) == .success)
    for command in changes { #expect(scanner.send(command) == .success) }
  }

  @Test(
    "The duplicate filter recognizes an advertiser after a change of its private address", arguments: [false, true])
  func duplicates(isExtended: Bool) {
    #expect(advertiser.send(.leSetResolvablePrivateAddressTimeout(10)) == .success)
    if isExtended {
      advertise()
      scanner.startScan(HCI.ExtendedScanEnable(true, duplicates: .on))
    } else {
      pair.advertise(.nonConnectableUndirected)
      let parameters = HCI.ScanParameters(isActive: false, interval: 48, window: 48, ownAddressType: .public)
      #expect(scanner.send(.leSetScanParameters(parameters)) == .success)
      #expect(scanner.send(.leSetScanEnable(true, filterDuplicates: true)) == .success)
    }
    pair.air.run(for: .seconds(25))
    #expect(pair.advertisers.count >= 3)
    let reported = scanner.reports.map(\.address) + scanner.extendedReports.map(\.address)
    #expect(reported == [Self.identity])
  }
}
