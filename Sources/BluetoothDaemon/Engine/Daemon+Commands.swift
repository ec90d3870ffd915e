import BluetoothHost
import BluetoothWire

// While the adapter is not on or its use is not permitted, the daemon drops every command but `barrier` and `askForPower`,
// as the session's client does: only commands that were in transit when the state changed arrive here. The daemon also
// drops commands that were in transit when the adapter went off and on again (`isCurrent` is false).
extension Daemon {
  mutating func perform(_ command: CentralCommand, for session: CentralSessionID, isCurrent: Bool, at now: Instant) {
    if case .barrier(let number) = command { return deliver(.barrierReached(number), to: session) }
    if case .askForPower = command { return askForPower(at: now) }
    guard stateForApps == .poweredOn, isCurrent else {
      switch command {
      case .writeWithoutResponse(let peer, _, _), .signedWriteWithoutResponse(let peer, _, _):
        _ = centralCounters(of: session)?.writeCredits(for: peer).put()
      default: break
      }
      return
    }
    switch command {
    case .scan(let request): scan(request, by: session, at: now)
    case .stopScan: stopScan(by: session, at: now)
    case .connect(let peer, let delay, let reconnects):
      connect(peer, delay: delay, reconnects: reconnects, for: session, at: now)
    case .cancelConnection(let peer): cancelConnection(to: peer, by: session, at: now)
    case .readRSSI(let peer): readRSSI(of: peer, for: session, at: now)
    case .discoverServices(let peer, let filter):
      discover(.services, filter: filter, at: peer, for: session, now: now)
    case .discoverIncludedServices(let peer, let service, let filter):
      discover(.includes(of: service.handle), filter: filter, at: peer, for: session, now: now)
    case .discoverCharacteristics(let peer, let service, let filter):
      discover(.characteristics(of: service.handle), filter: filter, at: peer, for: session, now: now)
    case .discoverDescriptors(let peer, let characteristic):
      discover(.descriptors(of: characteristic.handle), filter: nil, at: peer, for: session, now: now)
    case .read(let peer, let attribute): read(attribute, at: peer, for: session, now: now)
    case .write(let peer, let attribute, let value): write(value, to: attribute, at: peer, for: session, now: now)
    case .writeWithoutResponse(let peer, let attribute, let value):
      writeWithoutResponse(value, to: attribute, at: peer, isSigned: false, for: session, now: now)
    case .signedWriteWithoutResponse(let peer, let attribute, let value):
      writeWithoutResponse(value, to: attribute, at: peer, isSigned: true, for: session, now: now)
    case .setNotify(let peer, let attribute, let isOn):
      setNotify(isOn, attribute, at: peer, for: session, now: now)
    case .openChannel(let peer, let psm): openChannel(psm, to: peer, for: session, at: now)
    case .barrier, .askForPower: break
    }
  }

  mutating func perform(
    _ command: PeripheralCommand, for session: PeripheralSessionID, isCurrent: Bool, at now: Instant
  ) {
    if case .barrier(let number) = command { return deliver(.barrierReached(number), to: session) }
    if case .askForPower = command { return askForPower(at: now) }
    guard stateForApps == .poweredOn, isCurrent else {
      if case .update = command { _ = peripheralCounters(of: session)?.updateCredits.put() }
      return
    }
    switch command {
    case .startAdvertising(let localName, let services):
      startAdvertising(localName: localName, services: services, by: session, at: now)
    case .stopAdvertising: stopAdvertising(by: session, at: now)
    case .addService(let service): add(service, of: session, at: now)
    case .removeService(let id): remove(id, of: session, at: now)
    case .removeAllServices: removeAllServices(of: session, at: now)
    case .respond(let id, let error, let value): respond(to: id, error, value: value, by: session, at: now)
    case .update(let id, let value, let centrals): update(id, value, centrals, by: session, at: now)
    case .setConnectionLatency(let latency, let central):
      setConnectionLatency(latency, of: central, at: now)
    case .publishChannel(let isEncrypted): publishChannel(isEncrypted: isEncrypted, by: session, at: now)
    case .unpublishChannel(let psm): unpublishChannel(psm, by: session, at: now)
    case .barrier, .askForPower: break
    }
  }
}
