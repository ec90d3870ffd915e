import BluetoothCrypto
import BluetoothWire
import DequeModule

/// The host of one adapter · Vol 1, Part A, 2: GAP, GATT, ATT and L2CAP above one controller.
///
/// The owner moves packets between the host and the controller, calls it with the current time, and takes its events.
package struct Host {
  let configuration: HostConfiguration
  /// The memory pool for all packets of this adapter.
  package let pool: PacketPool
  /// The device's random static address. It identifies the device whatever address the device uses on the air
  /// · Vol 6, Part B, 1.3.2.1.
  package let address: DeviceAddress

  /// The controller's BD_ADDR; nil: the controller has none, or the host has not read it yet.
  package var publicAddress: DeviceAddress? { controller.publicAddress }

  var power = Power.off
  var wantsPower = false
  var transport = TransportStanding.ready
  var recovery = Recovery()
  /// The number of consecutive commands without an answer.
  var unansweredCommands = 0
  var controller = ControllerCapabilities()
  var commands = CommandQueue()
  var advertiser = Advertiser()
  var scanner = Scanner()
  var reports = ReportReassembler()
  var initiator = Initiator()
  var strays = StrayLinks()
  var linkCheck = LinkCheck()
  var resolvingList = ResolvingListKeeper()
  var ownAddress: OwnAddress
  /// True if the controller claims the extended commands but does not know them.
  var refusesExtendedCommands = false
  var nameDiscoveries: [NameDiscovery] = []
  var database: GATTDatabase
  /// The GATT client records of bonded peers without a link; see `clientRecords`.
  var awayClients: [DeviceAddress: GATTClientRecord] = [:]
  /// True if the database has changed since its hash was stored in the records of `awayClients`.
  var awayHashesAreOutdated = false
  /// The SPSMs that peers may open channels to.
  var listeners: CreditChannels.Listeners = [:]
  var allLinks: [HostLink] = []
  /// The state that the Security Managers of all links share.
  var securityContext: SecurityContext
  var bondTable = BondTable()
  /// The cached databases of servers that are not connected.
  var caches = GATTCacheStore()
  /// The number of ACL packets in the controller.
  var outstanding = 0
  /// True if any link may have data to send; false only if no link has any.
  var isReady = false
  /// The index of the link that is served first when the controller has free buffers again.
  var turn = 0
  /// Counters of invalid, unexpected and discarded input.
  package internal(set) var metrics = HostMetrics()
  var packets: Deque<HCI.Packet> = []
  var events: Deque<HostEvent> = []

  package init(configuration: HostConfiguration, random: RandomStream, pool: PacketPool) {
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

  /// The next instant at which `timeReached` must be called; nil: none.
  ///
  /// Read-only; `mutating` avoids copying the links.
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

  /// The links that `connected` has reported, in the order of their creation.
  package var links: [Link] { allLinks.filter { $0.standing == .announced }.map(\.link) }

  /// Returns the ATT_MTU of a link; the default ATT_MTU if the link does not exist.
  package func mtu(of handle: HCI.ConnectionHandle) -> Int {
    index(of: handle).map { allLinks[$0].bearer.mtu } ?? ATT.defaultMTU
  }

  // MARK: Controller

  /// Processes a packet of the controller. The content may be arbitrary.
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

  /// Removes and returns the next packet for the controller.
  package mutating func takePacket() -> HCI.Packet? { packets.popFirst() }
  /// Removes and returns the next event for the upper layer.
  package mutating func takeEvent() -> HostEvent? { events.popFirst() }

  // MARK: GAP

  /// Starts connectable and scannable advertising; answered by `advertisingStarted`. Advertising goes on while links
  /// exist, as far as the controller allows. New data replace the old. `data` and `scanResponse` have at most
  /// 31 octets each; if one is longer, the answer is `outOfSpace`.
  package mutating func startAdvertising(data: ByteSlice, scanResponse: ByteSlice, at now: Instant) {
    startAdvertising(HostAdvertising(data: data, scanResponse: scanResponse), at: now)
  }

  /// Starts advertising with the given shape, interval and PDUs; answered by `advertisingStarted`.
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

  /// Starts scanning with these parameters and reports every device again; nil: stops scanning.
  package mutating func setScanning(_ parameters: ScanParameters?, at now: Instant) {
    guard isOn else { return }
    scanner.set(parameters)
    settle(at: now)
  }

  /// Connects to the device as soon as the controller hears it, without a timeout. Several connection attempts may be
  /// pending.
  package mutating func connect(to address: DeviceAddress, at now: Instant) {
    guard isOn else {
      events.append(.connectionFailed(address, .commandDisallowed))
      return
    }
    // The link is no longer used for the name discovery alone.
    for index in nameDiscoveries.indices where nameDiscoveries[index].address == address {
      nameDiscoveries[index].endsLink = false
    }
    // A link to the device may already be in establishment.
    if unprovenLink(to: address) == nil { initiator.connect(to: address) }
    settle(at: now)
  }

  /// Cancels the connection attempt. A link that was created at the same moment is disconnected without an event.
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

  /// Disconnects a link; answered by `disconnected`.
  package mutating func disconnect(_ handle: HCI.ConnectionHandle, at now: Instant) {
    guard let index = index(of: handle) else { return }
    disconnect(index, reason: .remoteUserTerminatedConnection)
    settle(at: now)
  }

  /// Reads the RSSI of a link; answered by `rssiRead`.
  package mutating func readRSSI(_ handle: HCI.ConnectionHandle, at now: Instant) {
    guard index(of: handle) != nil else {
      events.append(.rssiRead(handle, .failure(.notConnected)))
      return
    }
    commands.append(.readRSSI(handle), for: .readRSSI(handle))
    settle(at: now)
  }

  /// Updates the connection parameters of a link. A central changes them directly. A peripheral requests them when
  /// the link is 5 s old and the central has been quiet for 1 s; a later request replaces an earlier one. The peer or
  /// the controller may refuse either without an event.
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

  /// Queues a procedure, which begins when the earlier ones on this link have ended.
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

  /// Removes the service whose declaration has this handle.
  package mutating func removeService(declaration: AttributeHandle, at now: Instant) {
    guard let range = database.remove(declaration: declaration) else { return }
    databaseChanged(range, at: now)
  }

  /// Answers a client's request; a second answer is ignored.
  package mutating func respond(
    to request: GATTServerRequest, on handle: HCI.ConnectionHandle, with result: Result<ByteSlice, ATT.ErrorCode>,
    at now: Instant
  ) {
    guard let index = index(of: handle) else { return }
    allLinks[index].bearer.respond(to: request, with: result, database: &database, at: now)
    serve(index, at: now)
    settle(at: now)
  }

  /// Sends a notification or an indication, as the client has subscribed; followed by `GATTEvent.updateSent`.
  package mutating func update(
    _ value: AttributeHandle, with bytes: ByteSlice, on handle: HCI.ConnectionHandle, at now: Instant
  ) {
    guard let index = index(of: handle) else { return }
    allLinks[index].bearer.update(value, with: bytes, at: now)
    serve(index, at: now)
    settle(at: now)
  }
}

/// Counters of input and answers that a host has discarded.
package struct HostMetrics: Hashable, Sendable {
  /// Events that could not be parsed.
  package var malformedEvents = 0
  /// Packets and events that a controller never sends, or not in this state.
  package var unexpectedPackets = 0
  /// Packets and events for links that do not exist.
  package var unknownLinks = 0
  /// Frames and fragments that could not be reassembled.
  package var droppedFrames = 0
  /// Answers that were dropped because too many were queued.
  package var droppedAnswers = 0
}
