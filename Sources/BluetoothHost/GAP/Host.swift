import BluetoothCrypto
import BluetoothWire
import DequeModule

/// The host of one adapter · Vol 1, Part A, 2: GAP, GATT, ATT and L2CAP above one controller.
///
/// Whoever owns it moves packets between it and the controller, tells it the time, and takes its events.
package struct Host {
  let configuration: HostConfiguration
  /// Where all packets of this adapter get their memory.
  package let pool: PacketPool
  /// The device's own random static address, which it is known by whatever it is called on the air · Vol 6, Part B,
  /// 1.3.2.1.
  package let address: DeviceAddress

  /// The controller's BD_ADDR; nil: it has none, or has not told it yet.
  package var publicAddress: DeviceAddress? { controller.publicAddress }

  var power = Power.off
  var wantsPower = false
  var transport = TransportStanding.ready
  var recovery = Recovery()
  /// How many commands in a row got no answer.
  var unansweredCommands = 0
  var controller = ControllerFacts()
  var commands = CommandQueue()
  var advertiser = Advertiser()
  var scanner = Scanner()
  var reports = ReportReassembler()
  var initiator = Initiator()
  var strays = StrayLinks()
  var linkCheck = LinkCheck()
  var resolvingList = ResolvingListKeeper()
  var ownAddress: OwnAddress
  /// The controller claims the extended commands, and does not know them.
  var refusesExtendedCommands = false
  var nameDiscoveries: [NameDiscovery] = []
  var database: GATTDatabase
  /// See `clientRecords`.
  var awayClients: [DeviceAddress: GATTClientRecord] = [:]
  /// The database has changed since the records of `awayClients` got its hash.
  var awayHashesAreOutdated = false
  /// What peers may open channels to.
  var listeners: CreditChannels.Listeners = [:]
  var allLinks: [HostLink] = []
  /// What the links' Security Managers share.
  var securityContext: SecurityContext
  var bondTable = BondTable()
  /// What is known of servers that are not connected.
  var caches = GATTCacheStore()
  /// ACL packets that the controller has.
  var outstanding = 0
  /// Whether any link may have something to send; false only when none has.
  var isReady = false
  /// Which link is served first when the controller has room again.
  var turn = 0
  /// Hostile or broken input that was thrown away.
  package internal(set) var metrics = HostMetrics()
  var packets: Deque<HCI.Packet> = []
  var events: Deque<HostEvent> = []

  package init(configuration: HostConfiguration, random: SplitGenerator, pool: PacketPool) {
    self.configuration = configuration
    self.pool = pool
    var generator = random.split("address")
    address = configuration.address ?? .randomStatic(using: &generator)
    var keys = configuration.keyGenerator(else: random.split("identity key"))
    let key = configuration.identityKey ?? Block(high: keys.next(), low: keys.next())
    ownAddress = OwnAddress(
      identity: address, key: configuration.usesPrivateAddresses ? IdentityResolvingKey(key) : nil,
      lifetime: .seconds(Int64(max(1, configuration.privateAddressTimeout))),
      generator: configuration.keyGenerator(else: random.split("private address")))
    securityContext = SecurityContext(
      policy: configuration.pairing, identity: address, identityKey: key,
      generator: configuration.keyGenerator(else: random.split("security")))
    database = GATTDatabase(deviceName: configuration.deviceName, appearance: configuration.appearance)
  }

  /// The next instant at which `timeReached` is to be called; nil: none.
  ///
  /// It changes nothing: `mutating` has it read the links where they are instead of in copies.
  package var deadline: Instant? {
    mutating get {
      var result = earliest(earliest(commands.deadline, initiator.deadline), advertiser.deadline)
      result = earliest(earliest(result, ownAddress.deadline), earliest(strays.deadline, linkCheck.deadline))
      if !nameDiscoveries.isEmpty {
        result = nameDiscoveries.reduce(result) { earliest($0, $1.deadline) }
      }
      switch power {
      case .stopping(let until?), .pausing(let until): result = earliest(result, until)
      case .off, .stopping(nil), .starting, .on, .failed, .unreachable: break
      }
      for index in allLinks.indices { result = earliest(result, allLinks[index].deadline) }
      return result
    }
  }

  /// The links that `connected` has told of, in the order in which they came about.
  package var links: [Link] { allLinks.filter { $0.standing == .announced }.map(\.link) }

  /// The ATT_MTU of a link; that of a link which does not exist is the default.
  package func mtu(of handle: HCI.ConnectionHandle) -> Int {
    index(of: handle).map { allLinks[$0].bearer.mtu } ?? ATT.defaultMTU
  }

  // MARK: The controller's side

  /// Takes in a packet of the controller, of any content.
  package mutating func receive(_ packet: HCI.Packet, at now: Instant) {
    switch packet {
    case .acl(let data): receive(data, at: now)
    case .event(let code, let parameters):
      guard let event = try? HCI.Event(code: code, parameters: parameters) else {
        metrics.malformedEvents += 1
        return
      }
      receive(event, at: now)
    case .command: metrics.unexpectedPackets += 1
    }
    settle(at: now)
  }

  package mutating func timeReached(_ now: Instant) {
    timeReachedForPower(now)
    initiator.timeReached(now)
    ownAddress.timeReached(now)
    if advertiser.timeReached(now) { events.append(.advertisingEnded) }
    for index in allLinks.indices where !allLinks[index].isHidden {
      if let wish = allLinks[index].wish, wish.due <= now { wishDue(index, at: now) }
      allLinks[index].bearer.timeReached(now)
      allLinks[index].signalling.timeReached(now)
      allLinks[index].withChannels { $0.timeReached(now, identifiers: &$1) }
      if let deadline = allLinks[index].security.deadline, deadline <= now {
        allLinks[index].security.timeReached(now, &securityContext)
        serveSecurity(index, at: now)
      } else {
        serve(index, at: now)
      }
    }
    endOverdueLinks(now)
    endStrayLinks(now)
    checkLinks(now)
    settle(at: now)
  }

  /// The next packet for the controller.
  package mutating func takePacket() -> HCI.Packet? { packets.popFirst() }
  /// The next event for the service.
  package mutating func takeEvent() -> HostEvent? { events.popFirst() }

  // MARK: GAP

  /// Advertises as connectable and scannable; answered by `advertisingStarted`. Goes on while links exist, as far as the
  /// controller allows. New data take the place of the old. Each at most 31 octets, else `outOfSpace`.
  package mutating func startAdvertising(data: ByteSlice, scanResponse: ByteSlice, at now: Instant) {
    startAdvertising(HostAdvertising(data: data, scanResponse: scanResponse), at: now)
  }

  /// The same in another way than as connectable and scannable at the host's own interval, on legacy PDUs.
  package mutating func startAdvertising(_ advertising: HostAdvertising, at now: Instant) {
    guard isOn else {
      events.append(.advertisingStarted(.controller(.commandDisallowed)))
      return
    }
    guard max(advertising.data.count, advertising.scanResponse.count) <= advertising.capacity,
      let advertising = advertising.inMode
    else {
      events.append(.advertisingStarted(.outOfSpace))
      return
    }
    guard advertising.shape.extended == nil || advertisingCommands.isExtended else {
      events.append(.advertisingStarted(.controller(.unsupportedFeatureOrParameterValue)))
      return
    }
    advertiser.start(advertising)
    tellAdvertisingStarted(advertiser.answerWithoutCommand(at: now))
    settle(at: now)
  }

  package mutating func stopAdvertising(at now: Instant) {
    advertiser.stop()
    settle(at: now)
  }

  /// Scans in this way from now on, and reports every device anew; nil: not any more.
  package mutating func setScanning(_ parameters: ScanParameters?, at now: Instant) {
    guard isOn else { return }
    scanner.set(parameters)
    settle(at: now)
  }

  /// Connects as soon as the device is heard, until then for ever. Several devices may be waited for.
  package mutating func connect(to address: DeviceAddress, at now: Instant) {
    guard isOn else {
      events.append(.connectionFailed(address, .commandDisallowed))
      return
    }
    // The link is not for the name alone any more.
    for index in nameDiscoveries.indices where nameDiscoveries[index].address == address {
      nameDiscoveries[index].endsLink = false
    }
    // One that is just coming about may be it.
    if unprovenLink(to: address) == nil { initiator.connect(to: address) }
    settle(at: now)
  }

  /// Does not wait for the device any more. A link that just then came about is ended without an event.
  package mutating func cancelConnecting(to address: DeviceAddress, at now: Instant) {
    initiator.cancel(address)
    if let index = unprovenLink(to: address) {
      allLinks[index].standing = .hidden
      disconnect(index, reason: .remoteUserTerminatedConnection)
    }
    settle(at: now)
  }

  func unprovenLink(to address: DeviceAddress) -> Int? {
    allLinks.indices.first { allLinks[$0].standing == .unproven && allLinks[$0].link.peer == address }
  }

  /// Ends a link; answered by `disconnected`.
  package mutating func disconnect(_ handle: HCI.ConnectionHandle, at now: Instant) {
    guard let index = index(of: handle) else { return }
    disconnect(index, reason: .remoteUserTerminatedConnection)
    settle(at: now)
  }

  /// Answered by `rssiRead`.
  package mutating func readRSSI(_ handle: HCI.ConnectionHandle, at now: Instant) {
    guard index(of: handle) != nil else {
      events.append(.rssiRead(handle, .failure(.notConnected)))
      return
    }
    commands.append(.readRSSI(handle), for: .readRSSI(handle))
    settle(at: now)
  }

  /// A central changes the parameters of a link. A peripheral asks for them when the link is 5 s old and the central was quiet
  /// for 1 s; of several wishes the last one counts. Either may be refused without an event.
  package mutating func updateConnection(
    _ handle: HCI.ConnectionHandle, _ parameters: ConnectionParameters, at now: Instant
  ) {
    guard let index = index(of: handle) else { return }
    switch allLinks[index].link.role {
    case .central: update(index, parameters)
    case .peripheral: wishUpdate(index, parameters, at: now)
    }
    settle(at: now)
  }

  // MARK: GATT client

  /// Begins a procedure as soon as those before it on this link have ended.
  package mutating func request(
    _ request: GATTRequest, token: GATTToken, on handle: HCI.ConnectionHandle, at now: Instant
  ) {
    guard let index = index(of: handle) else { return }
    allLinks[index].bearer.request(request, token: token, at: now)
    serve(index, at: now)
    settle(at: now)
  }

  // MARK: GATT server

  /// Adds a service to the local database.
  package mutating func addService(
    _ definition: GATTServiceDefinition, at now: Instant
  ) -> Result<GATTServicePlacement, GATTDatabaseError> {
    do throws(GATTDatabaseError) {
      let placement = try database.add(definition)
      databaseChanged(placement.range, at: now)
      return .success(placement)
    } catch {
      return .failure(error)
    }
  }

  /// Removes the service whose declaration stands at this handle.
  package mutating func removeService(declaration: AttributeHandle, at now: Instant) {
    guard let range = database.remove(declaration: declaration) else { return }
    databaseChanged(range, at: now)
  }

  /// Answers a request of a client; a second answer is ignored.
  package mutating func respond(
    to request: GATTServerRequest, on handle: HCI.ConnectionHandle, with result: Result<ByteSlice, ATT.ErrorCode>,
    at now: Instant
  ) {
    guard let index = index(of: handle) else { return }
    allLinks[index].bearer.respond(to: request, with: result, database: &database, at: now)
    serve(index, at: now)
    settle(at: now)
  }

  /// Notifies or indicates, as the client has subscribed; followed by `GATTEvent.updateSent`.
  package mutating func update(
    _ value: AttributeHandle, with bytes: ByteSlice, on handle: HCI.ConnectionHandle, at now: Instant
  ) {
    guard let index = index(of: handle) else { return }
    allLinks[index].bearer.update(value, with: bytes, at: now)
    serve(index, at: now)
    settle(at: now)
  }
}

/// What a host has thrown away.
package struct HostMetrics: Hashable, Sendable {
  /// Events that could not be read.
  package var malformedEvents = 0
  /// Packets and events that a controller does not send, or not now.
  package var unexpectedPackets = 0
  /// Packets and events for links that do not exist.
  package var unknownLinks = 0
  /// Frames, and parts of frames, that did not fit together.
  package var droppedFrames = 0
  /// Answers that were not sent because too many of them waited.
  package var droppedAnswers = 0
}
