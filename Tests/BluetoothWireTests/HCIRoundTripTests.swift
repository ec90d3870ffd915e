import BluetoothWire
import Testing

private let handle = HCI.ConnectionHandle(rawValue: 0x0123)
private let peer = HCI.PeerAddress(DeviceAddress(0xC102_0304_0506, .random))
private let parameters = LinkParameters(
  minimumInterval: 24, maximumInterval: 40, latency: 3, supervisionTimeout: 420)
private let values = HCI.ConnectionValues(interval: 24, latency: 3, supervisionTimeout: 420)
private let eventLength = HCI.ConnectionEventLength(minimum: 2, maximum: 7)
private let key: UInt128 = 0x4C68_3841_39F5_74D8_36BC_F34E_9DFB_01BF
private let length = HCI.DataLength(octets: 251, time: 2120)

/// Packets that the host encodes decode to the same value at the controller, and vice versa.
struct HCIRoundTripTests {
  private let pool = PacketPool()

  private static let commands: [HCI.Command] = [
    .disconnect(handle, reason: .remoteUserTerminatedConnection), .readRemoteVersionInformation(handle),
    .setEventMask([.leMeta, .disconnectionComplete]), .reset, .readTransmitPowerLevel(handle, isMaximum: true),
    .setControllerToHostFlowControl(.acl),
    .hostBufferSize(HCI.BufferSize(aclLength: 251, aclCount: 12, synchronousLength: 3, synchronousCount: 4)),
    .setEventMaskPage2(.authenticatedPayloadTimeoutExpired), .readLEHostSupport, .writeLEHostSupport(true),
    .readAuthenticatedPayloadTimeout(handle), .writeAuthenticatedPayloadTimeout(handle, 3000),
    .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures,
    .readLocalExtendedFeatures(page: 2), .readBufferSize, .readBDADDR, .readRSSI(handle), .leSetEventMask(.initial),
    .leReadBufferSize, .leReadBufferSizeV2, .leReadLocalSupportedFeatures, .leSetRandomAddress(0xC102_0304_0506),
    .leSetAdvertisingParameters(
      HCI.AdvertisingParameters(
        minimumInterval: 160, maximumInterval: 240, type: .connectableDirectedLowDutyCycle, ownAddressType: .random,
        peer: peer, channelMap: 0b101, filterPolicy: 3)),
    .leReadAdvertisingPhysicalChannelTxPower, .leSetAdvertisingData([1, 2, 3]), .leSetScanResponseData([]),
    .leSetAdvertisingEnable(true),
    .leSetScanParameters(
      HCI.ScanParameters(isActive: true, interval: 48, window: 32, ownAddressType: .resolvableOrRandom, filterPolicy: 1)
    ),
    .leSetScanEnable(true, filterDuplicates: false),
    .leCreateConnection(
      HCI.CreateConnection(
        scanInterval: 96, scanWindow: 48, usesAcceptList: true, peer: peer, ownAddressType: .random,
        parameters: parameters, eventLength: eventLength)),
    .leCreateConnectionCancel, .leReadFilterAcceptListSize, .leClearFilterAcceptList,
    .leAddDeviceToFilterAcceptList(peer), .leRemoveDeviceFromFilterAcceptList(peer),
    .leConnectionUpdate(handle, parameters, eventLength), .leSetHostChannelClassification(0x1F_FFFF_FF00),
    .leReadChannelMap(handle), .leReadRemoteFeatures(handle), .leEncrypt(key: key, plaintext: 1), .leRand,
    .leEnableEncryption(handle, random: 7, encryptedDiversifier: 8, longTermKey: key),
    .leLongTermKeyRequestReply(handle, longTermKey: key), .leLongTermKeyRequestNegativeReply(handle),
    .leReadSupportedStates, .leRemoteConnectionParameterRequestReply(handle, parameters, eventLength),
    .leRemoteConnectionParameterRequestNegativeReply(handle, reason: .unacceptableConnectionParameters),
    .leSetDataLength(handle, length), .leReadSuggestedDefaultDataLength, .leWriteSuggestedDefaultDataLength(length),
    .leReadLocalP256PublicKey, .leGenerateDHKey(ByteSlice([UInt8](0..<64))),
    .leAddDeviceToResolvingList(peer, peerIRK: key, localIRK: 2), .leRemoveDeviceFromResolvingList(peer),
    .leClearResolvingList, .leReadResolvingListSize, .leReadPeerResolvableAddress(peer),
    .leReadLocalResolvableAddress(peer), .leSetAddressResolutionEnable(true),
    .leSetResolvablePrivateAddressTimeout(900), .leReadMaximumDataLength, .leReadPHY(handle),
    .leSetDefaultPHY(HCI.PHYPreference(transmit: nil, receive: [.le1M, .le2M])),
    .leSetPHY(handle, HCI.PHYPreference(transmit: .le2M, receive: nil), options: 1), .leReadTransmitPower,
    .leSetPrivacyMode(peer, isDevicePrivacy: true), .unknown(HCI.Opcode(rawValue: 0xFC01), [1, 2, 3]),
  ]

  @Test(
    "A command survives encoding, and is refused if an octet is missing or too many",
    arguments: commands + HCISamples.commands)
  func command(_ command: HCI.Command) throws {
    guard case .command(let opcode, let octets) = command.packet(in: pool) else {
      Issue.record("not a command")
      return
    }
    #expect(try HCI.Command(opcode: opcode, parameters: octets) == command)
    if case .unknown = command { return }
    #expect(opcode.name != nil)
    #expect(throws: DecodingError.excess) {
      try HCI.Command(opcode: opcode, parameters: ByteSlice(octets.bytes + [0]))
    }
    guard !octets.isEmpty else { return }
    #expect(throws: DecodingError.self) { try HCI.Command(opcode: opcode, parameters: octets.prefix(octets.count - 1)) }
  }

  private static let returns: [(HCI.Opcode, HCI.ReturnParameters)] = [
    (.reset, .status(.success)), (.leSetScanEnable, .status(.commandDisallowed)),
    (.leLongTermKeyRequestReply, .handle(.success, handle)),
    (.readRSSI, .handle(.unknownConnectionIdentifier, handle)),
    (
      .readLocalVersionInformation,
      .localVersionInformation(
        HCI.VersionInformation(
          hciVersion: 13, hciSubversion: 1, lmpVersion: 13, companyIdentifier: 0xFFFF, lmpSubversion: 2))
    ),
    (.readLocalSupportedCommands, .localSupportedCommands(HCI.SupportedCommands([.reset, .leReadTransmitPower]))),
    (.readLocalSupportedFeatures, .localSupportedFeatures([.leSupported, .extendedFeatures])),
    (.readLocalExtendedFeatures, .localExtendedFeatures(page: 1, maximumPage: 2, 0x02)),
    (.readBufferSize, .bufferSize(HCI.BufferSize(aclLength: 1021, aclCount: 6))),
    (.readBDADDR, .bdADDR(0x1122_3344_5566)),
    (.readTransmitPowerLevel, .transmitPowerLevel(handle, -8)), (.readLEHostSupport, .leHostSupport(true)),
    (.readAuthenticatedPayloadTimeout, .authenticatedPayloadTimeout(handle, 3000)), (.readRSSI, .rssi(handle, -70)),
    (.leReadBufferSize, .leBufferSize(aclLength: 251, aclCount: 64)),
    (.leReadBufferSizeV2, .leBufferSizeV2(aclLength: 251, aclCount: 64, isoLength: 0, isoCount: 0)),
    (
      .leReadLocalSupportedFeatures,
      .leLocalSupportedFeatures([.dataPacketLengthExtension, .minimumNumberOfUsedChannels])
    ),
    (.leReadAdvertisingPhysicalChannelTxPower, .leAdvertisingPhysicalChannelTxPower(4)),
    (.leReadFilterAcceptListSize, .leFilterAcceptListSize(16)),
    (.leReadChannelMap, .leChannelMap(handle, 0x1F_0000_00FF)),
    (.leEncrypt, .leEncrypt(key)), (.leRand, .leRand(.max - 1)), (.leReadSupportedStates, .leSupportedStates(0x3FF)),
    (.leReadSuggestedDefaultDataLength, .leSuggestedDefaultDataLength(length)),
    (.leReadResolvingListSize, .leResolvingListSize(8)),
    (.leReadPeerResolvableAddress, .lePeerResolvableAddress(0x4102_0304_0506)),
    (.leReadLocalResolvableAddress, .leLocalResolvableAddress(0x4102_0304_0507)),
    (.leReadMaximumDataLength, .leMaximumDataLength(transmit: length, receive: HCI.DataLength(octets: 27, time: 328))),
    (.leReadPHY, .lePHY(handle, transmit: 1, receive: 2)),
    (.leReadTransmitPower, .leTransmitPower(minimum: -20, maximum: 8)),
    (HCI.Opcode(rawValue: 0xFC01), .unknown([0, 1, 2])), (.none, .unknown([])),
  ]

  @Test(
    "Return parameters survive encoding, and are an error if an octet is missing",
    arguments: returns + HCISamples.returns)
  func returnParameters(_ opcode: HCI.Opcode, _ parameters: HCI.ReturnParameters) throws {
    let event = HCI.Event.commandComplete(credits: 1, opcode, parameters)
    guard case .event(let code, let octets) = event.packet(in: pool) else {
      Issue.record("not an event")
      return
    }
    #expect(try HCI.Event(code: code, parameters: octets) == event)
    if case .unknown = parameters { return }
    if case .handle(let status, _) = parameters, status != .success { return }
    #expect(throws: DecodingError.truncated) {
      try HCI.Event(code: code, parameters: octets.prefix(octets.count - 1))
    }
  }

  @Test("A failed command that returns only its status is decoded")
  func failureWithoutHandle() throws {
    let event = try HCI.Event(code: 0x0E, parameters: [1, 0x05, 0x14, 0x02])
    #expect(event == .commandComplete(credits: 1, .readRSSI, .status(.unknownConnectionIdentifier)))
  }

  private static let complete = HCI.ConnectionComplete(
    status: .success, handle: handle, role: 1, peer: peer, localResolvablePrivateAddress: 0x4102_0304_0506,
    peerResolvablePrivateAddress: 0x4102_0304_0507, values: values, centralClockAccuracy: 5)

  private static let events: [HCI.Event] = [
    .disconnectionComplete(.success, handle, reason: .connectionTimeout),
    .encryptionChange(.success, handle, enabled: 1),
    .readRemoteVersionInformationComplete(
      .success, handle, HCI.RemoteVersion(version: 13, companyIdentifier: 0xFFFF, subversion: 9)),
    .commandStatus(.commandDisallowed, credits: 2, .leCreateConnection), .hardwareError(7),
    .dataBufferOverflow(linkType: 1),
    .encryptionKeyRefreshComplete(.success, handle), .authenticatedPayloadTimeoutExpired(handle),
    .leConnectionComplete(HCI.ConnectionComplete(failure: .unknownConnectionIdentifier)),
    .leEnhancedConnectionComplete(complete), .leConnectionUpdateComplete(.success, handle, values),
    .leReadRemoteFeaturesComplete(.success, handle, [.encryption, .ping]),
    .leLongTermKeyRequest(handle, random: 3, encryptedDiversifier: 4),
    .leRemoteConnectionParameterRequest(handle, parameters),
    .leDataLengthChange(handle, transmit: length, receive: HCI.DataLength(octets: 27, time: 328)),
    .leReadLocalP256PublicKeyComplete(.success, ByteSlice([UInt8](0..<64))),
    .leGenerateDHKeyComplete(.success, ByteSlice([UInt8](0..<32))),
    .lePHYUpdateComplete(.success, handle, transmit: 2, receive: 1),
    .leScanTimeout,
    .leAdvertisingSetTerminated(.success, HCI.AdvertisingHandle(rawValue: 1), handle, completedEvents: 3),
    .leChannelSelectionAlgorithm(handle, 1), .unknownLE(subevent: 0xF0, [1]), .unknown(code: 0xFF, [1, 2, 3]),
  ]

  @Test("An event survives encoding, and a truncated one is an error", arguments: events + HCISamples.events)
  func event(_ event: HCI.Event) throws {
    guard case .event(let code, let octets) = event.packet(in: pool) else {
      Issue.record("not an event")
      return
    }
    #expect(try HCI.Event(code: code, parameters: octets) == event)
    let longer = try HCI.Event(code: code, parameters: ByteSlice(octets.bytes + [9]))
    #expect(longer.encoded(in: pool).kind == event.encoded(in: pool).kind)
    switch event {
    case .unknown, .unknownLE: break
    default:
      for count in 0..<octets.count {
        #expect(throws: DecodingError.truncated) { try HCI.Event(code: code, parameters: octets.prefix(count)) }
      }
    }
  }

  @Test("Every event and every command has a sample, or a test of its own")
  func samples() {
    let events = Set((Self.events + HCISamples.events).map { $0.encoded(in: pool).kind })
    #expect(
      Set(HCI.EventDefinition.all.map(\.kind)).subtracting(events)
        == Set(
          [
            HCI.events.commandComplete, HCI.events.numberOfCompletedPackets, HCI.events.leAdvertisingReport,
            HCI.events.leExtendedAdvertisingReport,
          ].map(\.number)))
    let commands = Set((Self.commands + HCISamples.commands).map(\.opcode))
    // The tests of the radio are known by name only.
    #expect(
      Set(HCI.CommandDefinition.all.map(\.opcode)).subtracting(commands) == [
        .hostNumberOfCompletedPackets, .leReceiverTest, .leTransmitterTest, .leTestEnd,
      ])
  }

  @Test("The rows of events and commands have different numbers, and the table finds each of them")
  func numbers() {
    let (events, commands) = (HCI.EventDefinition.all, HCI.CommandDefinition.all)
    #expect(events.count > 30 && Set(events.map(\.kind)).count == events.count)
    #expect(commands.count > 100 && Set(commands.map(\.opcode)).count == commands.count)
    for definition in events { #expect(definition.kind.definition === definition) }
    for definition in commands { #expect(definition.opcode.definition === definition) }
    #expect(HCI.EventKind(code: 0x3E, parameters: [0xF0]).definition == nil)
    #expect(HCI.Opcode(group: 0x3F, command: 1).definition == nil)
  }

  @Test("A row has the position of the keys exactly if a field is a key", arguments: events + HCISamples.events)
  func keys(_ event: HCI.Event) {
    let hasKey = event.fields.contains { "\($0)" == "hidden" }
    #expect((event.encoded(in: pool).kind.definition?.keys != nil) == hasKey)
  }

  @Test(
    "A command's row has the position of the keys exactly if a field is a key",
    arguments: commands + HCISamples.commands)
  func keys(_ command: HCI.Command) {
    let hasKey = command.fields.contains { "\($0)" == "hidden" }
    #expect((command.opcode.definition?.keys != nil) == hasKey)
  }

  @Test("Completed packets survive encoding in events and commands, for any number of connections")
  func completedPackets() throws {
    let elements = (0..<63).map {
      HCI.CompletedPackets.Element(handle: HCI.ConnectionHandle(rawValue: $0), count: $0 &* 3)
    }
    for count in [0, 1, 2, 63] {
      let packets = HCI.CompletedPackets(Array(elements.prefix(count)), in: pool)
      #expect(Array(packets) == Array(elements.prefix(count)))
      guard case .event(let code, let octets) = HCI.Event.numberOfCompletedPackets(packets).packet(in: pool),
        case .command(let opcode, let parameters) = HCI.Command.hostNumberOfCompletedPackets(packets).packet(in: pool)
      else {
        Issue.record("wrong kind of packet")
        return
      }
      #expect(try HCI.Event(code: code, parameters: octets) == .numberOfCompletedPackets(packets))
      #expect(try HCI.Command(opcode: opcode, parameters: parameters) == .hostNumberOfCompletedPackets(packets))
    }
  }

  @Test("An advertising report survives encoding with any length of data")
  func advertisingReport() throws {
    for count in 0...31 {
      let report = HCI.AdvertisingReport(
        type: .scanResponse, address: peer, data: ByteSlice([UInt8](0..<31)).prefix(count), rssi: -99)
      let event = HCI.Event.leAdvertisingReport(HCI.AdvertisingReports(report, in: pool))
      guard case .event(let code, let octets) = event.packet(in: pool),
        case .leAdvertisingReport(let reports) = try HCI.Event(code: code, parameters: octets)
      else {
        Issue.record("not a report")
        return
      }
      #expect(Array(reports) == [report])
    }
  }
}

struct HCIOpcodeTests {
  @Test("Opcodes have their names and the bits that the specification assigns")
  func positions() throws {
    #expect(HCI.Opcode.reset.description == "Reset")
    #expect(HCI.Opcode.reset.supportedCommandsPosition.map { [$0.octet, $0.bit] } == [5, 7])
    #expect(HCI.Opcode.leReadBufferSizeV2.supportedCommandsPosition.map { [$0.octet, $0.bit] } == [41, 5])
    #expect(HCI.Opcode.readLocalSupportedCommands.supportedCommandsPosition == nil)
    #expect(HCI.Opcode(rawValue: 0xFC01).description == "0xFC01")
    #expect(HCI.Opcode(group: 0x08, command: 0x0D) == .leCreateConnection)
    #expect(HCI.Opcode.leCreateConnection.group == 8 && HCI.Opcode.leCreateConnection.command == 0x0D)
  }

  @Test("Each command has a separate bit")
  func uniqueness() {
    var seen: Set<[Int]> = []
    for number: UInt16 in 0...0xFFFF {
      guard let (octet, bit) = HCI.Opcode(rawValue: number).supportedCommandsPosition else { continue }
      #expect(seen.insert([octet, bit]).inserted)
      #expect(octet < 64 && bit < 8)
    }
    #expect(seen.count > 70)
  }

  @Test("The bitmap contains the commands that were inserted, and no others")
  func bitmap() {
    var commands = HCI.SupportedCommands()
    #expect(commands.isEmpty)
    commands.insert(.leSetScanEnable)
    #expect(commands.contains(.leSetScanEnable))
    #expect(!commands.contains(.leSetScanParameters) && !commands.contains(.leCreateConnection))
    #expect(!commands.isEmpty)
    commands.insert(HCI.Opcode(rawValue: 0xFC01))
    #expect(!commands.contains(HCI.Opcode(rawValue: 0xFC01)))
  }
}
