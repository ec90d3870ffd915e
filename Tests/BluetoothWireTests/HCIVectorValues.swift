import BluetoothWire

/// The expected values of the rows of `hci.json` by name, written from their fields and independent of their octets.
enum HCIVectorValues {
  private static let handle = HCI.ConnectionHandle(rawValue: 64)
  private static let set = HCI.AdvertisingHandle(rawValue: 1)
  private static let peer = HCI.PeerAddress(type: 1, value: 0xC102_0304_0506)
  private static let nobody = HCI.PeerAddress(type: 0, value: 0)
  private static let key: UInt128 = 0x4C68_3841_39F5_74D8_36BC_F34E_9DFB_01BF
  private static let length = HCI.DataLength(octets: 251, time: 2120)

  private static func parameters(_ minimum: UInt16, _ maximum: UInt16, timeout: UInt16) -> LinkParameters {
    LinkParameters(minimumInterval: minimum, maximumInterval: maximum, latency: 0, supervisionTimeout: timeout)
  }

  static let commands: [String: HCI.Command] = [
    "Reset": .reset, "Set Event Mask (default | LE Meta)": .setEventMask(.init(rawValue: 4_449_547_670_108_504_063)),
    "Read BD_ADDR": .readBDADDR, "Read Local Version": .readLocalVersionInformation,
    "LE Set Event Mask": .leSetEventMask(.initial),
    "LE Read Buffer Size v1": .leReadBufferSize, "LE Set Random Address": .leSetRandomAddress(peer.value),
    "LE Set Advertising Parameters": .leSetAdvertisingParameters(
      HCI.AdvertisingParameters(
        minimumInterval: 160, maximumInterval: 240, type: .connectableScannableUndirected, ownAddressType: .random,
        peer: nobody, channelMap: 7, filterPolicy: 0)),
    "LE Set Advertising Data": .leSetAdvertisingData(ByteSlice([2, 1, 6, 10, 9] + Array("Swift-BLE".utf8))),
    "LE Set Scan Response Data": .leSetScanResponseData([3, 3, 0x0F, 0x18]),
    "LE Set Advertise Enable on": .leSetAdvertisingEnable(true),
    "LE Set Scan Parameters": .leSetScanParameters(
      HCI.ScanParameters(isActive: true, interval: 16, window: 16, ownAddressType: .random)),
    "LE Set Scan Enable": .leSetScanEnable(true, filterDuplicates: true),
    "LE Create Connection": .leCreateConnection(
      HCI.CreateConnection(
        scanInterval: 96, scanWindow: 48, usesAcceptList: false, peer: peer, ownAddressType: .public,
        parameters: parameters(24, 40, timeout: 42))),
    "LE Create Connection Cancel": .leCreateConnectionCancel,
    "LE Add Device To Filter Accept List": .leAddDeviceToFilterAcceptList(peer),
    "LE Connection Update": .leConnectionUpdate(handle, parameters(6, 12, timeout: 200), HCI.ConnectionEventLength()),
    "LE Encrypt (Core session-key sample)": .leEncrypt(
      key: key, plaintext: 0x0213_2435_4657_6879_ACBD_CEDF_E0F1_0213),
    "LE Rand": .leRand,
    "LE Enable Encryption": .leEnableEncryption(
      handle, random: 0xABCD_EF12_3456_7890, encryptedDiversifier: 9332, longTermKey: key),
    "LE Long Term Key Request Reply": .leLongTermKeyRequestReply(handle, longTermKey: key),
    "LE Long Term Key Request Negative Reply": .leLongTermKeyRequestNegativeReply(handle),
    "LE Set Data Length": .leSetDataLength(handle, length), "LE Read Local P-256 Public Key": .leReadLocalP256PublicKey,
    "LE Add Device To Resolving List": .leAddDeviceToResolvingList(
      peer, peerIRK: 0xEC02_34A3_57C8_AD05_3410_10A6_0A39_7D9B, localIRK: 0),
    "LE Set PHY": .leSetPHY(handle, HCI.PHYPreference(transmit: .le2M, receive: .le2M), options: 0),
    "LE Set Extended Advertising Parameters v1": .leSetExtendedAdvertisingParameters(
      HCI.ExtendedAdvertisingParameters(
        handle: set, properties: [.legacy, .connectable, .scannable], minimumInterval: 160, maximumInterval: 160,
        channelMap: 7, ownAddressType: .random, peer: nobody, filterPolicy: 0, transmitPower: 127, primaryPHY: .le1M,
        secondaryMaximumSkip: 0, secondaryPHY: .le1M, advertisingSID: 3, notifiesOfScanRequests: false)),
    "LE Set Extended Advertising Enable, two sets": .leSetExtendedAdvertisingEnable(
      true,
      HCI.AdvertisingSetEnables(
        [
          .init(HCI.AdvertisingHandle(rawValue: 1), duration: 500, maximumEvents: 0),
          .init(HCI.AdvertisingHandle(rawValue: 2), duration: 0, maximumEvents: 5),
        ], in: PacketPool())),
    "LE Set Extended Scan Parameters": .leSetExtendedScanParameters(
      HCI.ExtendedScanParameters(
        ownAddressType: .random, filterPolicy: 0, le1M: .init(isActive: true, interval: 16, window: 16),
        leCoded: .init(isActive: true, interval: 32, window: 32))),
    "LE Extended Create Connection": .leExtendedCreateConnection(
      HCI.ExtendedCreateConnection(
        usesAcceptList: false, ownAddressType: .random, peer: peer,
        le1M: .init(
          scanInterval: 96, scanWindow: 48, parameters: parameters(24, 40, timeout: 42),
          eventLength: HCI.ConnectionEventLength()))),
    "Disconnect": .disconnect(handle, reason: .remoteUserTerminatedConnection),
  ]

  private static func complete(
    _ handle: UInt16, role: UInt8, _ peer: HCI.PeerAddress, resolvedFrom address: UInt64 = 0, interval: UInt16,
    timeout: UInt16, accuracy: UInt8
  ) -> HCI.ConnectionComplete {
    HCI.ConnectionComplete(
      status: .success, handle: HCI.ConnectionHandle(rawValue: handle), role: role, peer: peer,
      localResolvablePrivateAddress: 0, peerResolvablePrivateAddress: address,
      values: HCI.ConnectionValues(interval: interval, latency: 0, supervisionTimeout: timeout),
      centralClockAccuracy: accuracy)
  }

  static let events: [String: HCI.Event] = [
    "Command Complete (Reset)": .commandComplete(credits: 1, .reset, .status(.success)),
    "Command Complete (Read BD_ADDR)": .commandComplete(credits: 1, .readBDADDR, .bdADDR(0x1122_3344_5566)),
    "Command Complete (LE Read Buffer Size v1)": .commandComplete(
      credits: 1, .leReadBufferSize, .leBufferSize(aclLength: 251, aclCount: 8)),
    "Command Complete (LE Encrypt, Core sample)": .commandComplete(
      credits: 2, .leEncrypt, .leEncrypt(0x99AD_1B52_26A3_7E3E_058E_3B8E_27C2_C666)),
    "Command Complete, unknown command": .commandComplete(
      credits: 1, HCI.Opcode(rawValue: 0x3FFF), .unknown([0x01])),
    "Command Status (LE Create Connection)": .commandStatus(.success, credits: 1, .leCreateConnection),
    "Command Status error": .commandStatus(.commandDisallowed, credits: 1, .leCreateConnection),
    "Number Of Completed Packets, two handles": .numberOfCompletedPackets(
      HCI.CompletedPackets(
        [.init(handle: handle, count: 1), .init(handle: HCI.ConnectionHandle(rawValue: 65), count: 3)],
        in: PacketPool())),
    "Disconnection Complete": .disconnectionComplete(.success, handle, reason: .remoteUserTerminatedConnection),
    "Encryption Change v1": .encryptionChange(.success, handle, enabled: 1),
    "Encryption Key Refresh Complete": .encryptionKeyRefreshComplete(.success, handle),
    "Hardware Error": .hardwareError(66),
    "LE Connection Complete": .leConnectionComplete(
      complete(64, role: 0, peer, interval: 24, timeout: 42, accuracy: 0)),
    "LE Connection Complete error (cancelled)": .leConnectionComplete(
      HCI.ConnectionComplete(failure: .unknownConnectionIdentifier)),
    "LE Connection Update Complete": .leConnectionUpdateComplete(
      .success, handle, HCI.ConnectionValues(interval: 12, latency: 0, supervisionTimeout: 200)),
    "LE Read Remote Features Complete": .leReadRemoteFeaturesComplete(
      .success, handle, HCI.LEFeatures(rawValue: 84_479)),
    "LE Long Term Key Request": .leLongTermKeyRequest(
      handle, random: 0xABCD_EF12_3456_7890, encryptedDiversifier: 9332),
    "LE Remote Connection Parameter Request": .leRemoteConnectionParameterRequest(
      handle, parameters(6, 12, timeout: 200)),
    "LE Data Length Change": .leDataLengthChange(handle, transmit: length, receive: length),
    "LE Enhanced Connection Complete v1": .leEnhancedConnectionComplete(
      complete(
        65, role: 0, HCI.PeerAddress(type: 1, value: 0x5439_A347_D877), interval: 80, timeout: 200, accuracy: 5)),
    "LE Enhanced Connection Complete, resolved peer": .leEnhancedConnectionComplete(
      complete(
        64, role: 1, HCI.PeerAddress(type: 3, value: peer.value), resolvedFrom: 0x7081_940D_FBAA, interval: 24,
        timeout: 42, accuracy: 1)),
    "LE Directed Advertising Report": .leDirectedAdvertisingReport(
      HCI.DirectedAdvertisingReport(
        address: peer, directAddress: HCI.PeerAddress(type: 1, value: 0x7081_940D_FBAA), rssi: -60)),
    "LE PHY Update Complete": .lePHYUpdateComplete(.success, handle, transmit: 2, receive: 2),
    "LE Scan Timeout": .leScanTimeout,
    "LE Advertising Set Terminated": .leAdvertisingSetTerminated(.success, set, handle, completedEvents: 3),
    "LE Channel Selection Algorithm": .leChannelSelectionAlgorithm(handle, 1),
    "Vendor event": .unknown(code: 0xFF, [1, 2, 3]),
  ]

  private static let proximity: [UInt8] =
    [2, 1, 0x1A, 7, 3, 3, 0x18, 4, 0x18, 2, 0x18, 10, 9] + Array("Proximity".utf8)

  private static func report(
    _ type: HCI.AdvertisingReport.EventType, _ address: HCI.PeerAddress, _ data: [UInt8], _ rssi: Int8
  ) -> HCI.AdvertisingReport {
    HCI.AdvertisingReport(type: type, address: address, data: ByteSlice(data), rssi: rssi)
  }

  static let reports: [String: [HCI.AdvertisingReport]] = [
    "LE Advertising Report, one": [
      report(.connectableScannable, HCI.PeerAddress(type: 0, value: 0x58E2_8F7C_0BB3), proximity, -45)
    ],
    "LE Advertising Report, empty scan response": [
      report(.scanResponse, HCI.PeerAddress(type: 0, value: 0x58E2_8F7C_0BB3), [], -44)
    ],
    "LE Advertising Report, scan response with a name": [
      report(
        .scanResponse, HCI.PeerAddress(type: 0, value: 0x001A_AE06_EF9E), [11, 9] + Array("BlueZ 5.43".utf8), -70)
    ],
    "LE Advertising Report, three reports": [
      report(.connectableScannable, peer, [2, 1, 6], -60),
      report(.nonConnectable, HCI.PeerAddress(type: 0, value: 0x1122_3344_5566), [2, 0x0A, 4], -70),
      report(.scanResponse, peer, [], -59),
    ],
  ]

  private static func extended(
    _ type: UInt16, _ address: HCI.PeerAddress, primary: UInt8 = 1, secondary: UInt8, sid: UInt8, rssi: Int8,
    _ data: [UInt8]
  ) -> HCI.ExtendedAdvertisingReport {
    HCI.ExtendedAdvertisingReport(
      type: .init(rawValue: type), address: address, primaryPHY: primary, secondaryPHY: secondary, advertisingSID: sid,
      transmitPower: 127, rssi: rssi, periodicAdvertisingInterval: 0, directAddress: nobody, data: ByteSlice(data))
  }

  private static let thermometer: [UInt8] =
    [13, 9] + Array("GVH5072_7A27".utf8) + [3, 3, 0x88, 0xEC, 2, 1, 5, 9, 0xFF, 0x88, 0xEC, 0, 3, 0x94, 0x90, 0x64, 0]
  private static let thermometerAddress = HCI.PeerAddress(type: 0, value: 0xA4C1_382D_7A27)

  static let extendedReports: [String: [HCI.ExtendedAdvertisingReport]] = [
    "LE Extended Advertising Report, legacy PDU": [
      extended(0x13, thermometerAddress, secondary: 0, sid: 0xFF, rssi: -37, thermometer)
    ],
    "LE Extended Advertising Report as logged (reserved bits set)": [
      extended(42_515, thermometerAddress, primary: 129, secondary: 0, sid: 0xFF, rssi: -37, thermometer)
    ],
    "LE Extended Advertising Report, fragmented then complete, two reports": [
      extended(0x20, peer, secondary: 2, sid: 3, rssi: -60, [2, 1, 6]),
      extended(0x00, peer, secondary: 2, sid: 3, rssi: -60, [1, 9]),
    ],
  ]

  /// Boundary, channel (nil for a continuation) and payload without the L2CAP header.
  static let data: [String: (boundary: HCI.ACLData.Boundary, channel: UInt16?, payload: [UInt8])] = [
    "ACL host to controller: ATT Exchange MTU Request": (.firstNonFlushable, 4, [2, 0xF7, 0]),
    "ACL controller to host: ATT Exchange MTU Response": (.firstFlushable, 4, [3, 0x17, 0]),
    "ACL first fragment of 30-octet L2CAP": (.firstNonFlushable, 4, [0x1B, 0x12, 0] + [UInt8](0...0x13)),
    "ACL continuation": (.continuing, nil, [0x14, 0x15, 0x16]),
    "ACL SMP Pairing Request": (.firstNonFlushable, 6, [1, 3, 0, 1, 16, 0, 1]),
    "ACL LE signalling": (.firstFlushable, 5, [0x12, 1, 8, 0, 0x18, 0, 0x28, 0, 0, 0, 0x2A, 0]),
  ]
}
