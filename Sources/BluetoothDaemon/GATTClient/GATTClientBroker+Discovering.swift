import BluetoothHost
import BluetoothWire

// Discovery always requests all attributes of a kind, once for each link. The daemon answers every session from the
// host's database of the link and applies the session's filter. Filtered discovery would need separate requests for each
// app, and the daemon itself needs the complete list for names, Service Changed and `retrieveConnectedPeripherals`.
extension GATTClientBroker {
  /// Answers a session's discovery from the known attributes, or after the procedure that finds them.
  mutating func discover(
    _ procedure: DiscoveryRequest, filter: [BluetoothUUID]?, on used: SessionLink<CentralRole>, at now: Instant,
    _ context: inout DaemonContext
  ) {
    let (link, session) = (used.index, used.session)
    let waiter = DiscoveryQueue.Waiter(session: session, procedure: procedure, filter: filter ?? [])
    if knows(procedure, on: link, context) {
      deliverDiscovered(waiter, .success(()), on: link, &context)
    } else if context.links[link].client.discovery.isFull(for: session) {
      deliverDiscovered(waiter, .failure(.outOfSpace), on: link, &context)
    } else {
      context.links[link].client.discovery.wait(waiter)
      find(procedure, for: session, on: link, at: now, &context)
    }
  }

  /// Returns true if the result of `procedure` is known and the sessions that waited for it have been answered. The
  /// host may know the result while the event about it waits.
  func knows(_ procedure: DiscoveryRequest, on link: DaemonLinkIndex, _ context: borrowing DaemonContext) -> Bool {
    !context.links[link].client.discovery.isRunning(procedure) && context.database(of: link).knows(procedure)
  }

  /// Starts a procedure unless it is running.
  ///
  /// - Parameter session: the session that waits for the result; nil: the system does.
  mutating func find(
    _ procedure: DiscoveryRequest, for session: CentralSessionID?, on link: DaemonLinkIndex, at now: Instant,
    _ context: inout DaemonContext
  ) {
    guard !context.links[link].client.discovery.isRunning(procedure) else {
      let token = operations.token(of: procedure, on: context.links[link].link.handle)
      return share(token, with: session, on: link, &context)
    }
    context.links[link].client.discovery.began(procedure)
    guard let request = context.database(of: link).request(for: procedure) else {
      endDiscovery(procedure, .failure(.invalidHandle), on: link, at: now, &context)
      return
    }
    send(request, for: .discovery(procedure), of: session, on: link, at: now, &context)
  }

  /// Handles the completion of a discovery procedure of the host.
  mutating func discovered(
    _ procedure: DiscoveryRequest, _ result: Result<GATTResponse, GATTError>, on link: DaemonLinkIndex, at now: Instant,
    _ context: inout DaemonContext
  ) {
    if procedure == .services, case .success = result { context.publishConnected(link) }
    let outcome = result.map { _ in }.mapError { SessionError($0) }
    endDiscovery(procedure, outcome, on: link, at: now, &context)
  }

  private mutating func endDiscovery(
    _ procedure: DiscoveryRequest, _ outcome: Result<Void, SessionError>, on link: DaemonLinkIndex, at now: Instant,
    _ context: inout DaemonContext
  ) {
    for waiter in context.links[link].client.discovery.ended(procedure) {
      deliverDiscovered(waiter, outcome, on: link, &context)
    }
    if case .descriptors(let characteristic) = procedure {
      descriptorsFound(of: characteristic, outcome, on: link, at: now, &context)
    }
    if context.links[link].client.preparation.awaits(procedure) { endStep(on: link, at: now, &context) }
  }

  private mutating func deliverDiscovered(
    _ waiter: DiscoveryQueue.Waiter, _ outcome: Result<Void, SessionError>, on link: DaemonLinkIndex,
    _ context: inout DaemonContext
  ) {
    let peer = context.links[link].peer
    let database = context.database(of: link)
    func isWanted(_ uuid: BluetoothUUID) -> Bool { waiter.filter.isEmpty || waiter.filter.contains(uuid) }
    let hidden = context.policy.hiddenServices
    if hidden.contains(where: waiter.filter.contains) {
      let app = context.sessions.owner(of: waiter.session)
      context.note(.hiddenServices, of: app)
    }
    func isShown(_ uuid: BluetoothUUID) -> Bool { !hidden.contains(uuid) && isWanted(uuid) }
    switch waiter.procedure {
    case .services:
      let result = outcome.map {
        (database.primaryServices ?? []).filter { isShown($0.uuid) }.map { RemoteServiceInfo($0, isPrimary: true) }
      }
      remember(result, for: waiter.session, peer, &context.peers)
      context.deliver(.servicesDiscovered(peer, result), to: waiter.session)
    case .includes(let service):
      let result = outcome.map {
        (database.includes(of: service) ?? []).map(\.service).filter { isShown($0.uuid) }.map {
          RemoteServiceInfo($0, isPrimary: database.isPrimary($0.range.lowerBound) ?? false)
        }
      }
      remember(result, for: waiter.session, peer, &context.peers)
      context.deliver(.includedServicesDiscovered(peer, RemoteAttributeID(service), result), to: waiter.session)
    case .characteristics(let service):
      let result = outcome.map {
        (database.characteristics(of: service) ?? []).filter { isWanted($0.uuid) }.map { RemoteCharacteristicInfo($0) }
      }
      context.deliver(.characteristicsDiscovered(peer, RemoteAttributeID(service), result), to: waiter.session)
    case .descriptors(let characteristic):
      let result = outcome.map {
        (database.descriptors(ofValue: characteristic) ?? []).map {
          RemoteDescriptorInfo(id: RemoteAttributeID($0.handle), uuid: $0.uuid)
        }
      }
      context.deliver(.descriptorsDiscovered(peer, RemoteAttributeID(characteristic), result), to: waiter.session)
    }
  }

  /// Records the services reported to a session, for `servicesModified`.
  private mutating func remember(
    _ result: Result<[RemoteServiceInfo], SessionError>, for session: CentralSessionID, _ peer: PeerHandle,
    _ peers: inout Peers
  ) {
    guard case .success(let services) = result else { return }
    peers.noteDiscovered(services, by: session, of: peer)
  }

  // MARK: Service Changed

  /// Handles a change of the peer's attributes in `range` · Vol 3, Part G, 7.1. Reports to each app the services that
  /// the app has discovered and that overlap the range, even if only a part of them has changed.
  ///
  /// - Parameter services: The ranges of the services that overlap the range.
  mutating func servicesChanged(
    _ range: ClosedRange<AttributeHandle>, _ services: [ClosedRange<AttributeHandle>], on link: DaemonLinkIndex,
    _ context: inout DaemonContext
  ) {
    let peer = context.links[link].peer
    context.links[link].client.notifications.forget(range)
    for service in services { context.links[link].client.notifications.forget(service) }
    let declarations = Set(services.map(\.lowerBound))
    for index in context.peers[peer].users.indices where context.peers[peer].users[index].phase == .connected {
      let modified = context.peers.takeDiscovered(ofUser: index, of: peer) {
        range.contains($0.handle) || declarations.contains($0.handle)
      }
      guard let ids = modified?.sorted(by: { $0.handle < $1.handle }) else { continue }
      context.deliver(.servicesModified(peer, ids), to: context.peers[peer].users[index].session)
    }
  }
}

extension RemoteDatabase {
  /// Returns true if the result of `procedure` is known.
  fileprivate func knows(_ procedure: DiscoveryRequest) -> Bool {
    switch procedure {
    case .services: primaryServices != nil && !isStale(.primaryServices)
    case .includes(let service):
      includes(of: service) != nil && !isStale(in: service) { .includedServices(in: $0) }
    case .characteristics(let service):
      characteristics(of: service) != nil && !isStale(in: service) { .characteristics(in: $0) }
    case .descriptors(let value):
      hasNoDescriptors(value)
        || descriptors(ofValue: value) != nil
          && descriptorRange(ofValue: value).map { isStale(.descriptors(in: $0)) } != true
    }
  }

  private func isStale(
    in service: AttributeHandle, _ discovery: (ClosedRange<AttributeHandle>) -> GATTDiscovery
  ) -> Bool {
    self.service(at: service).map { isStale(discovery($0.range)) } ?? false
  }

  private func hasNoDescriptors(_ value: AttributeHandle) -> Bool {
    characteristic(withValue: value) != nil && descriptorRange(ofValue: value) == nil
  }

  /// Returns the request for a procedure; nil: there is no such service or characteristic.
  fileprivate func request(for procedure: DiscoveryRequest) -> GATTRequest? {
    switch procedure {
    case .services: .discoverPrimaryServices
    case .includes(let service): self.service(at: service).map { .findIncludedServices(in: $0.range) }
    case .characteristics(let service): self.service(at: service).map { .discoverCharacteristics(in: $0.range) }
    case .descriptors(let value): descriptorRange(ofValue: value).map { .discoverDescriptors(in: $0) }
    }
  }
}

extension RemoteServiceInfo {
  init(_ service: GATTService, isPrimary: Bool) {
    self.init(id: RemoteAttributeID(service.range.lowerBound), uuid: service.uuid, isPrimary: isPrimary)
  }
}

extension RemoteCharacteristicInfo {
  init(_ characteristic: GATTCharacteristic) {
    self.init(
      id: RemoteAttributeID(characteristic.value), uuid: characteristic.uuid, properties: characteristic.properties)
  }
}

extension SessionError {
  init(_ error: GATTError) {
    switch error {
    case .att(let code): self = .att(code)
    case .invalidResponse: self = .invalidResponse
    case .invalidHandle: self = .invalidHandle
    case .timeout: self = .timeout
    }
  }
}
