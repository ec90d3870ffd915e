import BluetoothDaemon
import BluetoothHost
import BluetoothWire

@testable import BluetoothDaemonProtocol

/// Messages with random fields, at least one of each type.
struct MessageSamples {
  private var random: RandomStream
  /// True if every optional field has a value, no list and no text is empty, and every result is a success.
  private let isFull: Bool
  /// The peers that both sides know.
  static let peerCount: UInt32 = 1_000
  /// The numbering of both sides: the numbers are shifted, so that a number that is taken for a handle shows.
  static let numbering = PeerNumbering(
    number: { $0.index < peerCount ? $0.index + 7 : nil },
    peer: { $0 >= 7 && $0 < peerCount + 7 ? PeerHandle(index: $0 - 7) : nil })

  init(seed: UInt64, isFull: Bool = false) {
    random = RandomStream(seed: seed)
    self.isFull = isFull
  }

  // MARK: Values

  private mutating func number<T: FixedWidthInteger & UnsignedInteger>(_ type: T.Type = T.self) -> T {
    T(truncatingIfNeeded: random.next())
  }

  private mutating func bool() -> Bool { Bool.random(using: &random) }
  private mutating func count(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  private mutating func list<T>(_ body: (inout MessageSamples) -> T) -> [T] {
    (0..<(isFull ? 2 : count(0...4))).map { _ in body(&self) }
  }

  private mutating func optional<T>(_ body: (inout MessageSamples) -> T) -> T? { isFull || bool() ? body(&self) : nil }

  private mutating func octets(_ maximum: Int = 40) -> ByteSlice {
    ByteSlice((0..<(isFull ? 3 : count(0...maximum))).map { _ in number(UInt8.self) })
  }

  private mutating func text() -> String {
    (0..<(isFull ? 3 : count(0...8))).map { _ in ["a", "ü", "日", "👋🏽", "\n"].randomElement(using: &random) ?? "" }
      .joined()
  }

  private mutating func uuid() -> BluetoothUUID {
    switch count(0...2) {
    case 0: BluetoothUUID(number(UInt16.self))
    case 1: BluetoothUUID(number(UInt32.self))
    default: BluetoothUUID(high: number(), low: number())
    }
  }

  private mutating func uuids() -> [BluetoothUUID] { list { $0.uuid() } }
  private mutating func session() -> SessionNumber { SessionNumber(number()) }
  private mutating func peer() -> PeerHandle { PeerHandle(index: number() % Self.peerCount) }
  private mutating func identifier() -> PeerIdentifier { PeerIdentifier(high: number(), low: number()) }
  private mutating func attribute() -> RemoteAttributeID { RemoteAttributeID(number()) }
  private mutating func local() -> LocalAttributeID { LocalAttributeID(number: number()) }
  private mutating func channel() -> ChannelHandle { ChannelHandle(key: SlotKey(rawValue: number())) }
  private mutating func channelInfo() -> ChannelInfo { ChannelInfo(handle: channel(), psm: number()) }
  private mutating func address() -> DeviceAddress { DeviceAddress(number(), bool() ? .public : .random) }

  private mutating func info() -> PeerInfo {
    PeerInfo(handle: peer(), identifier: identifier(), name: optional { $0.text() })
  }

  private mutating func central() -> CentralInfo {
    CentralInfo(handle: peer(), identifier: identifier(), maximumUpdateLength: count(0...512))
  }

  static let errors: [SessionError] = [
    .att(.readNotPermitted), .link(.connectionTimeout), .timeout, .invalidResponse, .notSupported, .invalidParameters,
    .uuidNotAllowed, .alreadyAdvertising, .outOfSpace, .connectionLimitReached, .encryptionTimedOut,
    .tooManyPairedDevices, .refused, .unknownPeer, .invalidHandle, .unusableHandle(300),
  ]

  private mutating func error() -> SessionError { Self.errors[count(0...Self.errors.count - 1)] }

  private mutating func result<T>(_ body: (inout MessageSamples) -> T) -> Result<T, SessionError> {
    isFull || bool() ? .success(body(&self)) : .failure(error())
  }

  private mutating func dataLength() -> HCI.DataLength { HCI.DataLength(octets: number(), time: number()) }

  private mutating func link() -> LinkInfo {
    var properties = HostLinkProperties(
      values: HCI.ConnectionValues(interval: number(), latency: number(), supervisionTimeout: number()))
    properties.transmitPHY = HCI.PHYs(rawValue: number())
    properties.receivePHY = HCI.PHYs(rawValue: number())
    properties.transmitLength = dataLength()
    properties.receiveLength = dataLength()
    properties.remoteFeatures = optional { HCI.LEFeatures(rawValue: $0.number()) }
    return LinkInfo(
      properties: properties, mtu: count(23...517),
      security: HostLinkSecurity(
        level: .authenticated, keySize: 16, hasKey: bool(), isBonded: bool(), isAuthorized: bool()))
  }

  private mutating func advertising() -> HostAdvertising {
    var result = HostAdvertising(data: octets(), scanResponse: octets())
    result.shape.type = .scannableUndirected
    result.shape.target = optional { $0.address() }
    result.shape.interval = optional { $0.number() }
    result.shape.channelMap = number()
    result.shape.transmitPower = optional { Int8(bitPattern: $0.number()) }
    if isFull || bool() {
      var extended = HostAdvertising.ExtendedPDUs()
      extended.primaryPHY = .leCoded
      extended.secondaryPHY = .le2M
      extended.advertisingSID = number()
      extended.includesTransmitPower = bool()
      extended.isAnonymous = bool()
      extended.maximumSkip = number()
      result.shape.extended = extended
    }
    result.train = optional { samples in
      HostAdvertising.PeriodicTrain(
        interval: samples.number(), includesTransmitPower: samples.bool(), data: samples.octets())
    }
    if isFull || bool() {
      result.limit = .init(for: .seconds(Int64(count(0...180))), then: bool() ? .stops : .becomesGeneral)
    }
    return result
  }

  private mutating func report() -> AdvertisingReport {
    var result = AdvertisingReport(
      address: address(), isConnectable: bool(), isScannable: bool(), isScanResponse: bool(), data: octets(),
      rssi: Int8(bitPattern: number()))
    result.isTruncated = bool()
    result.advertisingSet = optional { $0.number() }
    result.isDirected = bool()
    result.primaryPHY = number()
    result.secondaryPHY = number()
    result.transmitPower = Int8(bitPattern: number())
    result.periodicInterval = number()
    return result
  }

  private mutating func discovery() -> DiscoveryInfo {
    var result = DiscoveryInfo(peer: info(), isConnectable: bool(), rssi: Int8(bitPattern: number()))
    result.localName = optional { $0.text() }
    result.txPowerLevel = optional { Int8(bitPattern: $0.number()) }
    result.services = uuids()
    result.overflowServices = uuids()
    result.solicitedServices = uuids()
    result.serviceData = list { ($0.uuid(), $0.octets()) }
    result.manufacturerData = optional { $0.octets() }
    return result
  }

  private mutating func service() -> LocalServiceInfo {
    LocalServiceInfo(
      id: local(), uuid: uuid(), isPrimary: bool(), includes: list { $0.local() },
      characteristics: list { samples in
        LocalCharacteristicInfo(
          id: samples.local(),
          definition: GATTCharacteristicDefinition(
            uuid: samples.uuid(), properties: CharacteristicProperties(rawValue: samples.number()),
            extendedProperties: GATTExtendedProperties(rawValue: samples.number()),
            permissions: AttributePermissions(rawValue: samples.number()), minimumKeySize: samples.number(),
            value: samples.optional { $0.octets() }, lengths: 3...samples.count(3...512),
            subscriptionNeedsEncryption: samples.bool(),
            descriptors: samples.list { samples in
              let content: GATTDescriptorDefinition.Content =
                switch samples.count(0...2) {
                case 0: .stored(samples.octets())
                case 1: .dynamic
                default: .formats([GATTDescriptorPath(characteristic: 2, descriptor: samples.count(0...9))])
                }
              return GATTDescriptorDefinition(
                uuid: samples.uuid(), content: content,
                permissions: AttributePermissions(rawValue: samples.number()), lengths: 0...samples.count(0...512))
            }))
      })
  }

  private mutating func placedService() -> LocalServiceInfo {
    var result = service()
    result.handle = optional { $0.number() }
    for index in result.characteristics.indices {
      result.characteristics[index].definition.handle = optional { $0.number() }
      for descriptor in result.characteristics[index].definition.descriptors.indices {
        result.characteristics[index].definition.descriptors[descriptor].handle = optional { $0.number() }
      }
    }
    return result
  }

  private mutating func scan() -> ScanRequest {
    var request = ScanRequest(
      services: optional { $0.uuids() }, solicitedServices: uuids(), allowsDuplicates: bool())
    request.packets = optional { PacketScan(isActive: $0.bool(), includesLECoded: $0.bool()) }
    return request
  }

  // MARK: Messages

  mutating func centralCommands() -> [CentralCommand] {
    // One element in each set: sets have no order.
    let filter = ConnectionEventFilter(peers: [identifier()], services: [uuid()])
    let parameters = LinkParameters(
      minimumInterval: number(), maximumInterval: number(), latency: number(), supervisionTimeout: number())
    let phys = HCI.PHYPreference(
      transmit: optional { HCI.PHYs(rawValue: $0.number()) }, receive: optional { HCI.PHYs(rawValue: $0.number()) })
    return [
      .scan(scan()), .stopScan, .connect(peer(), delay: .milliseconds(Int64(count(0...100_000))), reconnects: bool()),
      .cancelConnection(peer()), .registerForConnectionEvents(filter), .registerForConnectionEvents(nil),
      .readRSSI(peer()), .observeLinks, .changeLink(peer(), .connectionParameters(parameters)),
      .changeLink(peer(), .phys(phys, options: number())), .changeLink(peer(), .dataLength(dataLength())),
      .discoverServices(peer(), optional { $0.uuids() }),
      .discoverIncludedServices(peer(), attribute(), optional { $0.uuids() }),
      .discoverCharacteristics(peer(), attribute(), optional { $0.uuids() }),
      .discoverDescriptors(peer(), attribute()), .read(peer(), attribute()), .write(peer(), attribute(), octets()),
      .writeWithoutResponse(peer(), attribute(), octets()),
      .signedWriteWithoutResponse(peer(), attribute(), octets()), .setNotify(peer(), attribute(), bool()),
      .openChannel(peer(), psm: number()), .barrier(number()), .askForPower,
      .requestAlerts(peer(), AlertKinds(rawValue: number())), .requireNotifications(peer()),
      .endSynchronization(number()),
      .synchronize(
        number(),
        SyncRequest(
          advertiser: address(), advertisingSID: number(), skip: number(), timeout: number(), includesLECoded: bool())),
    ]
  }

  mutating func peripheralCommands() -> [PeripheralCommand] {
    [
      .startAdvertising(localName: optional { $0.text() }, services: uuids()), .advertise(advertising()),
      .stopAdvertising, .addService(service()), .addServiceAt(placedService()), .removeService(local()),
      .removeAllServices,
      .respond(CentralRequestID(number: number()), bool() ? nil : .unlikelyError, value: octets()),
      .update(local(), octets(), optional { samples in samples.list { $0.peer() } }),
      .setConnectionLatency(.low, peer()), .setConnectionLatency(.medium, peer()),
      .setConnectionLatency(.high, peer()), .publishChannel(isEncrypted: bool()), .unpublishChannel(psm: number()),
      .barrier(number()), .askForPower, .startSet(LocalSetID(number: number()), advertising()),
      .stopSet(LocalSetID(number: number())), .observeLinks, .changeLink(peer(), .dataLength(dataLength())),
      .disconnect(peer()),
    ]
  }

  mutating func appMessages() -> [AppMessage] {
    let controls: [AppControl] = [.background, .foreground, .suspend, .quit]
    return controls.map { .controlApp("app", $0) } + [
      .returned, .restoreIdentifier(session(), text()), .listApps, .setPermission(app: text(), bool()),
      .setPower(bool()), .listAlerts(follows: bool()), .explain(peer: text()), .resetIdentifiers(forgetsBonds: bool()),
      .setSharing(peer: text(), bool()), .monitor, .wasInBackground,
    ]
  }

  private mutating func pending() -> PeerUsage.Pending {
    let procedures: [PeerUsage.Pending.Procedure] = [.read, .write, .writeWithoutResponse, .discovery]
    return PeerUsage.Pending(procedures[count(0...3)], of: optional { $0.uuid() }, milliseconds: number())
  }

  mutating func appReports() -> [AppReport] {
    let states: [AppRunState] = [.foreground, .background, .suspended, .terminated]
    let accesses: [AppAccess] = [.undetermined, .denied, .allowed]
    let phases: [PeerUsage.Phase] = [.delayed, .connecting, .connected, .disconnecting]
    let apps = list { samples in
      AppDescription(
        name: samples.text(), adapter: samples.text(), state: states[samples.count(0...3)],
        processes: samples.list { $0.number() }, sessions: samples.number(), access: accesses[samples.count(0...2)],
        isLaunchable: samples.bool(), question: samples.optional { $0.text() })
    }
    let alerts = list {
      AlertDescription(number: $0.number(), time: Int64(bitPattern: $0.number()), app: $0.text(), text: $0.text())
    }
    let usages = list { samples in
      var usage = PeerUsage(
        identifier: samples.identifier(), address: samples.address(), name: samples.optional { $0.text() },
        isLinked: samples.bool(), isEnding: samples.bool(),
        users: samples.list { samples in
          var user = PeerUsage.User(
            app: samples.optional { $0.text() }, phase: phases[samples.count(0...3)], isPreserved: samples.bool(),
            reconnects: samples.bool(), isBlocked: samples.bool())
          user.pending = samples.list { $0.pending() }
          return user
        })
      usage.served = samples.list { samples in
        PeerUsage.Served(
          app: samples.optional { $0.text() }, subscriptions: samples.uuids(), pending: samples.list { $0.pending() })
      }
      return usage
    }
    return states.map { .stateChanged($0) } + [
      .stop(text(), byUser: bool()), .apps(apps), .done(failure: optional { $0.text() }), .alerts(alerts),
      .links(usages),
      .packet(
        MonitoredPacket(
          missed: number(), time: Int64(bitPattern: number()), isFromHost: bool(), octets: octets())),
    ]
  }

  mutating func clientMessages() -> [ClientMessage] {
    let low = number(UInt16.self)
    var result: [ClientMessage] = [
      .hello(Hello(versions: low / 2...low, adapter: text(), program: text(), token: octets())),
      .unknownMessage(type: number()), .introduce(address()), .listClients, .openCentral(session()),
      .closeCentral(session()),
      .openPeripheral(session()),
      .closePeripheral(session()), .eventsHandled(session(), count: number()), .channelOctets(channel(), octets()),
      .channelRead(channel(), frames: number()), .closeChannel(channel()),
    ]
    result += appMessages().map { .app($0) }
    for command in centralCommands() { result.append(.central(session(), command, seenStates: number())) }
    for command in peripheralCommands() { result.append(.peripheral(session(), command, seenStates: number())) }
    return result
  }

  mutating func centralEvents() -> [CentralEvent] {
    let states: [AdapterState] = [.unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn]
    var events: [CentralEvent] = states.map { .stateChanged($0) }
    events += Self.errors.map { .connectionFailed(PeerHandle(index: 1), $0) }
    events += [
      .discovered(discovery()),
      .packetReceived(
        ReceivedPacket(peer: info(), report: report(), time: Instant(nanoseconds: Int64(count(0...1_000_000))))),
      .connected(peer(), maximumWriteLength: count(20...512)), .disconnected(peer(), nil, isReconnecting: bool()),
      .disconnected(peer(), error(), isReconnecting: bool()), .connectionEvent(info(), isConnected: bool()),
      .maximumWriteLengthChanged(peer(), count(20...512)), .nameChanged(peer(), optional { $0.text() }),
      .link(peer(), .changed(link())), .link(peer(), .ended(HCI.ErrorCode(rawValue: number()))),
      .link(peer(), .requestEnded(.connectionParameters, nil)), .link(peer(), .requestEnded(.phys, error())),
      .link(peer(), .requestEnded(.dataLength, nil)), .rssiRead(peer(), result { Int8(bitPattern: $0.number()) }),
      .servicesDiscovered(peer(), result { $0.services() }),
      .includedServicesDiscovered(peer(), attribute(), result { $0.services() }),
      .characteristicsDiscovered(
        peer(), attribute(),
        result { samples in
          samples.list {
            RemoteCharacteristicInfo(
              id: $0.attribute(), uuid: $0.uuid(), properties: CharacteristicProperties(rawValue: $0.number()))
          }
        }),
      .descriptorsDiscovered(
        peer(), attribute(),
        result { samples in samples.list { RemoteDescriptorInfo(id: $0.attribute(), uuid: $0.uuid()) } }),
      .valueRead(peer(), attribute(), result { $0.octets() }), .valueChanged(peer(), attribute(), octets(512)),
      .written(peer(), attribute(), optional { $0.error() }),
      .notifyStateChanged(peer(), attribute(), isNotifying: bool(), optional { $0.error() }),
      .readyToWriteWithoutResponse(peer()), .channelOpened(peer(), result { $0.channelInfo() }),
      .servicesModified(peer(), list { $0.attribute() }), .barrierReached(number()),
      .valueLimitReached(peer(), attribute(), isExceeded: bool()), .notificationSharingChanged(peer()),
      synchronization(.established(SyncProperties(interval: number(), phy: number()))),
      synchronization(
        .report(
          PeriodicReport(
            data: octets(), rssi: Int8(bitPattern: number()), transmitPower: Int8(bitPattern: number()),
            isTruncated: bool()))),
      synchronization(.ended(.lost)),
      .restored(RestoredCentral(peers: list { $0.restoredPeer() }, scan: optional { $0.scan() })),
    ]
    let refusals: [HostError] = [
      .controller(HCI.ErrorCode(rawValue: number())), .commandTimeout, .notConnected, .outOfSpace, .notSupported,
    ]
    for refusal in refusals { events.append(synchronization(.ended(.refused(refusal)))) }
    return events
  }

  private mutating func synchronization(_ event: SyncEvent) -> CentralEvent {
    .synchronization(number(), event, at: Instant(nanoseconds: Int64(count(0...1_000_000))))
  }

  private mutating func restoredPeer() -> RestoredCentral.RestoredPeer {
    RestoredCentral.RestoredPeer(
      info: info(), maximumWriteLength: optional { $0.count(20...512) }, reconnects: bool(),
      services: optional { samples in samples.list { $0.restoredService() } })
  }

  private mutating func restoredService() -> RestoredCentral.Service {
    RestoredCentral.Service(
      service: RemoteServiceInfo(id: attribute(), uuid: uuid(), isPrimary: bool()),
      characteristics: optional { samples in samples.list { $0.restoredCharacteristic() } })
  }

  private mutating func restoredCharacteristic() -> RestoredCentral.Characteristic {
    RestoredCentral.Characteristic(
      characteristic: RemoteCharacteristicInfo(
        id: attribute(), uuid: uuid(), properties: CharacteristicProperties(rawValue: number())),
      isNotifying: bool(),
      descriptors: optional { samples in
        samples.list { RemoteDescriptorInfo(id: $0.attribute(), uuid: $0.uuid()) }
      })
  }

  private mutating func restoredPeripheral() -> RestoredPeripheral {
    RestoredPeripheral(
      services: list { $0.service() }, subscriptions: list { .init(central: $0.central(), characteristic: $0.local()) },
      advertising: optional { .init(localName: $0.optional { $0.text() }, services: $0.uuids()) })
  }

  private mutating func services() -> [RemoteServiceInfo] {
    list { RemoteServiceInfo(id: $0.attribute(), uuid: $0.uuid(), isPrimary: $0.bool()) }
  }

  mutating func peripheralEvents() -> [PeripheralEvent] {
    [
      .stateChanged(.poweredOn), .advertisingStarted(optional { $0.error() }),
      .serviceAdded(local(), optional { $0.error() }), .subscribed(central(), local()),
      .unsubscribed(central(), local()), .maximumUpdateLengthChanged(central()),
      .readRequested(CentralRequestID(number: number()), central(), local(), offset: count(0...512)),
      .writeRequested(
        optional { CentralRequestID(number: $0.number()) }, central(),
        list { CentralWrite(characteristic: $0.local(), offset: $0.count(0...512), value: $0.octets()) }),
      .centralDisconnected(central()), .channelPublished(psm: number(), optional { $0.error() }),
      .channelUnpublished(psm: number(), optional { $0.error() }), .channelOpened(central(), channelInfo()),
      .readyToUpdate, .barrierReached(number()), .restored(restoredPeripheral()),
      .advertisingSetStarted(LocalSetID(number: number()), optional { $0.error() }),
      .advertisingSetEnded(LocalSetID(number: number())), .link(central(), .changed(link())),
      .link(central(), .ended(HCI.ErrorCode(rawValue: number()))), .link(central(), .requestEnded(.phys, error())),
      .indicationConfirmed(central(), local()),
    ]
  }

  mutating func serverMessages() -> [ServerMessage] {
    let reasons: [RefusalReason] = [
      .version, .notPermitted, .unknownAdapter, .tooMany, .protocolViolation, .tooSlow, .stopping,
    ]
    var result: [ServerMessage] = reasons.map { .refused(Refusal($0, "the reason")) }
    let bond = BondInfo(isSecureConnections: bool(), isAuthenticated: bool(), keySize: 16, getsNotifications: bool())
    let accesses: [AppAccess] = [.undetermined, .denied, .allowed]
    result += accesses.map { .directory(.access($0)) }
    let client = ConnectedClient(
      process: optional { $0.number() }, user: optional { $0.number() }, origin: optional { $0.text() },
      adapter: text(), sessions: number())
    result += [
      .clients([client]), .clients([]),
      .welcome(Welcome(version: number(), adapter: text())), .unknownMessage(type: number()),
      .directory(.peer(number: number(), identifier(), address(), name: optional { $0.text() }, bond)),
      .directory(.peer(number: number(), identifier(), address(), name: nil, nil)),
      .directory(.connected(peer(), services: uuids())), .directory(.disconnected(peer())),
      .directory(.removed(number: number())),
      .directory(.features([.privacy])), .writeCredits(session(), peer(), count: number()),
      .updateCredits(session(), count: number()), .channelOctets(channel(), octets(200)),
      .channelTaken(channel(), octets: number()), .channelEnded(channel(), .closed),
      .channelEnded(channel(), .lost(error())), .channelCut(channel()),
    ]
    result += appReports().map { .app($0) }
    for event in centralEvents() { result.append(.central(session(), event)) }
    for event in peripheralEvents() { result.append(.peripheral(session(), event)) }
    return result
  }
}
