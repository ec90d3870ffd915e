import BluetoothHost
import BluetoothWire

extension Daemon {
  mutating func add(_ service: LocalService, of session: PeripheralSessionID, at now: Instant) {
    deliver(.serviceAdded(service.id, place(service, of: session, at: now)), to: session)
  }

  /// Adds a service to the host's database. Returns nil if successful, otherwise the error.
  private mutating func place(_ service: LocalService, of session: PeripheralSessionID, at now: Instant)
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
      characteristics: service.characteristics.map(\.definition))
    switch host.addService(definition, at: now) {
    case .success(let placement):
      localDatabase.add(service, of: session, at: placement)
      return nil
    case .failure(.full): return .outOfSpace
    case .failure(.invalidValueLength): return .att(.invalidAttributeValueLength)
    case .failure(.unknownService), .failure(.invalidDescriptor): return .invalidParameters
    }
  }

  mutating func remove(_ id: LocalAttributeID, of session: PeripheralSessionID, at now: Instant) {
    guard let service = localDatabase.service(id, of: session) else { return }
    remove(service, at: now)
  }

  /// Removes all services of a session in the reverse order of their addition, so that a service is removed before the
  /// services that it includes.
  mutating func removeAllServices(of session: PeripheralSessionID, at now: Instant) {
    for service in localDatabase.services.reversed() where service.session == session { remove(service, at: now) }
  }

  private mutating func remove(_ service: LocalDatabase.Service, at now: Instant) {
    for characteristic in localDatabase.remove(service.range.lowerBound) {
      for connection in characteristic.subscribers {
        guard let link = linkIndex(of: connection) else { continue }
        deliver(.unsubscribed(centralInfo(of: link), characteristic.id), to: characteristic.session)
      }
    }
    host.removeService(declaration: service.range.lowerBound, at: now)
  }
}
