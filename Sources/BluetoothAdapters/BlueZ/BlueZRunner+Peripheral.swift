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
    case .startAdvertising(let localName, let services): startAdvertising(localName, services, id)
    case .stopAdvertising: stopAdvertising(id)
    case .advertise: deliver(.advertisingStarted(.notSupported), to: id)
    case .startSet(let set, _): deliver(.advertisingSetStarted(set, .notSupported), to: id)
    case .addService(let service): add(service, id)
    case .addServiceAt(let service): deliver(.serviceAdded(service.id, .notSupported), to: id)
    case .removeService(let service): remove(service, id)
    case .removeAllServices:
      for service in Array((peripherals[id]?.services ?? [:]).keys) { remove(service, id) }
    case .respond(let request, let code, let value): respond(request, code, value, id)
    case .update(let characteristic, let value, _): update(characteristic, value, id)
    case .changeLink(let peer, let request):
      guard let central = peripherals[id]?.centrals[peer] else { return }
      deliver(.link(central, .requestEnded(request.kind, .notSupported)), to: id)
    case .publishChannel: deliver(.channelPublished(psm: 0, .notSupported), to: id)
    case .unpublishChannel(let psm): deliver(.channelUnpublished(psm: psm, .notSupported), to: id)
    // BlueZ has no interface for the latency of a link, or to end that of a central.
    case .stopSet, .setConnectionLatency, .disconnect, .observeLinks, .barrier, .askForPower: break
    }
  }

  /// Ends what a session has published.
  func dropPeripheral(_ id: PeripheralSessionID) {
    guard let peripheral = peripherals[id] else { return }
    stopAdvertising(id)
    for service in peripheral.services.keys { remove(service, id) }
    for request in peripheral.requests.values { request.responder.fail(DBusError(BlueZName.error + "Failed")) }
    var empty = BlueZPeripheral(peripheral.counters)
    empty.states = peripheral.states
    peripherals[id] = empty
    peripheral.counters.returnAllCredits()
  }

  // MARK: Advertising

  private func startAdvertising(_ localName: String?, _ services: [BluetoothUUID], _ id: PeripheralSessionID) {
    guard let connection, let adapterPath else { return }
    guard peripherals[id]?.advertisement == nil else {
      return deliver(.advertisingStarted(.alreadyAdvertising), to: id)
    }
    let path = nextPath("advertisement")
    peripherals[id]?.advertisement = path
    let interface = BlueZApplication.advertisement(localName, services) { [weak self] in
      guard let self, peripherals[id]?.advertisement == path else { return }
      self.connection?.unexport(at: path)
      peripherals[id]?.advertisement = nil
    }
    connection.export([interface], at: path)
    call(
      "RegisterAdvertisement", of: Self.advertisingManager, at: adapterPath, [.path(path), .properties([:])]
    ) { [weak self] result in
      guard let self, peripherals[id]?.advertisement == path else { return }
      guard case .failure(let error) = result else { return deliver(.advertisingStarted(nil), to: id) }
      DaemonLog.trace("advertising is refused: \(error)", of: name)
      self.connection?.unexport(at: path)
      peripherals[id]?.advertisement = nil
      deliver(.advertisingStarted(Self.reason(of: error)), to: id)
    }
  }

  private func stopAdvertising(_ id: PeripheralSessionID) {
    guard let path = peripherals[id]?.advertisement, let adapterPath else { return }
    peripherals[id]?.advertisement = nil
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
      subscribe: { [weak self] in self?.subscribed($0, $1, id) })
    let paths = BlueZApplication.export(service, at: root, on: connection, handlers)
    peripherals[id]?.services[service.id] = BlueZPeripheral.Service(info: service, root: root)
    for (characteristic, path) in paths { peripherals[id]?.paths[characteristic] = path }
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
    for characteristic in former.info.characteristics {
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
    guard let path = options["device"]?.path, let peer = peers[path], let info = directory.peer(peer) else {
      return nil
    }
    let known = peripherals[id]?.centrals[peer]
    let length = options["mtu"]?.integer.map { max($0 - 3, BlueZDevice.defaultWriteLength) }
    let central = CentralInfo(
      handle: peer, identifier: info.identifier,
      maximumUpdateLength: length ?? known?.maximumUpdateLength ?? BlueZDevice.defaultWriteLength)
    peripherals[id]?.centrals[peer] = central
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

  // MARK: Notifications

  /// The one central that stands for all subscribers: BlueZ tells of the first and the last one, not which they are.
  private func subscribers(_ id: PeripheralSessionID) -> CentralInfo {
    let identifier = PeerIdentifier(high: 0, low: 1)
    let peer =
      directory.peer(identifier) ?? directory.add(identifier, DeviceAddress(0, .public), name: nil)
    return CentralInfo(
      handle: peer.handle, identifier: identifier,
      maximumUpdateLength: peripherals[id]?.updateLength ?? BlueZDevice.defaultWriteLength)
  }

  private func subscribed(_ characteristic: LocalAttributeID, _ isOn: Bool, _ id: PeripheralSessionID) {
    guard peripherals[id] != nil else { return }
    let central = subscribers(id)
    deliver(isOn ? .subscribed(central, characteristic) : .unsubscribed(central, characteristic), to: id)
  }

  private func update(_ characteristic: LocalAttributeID, _ value: ByteSlice, _ id: PeripheralSessionID) {
    guard let peripheral = peripherals[id] else { return }
    if let path = peripheral.paths[characteristic] {
      connection?.emit(
        "PropertiesChanged", of: BlueZName.properties, at: path,
        [.string(BlueZName.characteristic), .properties(["Value": .bytes(value.bytes)]), .strings([])])
    }
    if peripheral.counters.updateCredits.put() { deliver(.readyToUpdate, to: id) }
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
