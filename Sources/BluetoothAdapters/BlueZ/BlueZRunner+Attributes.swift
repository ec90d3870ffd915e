import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothTypes
import BluetoothWire
import DequeModule
import NIOCore

// Services, characteristics and descriptors of devices.
extension BlueZRunner {
  func performOnAttributes(_ command: CentralCommand, of id: CentralSessionID) {
    switch command {
    case .discoverServices(let peer, let uuids):
      whenResolved(peer) { [weak self] error in
        guard let self else { return }
        let found = services(of: peer).filter { $0.isPrimary && $0.uuid.isAmong(uuids) }
        deliver(.servicesDiscovered(peer, Self.result(found, error)), to: id)
      }
    case .discoverIncludedServices(let peer, let service, let uuids):
      whenResolved(peer) { [weak self] error in
        guard let self else { return }
        let included = properties(BlueZName.gattService, of: service, peer)?["Includes"]?.pathList ?? []
        let found = services(of: peer).filter { info in
          included.contains { BlueZTree.handle(of: $0) == info.id.handle } && info.uuid.isAmong(uuids)
        }
        deliver(.includedServicesDiscovered(peer, service, Self.result(found, error)), to: id)
      }
    case .discoverCharacteristics(let peer, let service, let uuids):
      whenResolved(peer) { [weak self] error in
        guard let self else { return }
        let found = characteristics(of: service, peer).filter { $0.uuid.isAmong(uuids) }
        deliver(.characteristicsDiscovered(peer, service, Self.result(found, error)), to: id)
      }
    case .discoverDescriptors(let peer, let characteristic):
      whenResolved(peer) { [weak self] error in
        guard let self else { return }
        let found = descriptors(of: characteristic, peer)
        deliver(.descriptorsDiscovered(peer, characteristic, Self.result(found, error)), to: id)
      }
    case .read(let peer, let attribute): read(peer, attribute, id)
    case .write(let peer, let attribute, let value):
      write(value, "request", peer, attribute) { [weak self] error in
        self?.deliver(.written(peer, attribute, error), to: id)
      }
    case .writeWithoutResponse(let peer, let attribute, let value),
      .signedWriteWithoutResponse(let peer, let attribute, let value):
      let then: @Sendable (SessionError?) -> Void = { [weak self] _ in
        guard let self, let central = centrals[id], central.counters.writeCredits(for: peer).put() else { return }
        deliver(.readyToWriteWithoutResponse(peer), to: id)
      }
      // BlueZ signs a command itself if the characteristic has only signed writes.
      guard let path = devices[peer]?.attributes[attribute.handle], canAcquireWrite(path, of: peer) else {
        return write(value, "command", peer, attribute, then)
      }
      writeBySocket(value.bytes, at: path, of: peer, then: then) { [weak self] value, then in
        self?.write(ByteSlice(value), "command", peer, attribute, then)
      }
    case .setNotify(let peer, let attribute, let isOn): setNotify(peer, attribute, isOn, id)
    default: break
    }
  }

  private static func result<Found>(_ found: Found, _ error: SessionError?) -> Result<Found, SessionError> {
    error.map { .failure($0) } ?? .success(found)
  }

  // MARK: The objects

  func attributeAdded(_ interfaces: [String], at path: String) {
    guard let peer = peers[BlueZTree.devicePath(of: path)], let handle = BlueZTree.handle(of: path) else { return }
    let isNew = devices[peer]?.attributes.updateValue(path, forKey: handle) == nil
    if isNew, interfaces.contains(BlueZName.gattService), devices[peer]?.isResolved == true {
      modified(peer, [])
    }
  }

  func attributeRemoved(_ interfaces: [String], at path: String) {
    guard let peer = peers[BlueZTree.devicePath(of: path)], let handle = BlueZTree.handle(of: path) else { return }
    devices[peer]?.attributes[handle] = nil
    for id in Array(centrals.keys) { centrals[id]?.notifying.remove(path) }
    if interfaces.contains(BlueZName.gattService), devices[peer]?.isResolved == true {
      modified(peer, [RemoteAttributeID(handle)])
    }
  }

  private func modified(_ peer: PeerHandle, _ services: [RemoteAttributeID]) {
    for id in sortedCentrals where centrals[id]?.uses[peer] == .connected {
      deliver(.servicesModified(peer, services), to: id)
    }
  }

  /// Calls `body` when BlueZ has discovered the services of a device, or with the reason why it does not.
  private func whenResolved(_ peer: PeerHandle, _ body: @escaping (SessionError?) -> Void) {
    guard let device = devices[peer], device.isConnected else {
      return body(.link(.remoteUserTerminatedConnection))
    }
    if device.isResolved { return body(nil) }
    devices[peer]?.waiting.append(body)
  }

  func resolved(_ peer: PeerHandle) {
    guard let device = devices[peer], device.isConnected, !device.isResolved else { return }
    devices[peer]?.isResolved = true
    devices[peer]?.waiting = []
    updateWriteLength(ofDeviceAt: device.path)
    for request in device.waiting { request(nil) }
  }

  /// Follows the ATT_MTU of a link, which BlueZ shows with each characteristic.
  func updateWriteLength(ofDeviceAt path: String) {
    guard let peer = peers[path], let device = devices[peer], device.isResolved else { return }
    let mtu = device.attributes.values.compactMap {
      tree.properties(BlueZName.characteristic, at: $0)?["MTU"]?.integer
    }.max()
    guard let mtu, mtu > 3, mtu - 3 != device.maximumWriteLength else { return }
    devices[peer]?.maximumWriteLength = mtu - 3
    for id in sortedCentrals where centrals[id]?.uses[peer] == .connected {
      deliver(.maximumWriteLengthChanged(peer, mtu - 3), to: id)
    }
  }

  private func properties(
    _ interface: String, of attribute: RemoteAttributeID, _ peer: PeerHandle
  ) -> [String: DBusValue]? {
    devices[peer]?.attributes[attribute.handle].flatMap { tree.properties(interface, at: $0) }
  }

  /// Returns the objects with an interface below the object of an attribute, or of the device, by their handles.
  private func objects(
    _ interface: String, below path: String?
  ) -> [(id: RemoteAttributeID, uuid: BluetoothUUID, properties: [String: DBusValue])] {
    guard let path else { return [] }
    return tree.paths(with: interface, below: path).compactMap { path in
      guard let handle = BlueZTree.handle(of: path), let properties = tree.properties(interface, at: path),
        let uuid = properties["UUID"]?.string.flatMap({ BluetoothUUID($0) })
      else { return nil }
      return (RemoteAttributeID(handle), uuid.attributeForm, properties)
    }.sorted { $0.id.handle < $1.id.handle }
  }

  private func services(of peer: PeerHandle) -> [RemoteServiceInfo] {
    objects(BlueZName.gattService, below: devices[peer]?.path).filter { !hiddenServices.contains($0.uuid) }.map {
      RemoteServiceInfo(id: $0.id, uuid: $0.uuid, isPrimary: $0.properties["Primary"]?.bool ?? true)
    }
  }

  private func characteristics(of service: RemoteAttributeID, _ peer: PeerHandle) -> [RemoteCharacteristicInfo] {
    objects(BlueZName.characteristic, below: devices[peer]?.attributes[service.handle]).map {
      RemoteCharacteristicInfo(
        id: $0.id, uuid: $0.uuid, properties: CharacteristicProperties(flags: $0.properties["Flags"]?.texts ?? []))
    }
  }

  private func descriptors(of characteristic: RemoteAttributeID, _ peer: PeerHandle) -> [RemoteDescriptorInfo] {
    objects(BlueZName.descriptor, below: devices[peer]?.attributes[characteristic.handle]).map {
      RemoteDescriptorInfo(id: $0.id, uuid: $0.uuid)
    }
  }

  // MARK: Values

  /// Returns the path and the interface of a characteristic or a descriptor; nil: the device does not have it.
  private func object(_ peer: PeerHandle, _ attribute: RemoteAttributeID) -> (path: String, interface: String)? {
    guard let path = devices[peer]?.attributes[attribute.handle] else { return nil }
    let interfaces = [BlueZName.characteristic, BlueZName.descriptor]
    return interfaces.first { tree.properties($0, at: path) != nil }.map { (path, $0) }
  }

  /// Calls a method of an attribute after the earlier operations of this process on it.
  private func operate(
    _ member: String, _ object: (path: String, interface: String), _ arguments: [DBusValue], _ peer: PeerHandle,
    _ then: @escaping @Sendable (Result<DBusReply, DBusError>) -> Void
  ) {
    let operation = { [weak self] () -> Void in
      guard let self else { return }
      call(member, of: object.interface, at: object.path, arguments) { [weak self] result in
        // The next one begins first: what follows from the result comes after it.
        self?.finishOperation(peer, object.path)
        then(result)
      }
    }
    guard devices[peer]?.operations[object.path] == nil else {
      devices[peer]?.operations[object.path]?.append(operation)
      return
    }
    devices[peer]?.operations[object.path] = []
    operation()
  }

  private func finishOperation(_ peer: PeerHandle, _ path: String) {
    if let next = devices[peer]?.operations[path]?.popFirst() { next() } else { devices[peer]?.operations[path] = nil }
  }

  private func read(_ peer: PeerHandle, _ attribute: RemoteAttributeID, _ id: CentralSessionID) {
    guard let object = object(peer, attribute) else {
      return deliver(.valueRead(peer, attribute, .failure(.invalidHandle)), to: id)
    }
    devices[peer]?.reads[object.path, default: (0, [])].count += 1
    operate("ReadValue", object, [.properties([:])], peer) { [weak self] result in
      guard let self else { return }
      let value: Result<[UInt8], SessionError>
      switch result {
      case .success(let reply): value = .success(reply.body.first?.octets ?? [])
      case .failure(let error): value = .failure(SessionError(attribute: error, isWrite: false))
      }
      finishRead(peer, object.path, try? value.get())
      deliver(.valueRead(peer, attribute, value.map { ByteSlice($0) }), to: id)
    }
  }

  /// Reports the values that were held during a read, except the one that the read has caused.
  private func finishRead(_ peer: PeerHandle, _ path: String, _ value: [UInt8]?) {
    guard var read = devices[peer]?.reads[path] else { return }
    if let index = read.values.lastIndex(where: { $0 == value }) { read.values.remove(at: index) }
    read.count -= 1
    let values = read.count == 0 ? read.values : []
    devices[peer]?.reads[path] = read.count == 0 ? nil : read
    for value in values { valueReported(value, at: path) }
  }

  /// Handles a changed value. BlueZ reports that of a notification and that of a read in the same way.
  func valueReported(_ value: [UInt8], at path: String) {
    guard let peer = peers[BlueZTree.devicePath(of: path)], let handle = BlueZTree.handle(of: path) else { return }
    if devices[peer]?.reads[path] != nil {
      devices[peer]?.reads[path]?.values.append(value)
      return
    }
    for id in sortedCentrals where centrals[id]?.notifying.contains(path) == true {
      deliver(.valueChanged(peer, RemoteAttributeID(handle), ByteSlice(value)), to: id)
    }
  }

  private func write(
    _ value: ByteSlice, _ type: String, _ peer: PeerHandle, _ attribute: RemoteAttributeID,
    _ then: @escaping @Sendable (SessionError?) -> Void
  ) {
    guard let object = object(peer, attribute) else { return then(.invalidHandle) }
    // Descriptors have one kind of write.
    let options: [String: DBusValue] = object.interface == BlueZName.characteristic ? ["type": .string(type)] : [:]
    operate("WriteValue", object, [.bytes(value.bytes), .properties(options)], peer) { result in
      switch result {
      case .success: then(nil)
      case .failure(let error): then(SessionError(attribute: error, isWrite: true))
      }
    }
  }

  // MARK: Notifications

  private func setNotify(_ peer: PeerHandle, _ attribute: RemoteAttributeID, _ isOn: Bool, _ id: CentralSessionID) {
    guard let object = object(peer, attribute), object.interface == BlueZName.characteristic else {
      return deliver(.notifyStateChanged(peer, attribute, isNotifying: false, .invalidHandle), to: id)
    }
    guard isOn else {
      stopNotifying(object.path, id)
      return deliver(.notifyStateChanged(peer, attribute, isNotifying: false, nil), to: id)
    }
    let isFirst = !centrals.values.contains { $0.notifying.contains(object.path) }
    // The first value may come before the answer.
    centrals[id]?.notifying.insert(object.path)
    guard isFirst else { return deliver(.notifyStateChanged(peer, attribute, isNotifying: true, nil), to: id) }
    startNotifying(object.path, of: peer) { [weak self] error in
      guard let self else { return }
      guard let error else {
        return deliver(.notifyStateChanged(peer, attribute, isNotifying: true, nil), to: id)
      }
      centrals[id]?.notifying.remove(object.path)
      let reason = SessionError(attribute: error, isWrite: true)
      deliver(.notifyStateChanged(peer, attribute, isNotifying: false, reason), to: id)
    }
  }

  /// Ends the notifications of a session, and those of BlueZ if no other session has them.
  func stopNotifying(_ path: String, _ id: CentralSessionID) {
    guard centrals[id]?.notifying.remove(path) != nil, !centrals.values.contains(where: { $0.notifying.contains(path) })
    else { return }
    endNotifying(path)
  }
}

extension BluetoothUUID {
  /// Returns true if the UUID is one of those that an app asks for; nil or empty: it asks for all.
  fileprivate func isAmong(_ uuids: [BluetoothUUID]?) -> Bool {
    uuids.map { $0.isEmpty || $0.contains(self) } ?? true
  }
}
