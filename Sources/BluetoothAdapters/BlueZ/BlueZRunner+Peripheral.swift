import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothTypes
import BluetoothWire

// Peripheral managers: services and advertising.
extension BlueZRunner {
  private static let gattManager = "org.bluez.GattManager1"
  private static let advertisingManager = "org.bluez.LEAdvertisingManager1"

  func perform(_ command: PeripheralCommand, of id: PeripheralSessionID) {
    switch command {
    case .startAdvertising(let localName, let services):
      advertise(BlueZAdvertisement(localName: localName, services: services), nil, id)
    case .stopAdvertising: stopAdvertising(nil, id)
    case .advertise(let advertising): advertise(BlueZAdvertisement(advertising), nil, id)
    case .startSet(let set, let advertising):
      // BlueZ reads the properties once.
      stopAdvertising(set, id)
      advertise(BlueZAdvertisement(advertising), set, id)
    case .stopSet(let set): stopAdvertising(set, id)
    case .addService(let service): add(service, id)
    case .addServiceAt(let service): deliver(.serviceAdded(service.id, .notSupported), to: id)
    case .removeService(let service): remove(service, id)
    case .removeAllServices:
      for service in Array((peripherals[id]?.services ?? [:]).keys) { remove(service, id) }
    case .respond(let request, let code, let value): respond(request, code, value, id)
    case .update(let characteristic, let value, let centrals): update(characteristic, value, centrals, id)
    case .changeLink(let peer, let request):
      guard let central = peripherals[id]?.centrals[peer] else { return }
      deliver(.link(central, .requestEnded(request.kind, .notSupported)), to: id)
    case .publishChannel(let isEncrypted): publishChannel(isEncrypted: isEncrypted, id)
    case .unpublishChannel(let psm): unpublishChannel(psm, id)
    // BlueZ has no interface for the latency of a link, or to end that of a central.
    case .setConnectionLatency, .disconnect, .observeLinks, .barrier, .askForPower: break
    }
  }

  /// Ends what a session has published.
  func dropPeripheral(_ id: PeripheralSessionID) {
    guard let peripheral = peripherals[id] else { return }
    for set in peripheral.advertisements.keys { stopAdvertising(set, id) }
    unpublishChannels(of: id)
    for service in peripheral.services.keys { remove(service, id) }
    for request in peripheral.requests.values { request.responder.fail(DBusError(BlueZName.error + "Failed")) }
    var empty = BlueZPeripheral(peripheral.counters)
    empty.states = peripheral.states
    peripherals[id] = empty
    peripheral.counters.returnAllCredits()
  }

  // MARK: Advertising

  /// Starts a set, or with nil the advertising of the API.
  private func advertise(_ advertisement: BlueZAdvertisement?, _ set: LocalSetID?, _ id: PeripheralSessionID) {
    guard let connection, let adapterPath else { return }
    func started(_ error: SessionError?) {
      deliver(set.map { .advertisingSetStarted($0, error) } ?? .advertisingStarted(error), to: id)
    }
    guard peripherals[id]?.advertisements[set] == nil else { return started(.alreadyAdvertising) }
    guard let advertisement else { return started(.notSupported) }
    let path = nextPath("advertisement")
    peripherals[id]?.advertisements[set] = path
    let interface = advertisement.interface { [weak self] in
      guard let self, peripherals[id]?.advertisements[set] == path else { return }
      self.connection?.unexport(at: path)
      peripherals[id]?.advertisements[set] = nil
      if let set { deliver(.advertisingSetEnded(set), to: id) }
    }
    connection.export([interface], at: path)
    call(
      "RegisterAdvertisement", of: Self.advertisingManager, at: adapterPath, [.path(path), .properties([:])]
    ) { [weak self] result in
      guard let self, peripherals[id]?.advertisements[set] == path else { return }
      var reason: SessionError?
      if case .failure(let error) = result {
        DaemonLog.trace("advertising is refused: \(error)", of: name)
        self.connection?.unexport(at: path)
        peripherals[id]?.advertisements[set] = nil
        reason = Self.reason(of: error)
      }
      deliver(set.map { .advertisingSetStarted($0, reason) } ?? .advertisingStarted(reason), to: id)
    }
  }

  private func stopAdvertising(_ set: LocalSetID?, _ id: PeripheralSessionID) {
    guard let path = peripherals[id]?.advertisements.removeValue(forKey: set), let adapterPath else { return }
    call("UnregisterAdvertisement", of: Self.advertisingManager, at: adapterPath, [.path(path)])
    connection?.unexport(at: path)
  }

  private static func reason(of error: DBusError) -> SessionError {
    switch error.name.dropFirst(BlueZName.error.count) {
    case "NotPermitted": .outOfSpace
    case "InvalidLength", "InvalidArguments": .invalidParameters
    default: .notSupported
    }
  }

  // MARK: Services

  private func add(_ service: LocalServiceInfo, _ id: PeripheralSessionID) {
    guard let connection, let adapterPath else { return }
    // An application of BlueZ can't include a service of another one.
    guard service.includes.isEmpty else { return deliver(.serviceAdded(service.id, .notSupported), to: id) }
    let root = nextPath("application")
    let handlers = BlueZApplication.Handlers(
      read: { [weak self] in self?.readRequested($0, $1, $2, id) },
      write: { [weak self] in self?.writeRequested($0, $1, $2, id) },
      subscribe: { [weak self] in self?.subscribed($0, $1, id) },
      acquire: { [weak self] in self?.subscribeRequested($0, $1, $2, id) })
    let paths = BlueZApplication.export(
      service, at: root, on: connection, namesSubscribers: namesSubscribers, handlers)
    peripherals[id]?.services[service.id] = BlueZPeripheral.Service(info: service, root: root)
    for (characteristic, path) in paths { peripherals[id]?.paths[characteristic] = path }
    updateAgent()
    call(
      "RegisterApplication", of: Self.gattManager, at: adapterPath, [.path(root), .properties([:])]
    ) { [weak self] result in
      guard let self, peripherals[id]?.services[service.id]?.root == root else { return }
      guard case .failure(let error) = result else { return deliver(.serviceAdded(service.id, nil), to: id) }
      DaemonLog.trace("a service is refused: \(error)", of: name)
      forget(service.id, id)
      deliver(.serviceAdded(service.id, Self.reason(of: error)), to: id)
    }
  }

  private func remove(_ service: LocalAttributeID, _ id: PeripheralSessionID) {
    guard let root = peripherals[id]?.services[service]?.root else { return }
    if let adapterPath { call("UnregisterApplication", of: Self.gattManager, at: adapterPath, [.path(root)]) }
    forget(service, id)
  }

  /// Withdraws the objects of a service.
  private func forget(_ service: LocalAttributeID, _ id: PeripheralSessionID) {
    guard let former = peripherals[id]?.services.removeValue(forKey: service) else { return }
    updateAgent()
    for characteristic in former.info.characteristics {
      let sockets = peripherals[id]?.subscribers.removeValue(forKey: characteristic.id) ?? [:]
      for socket in sockets.values { socket.close() }
      peripherals[id]?.unnamedSubscribers.remove(characteristic.id)
      guard let path = peripherals[id]?.paths.removeValue(forKey: characteristic.id) else { continue }
      for number in characteristic.definition.descriptors.indices { connection?.unexport(at: "\(path)/desc\(number)") }
      connection?.unexport(at: path)
    }
    connection?.unexport(at: former.root + "/service")
    connection?.withdrawObjectManager(at: former.root)
  }

  // MARK: Requests of centrals

  /// Returns the central that a request names, with the length of its updates.
  private func central(_ options: [String: DBusValue], _ id: PeripheralSessionID) -> CentralInfo? {
    guard let path = options["device"]?.path, let peer = peers[path] else { return nil }
    return central(peer, mtu: options["mtu"]?.integer, of: id)
  }

  /// Returns a central, with the length of its updates as far as it is known.
  func central(_ peer: PeerHandle, mtu: Int? = nil, of id: PeripheralSessionID) -> CentralInfo {
    let known = peripherals[id]?.centrals[peer]
    let length = mtu.map { max($0 - 3, BlueZDevice.defaultWriteLength) }
    let central = CentralInfo(
      handle: peer, identifier: directory.peer(peer)?.identifier ?? PeerIdentifier(high: 0, low: 0),
      maximumUpdateLength: length ?? known?.maximumUpdateLength ?? BlueZDevice.defaultWriteLength)
    peripherals[id]?.centrals[peer] = central
    if let known, known != central { deliver(.maximumUpdateLengthChanged(central), to: id) }
    return central
  }

  private func keep(
    _ responder: DBusResponder, of central: CentralInfo, isWrite: Bool, _ id: PeripheralSessionID
  ) -> CentralRequestID {
    lastNumber += 1
    let request = CentralRequestID(number: lastNumber)
    peripherals[id]?.requests[request] = BlueZPeripheral.Request(
      central: central.handle, responder: responder, isWrite: isWrite)
    return request
  }

  private func readRequested(
    _ characteristic: LocalAttributeID, _ call: DBusCall, _ responder: DBusResponder, _ id: PeripheralSessionID
  ) {
    let options = call.arguments.first?.options ?? [:]
    guard isFromService(call), let central = central(options, id) else {
      return responder.fail(BlueZApplication.error(.unlikelyError))
    }
    let request = keep(responder, of: central, isWrite: false, id)
    deliver(.readRequested(request, central, characteristic, offset: options["offset"]?.integer ?? 0), to: id)
  }

  private func writeRequested(
    _ characteristic: LocalAttributeID, _ call: DBusCall, _ responder: DBusResponder, _ id: PeripheralSessionID
  ) {
    let options = call.arguments.last?.options ?? [:]
    guard isFromService(call), let central = central(options, id), let value = call.arguments.first?.octets else {
      return responder.fail(BlueZApplication.error(.unlikelyError))
    }
    // BlueZ asks if a prepared write may come. The write itself follows.
    guard options["prepare-authorize"]?.bool != true else { return responder.reply() }
    let write = CentralWrite(
      characteristic: characteristic, offset: options["offset"]?.integer ?? 0, value: ByteSlice(value))
    if options["type"]?.string == "command" {
      responder.reply()
      return deliver(.writeRequested(nil, central, [write]), to: id)
    }
    let request = keep(responder, of: central, isWrite: true, id)
    deliver(.writeRequested(request, central, [write]), to: id)
  }

  private func respond(
    _ id: CentralRequestID, _ code: ATT.ErrorCode?, _ value: ByteSlice, _ session: PeripheralSessionID
  ) {
    guard let request = peripherals[session]?.requests.removeValue(forKey: id) else { return }
    if let code { return request.responder.fail(BlueZApplication.error(code)) }
    request.responder.reply(request.isWrite ? [] : [.bytes(value.bytes)])
  }

  /// Voids the requests of a central that has disconnected.
  func centralDisconnected(_ peer: PeerHandle) {
    for id in peripherals.keys.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let central = peripherals[id]?.centrals.removeValue(forKey: peer) else { continue }
      for (request, kept) in peripherals[id]?.requests ?? [:] where kept.central == peer {
        peripherals[id]?.requests[request] = nil
        kept.responder.fail(BlueZApplication.error(.unlikelyError))
      }
      deliver(.centralDisconnected(central), to: id)
    }
  }
}
