import BluetoothWire

/// One of each command, return parameter and event of extended and periodic advertising and of later versions.
enum HCISamples {
  private static let handle = HCI.ConnectionHandle(rawValue: 0x0E01)
  private static let set = HCI.AdvertisingHandle(rawValue: 0xEF)
  private static let sync = HCI.SyncHandle(rawValue: 0x0ABC)
  private static let peer = HCI.PeerAddress(DeviceAddress(0xC102_0304_0506, .random))
  private static let advertiser = HCI.PeriodicAdvertiser(peer, advertisingSID: 0x0F)
  private static let keeping = HCI.SyncKeeping(skip: 3, timeout: 0x0123, cteType: 0b10001)
  private static let scan = HCI.ExtendedScanParameters.Scan(isActive: true, interval: 96, window: 48)
  private static let initiating = HCI.ExtendedCreateConnection.Initiating(
    scanInterval: 96, scanWindow: 48,
    parameters: LinkParameters(minimumInterval: 24, maximumInterval: 40, latency: 3, supervisionTimeout: 420),
    eventLength: HCI.ConnectionEventLength(minimum: 2, maximum: 7))
  private static let octets = ByteSlice([UInt8](1...200))

  private static func parameters(v2 isV2: Bool) -> HCI.ExtendedAdvertisingParameters {
    HCI.ExtendedAdvertisingParameters(
      handle: set, properties: [.connectable, .includesTransmitPower], minimumInterval: 0x01_0203,
      maximumInterval: 0x0A_0B0C, channelMap: 0b011, ownAddressType: .resolvableOrRandom, peer: peer, filterPolicy: 2,
      transmitPower: -12, primaryPHY: .leCoded, secondaryMaximumSkip: 9, secondaryPHY: .le2M, advertisingSID: 11,
      notifiesOfScanRequests: true, primaryCoding: isV2 ? .requiresS2 : .noPreference,
      secondaryCoding: isV2 ? .prefersS8 : .noPreference)
  }

  static let commands: [HCI.Command] = extended + periodic + later

  private static let extended: [HCI.Command] = [
    .leSetAdvertisingSetRandomAddress(set, 0xC102_0304_0506),
    .leSetExtendedAdvertisingParameters(parameters(v2: false)),
    .leSetExtendedAdvertisingParametersV2(parameters(v2: true)),
    .leSetExtendedAdvertisingData(set, HCI.AdvertisingDataFragment(.first, octets)),
    .leSetExtendedAdvertisingData(set, HCI.AdvertisingDataFragment(.unchanged, [])),
    .leSetExtendedScanResponseData(set, HCI.AdvertisingDataFragment(.complete, [1], mayFragment: false)),
    .leSetExtendedAdvertisingEnable(false, HCI.AdvertisingSetEnables([], in: PacketPool())),
    .leSetExtendedAdvertisingEnable(
      true,
      HCI.AdvertisingSetEnables(
        [.init(set, duration: 700, maximumEvents: 5), .init(HCI.AdvertisingHandle(rawValue: 0))], in: PacketPool())),
    .leReadMaximumAdvertisingDataLength, .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet(set),
    .leClearAdvertisingSets,
    .leSetExtendedScanParameters(
      HCI.ExtendedScanParameters(ownAddressType: .random, filterPolicy: 2, le1M: scan, leCoded: scan)),
    .leSetExtendedScanParameters(
      HCI.ExtendedScanParameters(ownAddressType: .public, le1M: nil, leCoded: scan)),
    .leSetExtendedScanEnable(HCI.ExtendedScanEnable(true, duplicates: .resetEachPeriod, duration: 300, period: 4)),
    .leExtendedCreateConnection(
      HCI.ExtendedCreateConnection(
        usesAcceptList: false, ownAddressType: .random, peer: peer, le1M: initiating, le2M: initiating,
        leCoded: initiating)),
    .leExtendedCreateConnection(
      HCI.ExtendedCreateConnection(usesAcceptList: true, ownAddressType: .public, peer: peer, le1M: initiating)),
    .leSetDataRelatedAddressChanges(set, [.advertisingData, .scanResponseData]),
  ]

  private static let periodic: [HCI.Command] = [
    .leSetPeriodicAdvertisingParameters(
      HCI.PeriodicAdvertisingParameters(
        handle: set, minimumInterval: 80, maximumInterval: 160, properties: .includesTransmitPower)),
    .leSetPeriodicAdvertisingData(set, HCI.AdvertisingDataFragment(.last, octets)),
    .leSetPeriodicAdvertisingEnable([.enabled, .includesADI], set),
    .lePeriodicAdvertisingCreateSync(
      HCI.PeriodicAdvertisingCreateSync(
        options: [.reportingDisabled, .filtersDuplicates], advertiser: advertiser, keeping: keeping)),
    .lePeriodicAdvertisingCreateSyncCancel, .lePeriodicAdvertisingTerminateSync(sync),
    .leAddDeviceToPeriodicAdvertiserList(advertiser), .leRemoveDeviceFromPeriodicAdvertiserList(advertiser),
    .leClearPeriodicAdvertiserList, .leReadPeriodicAdvertiserListSize,
    .leSetPeriodicAdvertisingReceiveEnable(sync, [.reporting]),
    .lePeriodicAdvertisingSyncTransfer(handle, serviceData: 0x1234, sync),
    .lePeriodicAdvertisingSetInfoTransfer(handle, serviceData: 0x5678, set),
    .leSetPeriodicAdvertisingSyncTransferParameters(
      handle, HCI.SyncTransferParameters(mode: .reportingWithoutDuplicates, keeping: keeping)),
    .leSetDefaultPeriodicAdvertisingSyncTransferParameters(
      HCI.SyncTransferParameters(mode: .ignored, keeping: keeping)),
  ]

  private static let later: [HCI.Command] = [
    .leReadRFPathCompensation, .leWriteRFPathCompensation(transmit: -1280, receive: 55),
    .leGenerateDHKeyV2(ByteSlice([UInt8](0..<64)), usesDebugKey: true),
    .leModifySleepClockAccuracy(isLessAccurate: true), .leRequestPeerSCA(handle),
    .leSetHostFeature(bit: 41, true),
  ]

  static let returns: [(HCI.Opcode, HCI.ReturnParameters)] = [
    (.leSetExtendedAdvertisingParameters, .leSelectedTransmitPower(-3)),
    (.leSetExtendedAdvertisingParametersV2, .leSelectedTransmitPower(8)),
    (.leReadMaximumAdvertisingDataLength, .leMaximumAdvertisingDataLength(1650)),
    (.leReadNumberOfSupportedAdvertisingSets, .leNumberOfSupportedAdvertisingSets(16)),
    (.leReadPeriodicAdvertiserListSize, .lePeriodicAdvertiserListSize(8)),
    (.leReadRFPathCompensation, .leRFPathCompensation(transmit: -10, receive: 20)),
    (.lePeriodicAdvertisingSyncTransfer, .handle(.success, handle)),
    (.lePeriodicAdvertisingSetInfoTransfer, .handle(.unknownAdvertisingIdentifier, handle)),
    (.leSetPeriodicAdvertisingSyncTransferParameters, .handle(.success, handle)),
    (.leSetExtendedAdvertisingEnable, .status(.unknownAdvertisingIdentifier)),
  ]

  static let events: [HCI.Event] = [
    .encryptionChangeV2(.success, handle, enabled: 1, keySize: 16),
    .leDirectedAdvertisingReport(
      HCI.DirectedAdvertisingReport(
        address: peer, directAddress: HCI.PeerAddress(type: 0xFE, value: 0x4102_0304_0506), rssi: -60)),
    .lePeriodicAdvertisingSyncEstablished(
      .success,
      HCI.PeriodicSync(handle: sync, advertiser: advertiser, advertiserPHY: 3, interval: 0x1234, clockAccuracy: 5)),
    .lePeriodicAdvertisingSyncEstablished(.connectionFailedToBeEstablished, .none),
    .lePeriodicAdvertisingReport(
      HCI.PeriodicAdvertisingReport(handle: sync, transmitPower: 4, rssi: -77, status: .moreToCome, data: octets)),
    .lePeriodicAdvertisingSyncLost(sync),
    .leScanRequestReceived(set, scanner: peer),
    .lePeriodicAdvertisingSyncTransferReceived(
      .success, handle, serviceData: 0x1234,
      HCI.PeriodicSync(handle: sync, advertiser: advertiser, advertiserPHY: 1, interval: 80, clockAccuracy: 0)),
    .leRequestPeerSCAComplete(.success, handle, clockAccuracy: 7),
  ]
}
