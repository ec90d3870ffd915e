import BluetoothHost
import BluetoothWire

extension PeripheralBroker {
  /// Adds a service of a session to the host's database, and reports the result.
  mutating func add(
    _ service: LocalServiceInfo, of session: PeripheralSessionID, at now: Instant, _ context: inout DaemonContext
  ) {
    context.deliver(.serviceAdded(service.id, place(service, of: session, at: now, &context)), to: session)
  }

  /// Adds a service to the host's database. Returns nil if successful, otherwise the error.
  mutating func place(
    _ service: LocalServiceInfo, of session: PeripheralSessionID, at now: Instant, _ context: inout DaemonContext
  )
    -> SessionError?
  {
    guard !ReservedService.contains(service.uuid) else { return .uuidNotAllowed }
    guard localDatabase.service(service.id, of: session) == nil else { return .invalidParameters }
    var includes: [AttributeHandle] = []
    for include in service.includes {
      guard let included = localDatabase.service(include, of: session) else { return .invalidParameters }
      includes.append(included.range.lowerBound)
    }
    let definition = GATTServiceDefinition(
      uuid: service.uuid.attributeForm, isPrimary: service.isPrimary, includes: includes,
      characteristics: service.characteristics.map(\.definition), handle: service.handle)
    let taken = localDatabase.services.lazy.map {
      (session: AnySession.peripheral($0.session), count: $0.range.count)
    }
    guard context.mayTake(definition.handleCount, of: .attributes, for: .peripheral(session), beside: taken) else {
      return .outOfSpace
    }
    switch context.host.addService(definition, at: now) {
    case .success(let placement):
      localDatabase.add(service, of: session, at: placement)
      return nil
    case .failure(.full): return .outOfSpace
    case .failure(.invalidValueLength): return .att(.invalidAttributeValueLength)
    case .failure(.invalidHandle(let handle)): return .unusableHandle(handle)
    case .failure(.unknownService), .failure(.invalidDescriptor): return .invalidParameters
    }
  }

  /// Removes a service of a session. Its subscribers are unsubscribed.
  mutating func remove(
    _ id: LocalAttributeID, of session: PeripheralSessionID, at now: Instant, _ context: inout DaemonContext
  ) {
    guard let service = localDatabase.service(id, of: session) else { return }
    remove(service, at: now, &context)
  }

  /// Removes all services of a session in the reverse order of their addition, so that a service is removed before the
  /// services that it includes.
  mutating func removeAllServices(of session: PeripheralSessionID, at now: Instant, _ context: inout DaemonContext) {
    for service in localDatabase.services.reversed() where service.session == session {
      remove(service, at: now, &context)
    }
  }

  private mutating func remove(_ service: LocalDatabase.Service, at now: Instant, _ context: inout DaemonContext) {
    for characteristic in localDatabase.remove(service.range.lowerBound) {
      for connection in characteristic.subscribers {
        guard let link = context.links.index(of: connection) else { continue }
        context.deliver(.unsubscribed(context.centralInfo(of: link), characteristic.id), to: characteristic.session)
      }
    }
    context.host.removeService(declaration: service.range.lowerBound, at: now)
  }
}
