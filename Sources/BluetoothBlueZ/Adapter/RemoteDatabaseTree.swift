import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// The attributes of a device as objects of the service. It finds them after each connection, and keeps the objects when
/// the link ends.
final class RemoteDatabaseTree {
  unowned let device: ExportedDevice
  let context: ServerContext
  private(set) var mtu = 23
  private var services: [RemoteAttributeID: RemoteServiceObject] = [:]
  var characteristics: [RemoteAttributeID: RemoteCharacteristicObject] = [:]
  private var descriptors: [RemoteAttributeID: RemoteDescriptorObject] = [:]
  private var byPath: [String: RemoteAttributeObject] = [:]
  /// The number of answers that the discovery waits for; 0: no discovery.
  private var pendingAnswers = 0
  private var isResolved = false
  /// The objects that the current discovery has found.
  private var found: Set<String> = []
  /// The battery level that is shown as `Battery1`.
  var batteryLevel: RemoteAttributeID?

  init(of device: ExportedDevice) {
    self.device = device
    context = device.adapter.context
  }

  var peer: PeerHandle { device.peer }
  func send(_ command: CentralCommand) { device.adapter.session.send(command) }

  // MARK: Discovery

  /// Looks for all attributes on a new link.
  func begin(mtu: Int) {
    self.mtu = mtu
    discover()
  }

  private func discover() {
    found.removeAll()
    isResolved = false
    pendingAnswers = 1
    send(.discoverServices(peer, nil))
  }

  func servicesDiscovered(_ result: Result<[RemoteServiceInfo], SessionError>) {
    guard pendingAnswers > 0 else { return }
    switch result {
    case .failure(let error):
      pendingAnswers = 0
      device.resolutionFailed(error)
    case .success(let infos):
      for info in infos {
        services[info.id] = object(services[info.id], info.id) {
          RemoteServiceObject(info, in: device.path)
        }
        pendingAnswers += 2
        send(.discoverIncludedServices(peer, info.id, nil))
        send(.discoverCharacteristics(peer, info.id, nil))
      }
      answered()
    }
  }

  /// Returns the object of an attribute that the discovery has found: the one of an earlier link if it is the same.
  private func object<O: RemoteAttributeObject>(_ known: O?, _ id: RemoteAttributeID, _ make: () -> O) -> O {
    let new = make()
    if let known, !known.isSame(as: new) { remove(known.path) }
    let object = if let known, known.isSame(as: new) { known } else { new }
    found.insert(object.path)
    return object
  }

  func includedServicesDiscovered(
    _ service: RemoteAttributeID, _ result: Result<[RemoteServiceInfo], SessionError>
  ) {
    if case .success(let infos) = result { services[service]?.includes = infos.map(\.id) }
    answered()
  }

  func characteristicsDiscovered(
    _ service: RemoteAttributeID, _ result: Result<[RemoteCharacteristicInfo], SessionError>
  ) {
    if case .success(let infos) = result, let owner = services[service] {
      for info in infos {
        characteristics[info.id] = object(characteristics[info.id], info.id) {
          RemoteCharacteristicObject(info, in: owner)
        }
        pendingAnswers += 1
        send(.discoverDescriptors(peer, info.id))
      }
    }
    answered()
  }

  func descriptorsDiscovered(
    _ characteristic: RemoteAttributeID, _ result: Result<[RemoteDescriptorInfo], SessionError>
  ) {
    if case .success(let infos) = result, let owner = characteristics[characteristic] {
      // BlueZ shows the extended properties as flags, and hides their descriptor.
      for info in infos where info.uuid != 0x2900 {
        descriptors[info.id] = object(descriptors[info.id], info.id) { RemoteDescriptorObject(info, in: owner) }
      }
    }
    answered()
  }

  private func answered() {
    guard pendingAnswers > 0 else { return }
    pendingAnswers -= 1
    if pendingAnswers == 0 { finishDiscovery() }
  }

  private func finishDiscovery() {
    for path in byPath.keys.sorted(by: >) where !found.contains(path) { remove(path) }
    // Each object comes after the one to which it belongs.
    for service in services.values.sorted(by: { $0.path < $1.path }) {
      let includes = service.includes.compactMap { services[$0]?.path }
      add(service, BlueZInterface.service, service.properties(device: device.path, includes: includes))
    }
    for characteristic in characteristics.values.sorted(by: { $0.path < $1.path }) {
      add(characteristic, BlueZInterface.characteristic, characteristic.properties(mtu: mtu))
      context.tree.set(
        "MTU", .uint16(UInt16(mtu)), of: BlueZInterface.characteristic, at: characteristic.path)
    }
    for descriptor in descriptors.values.sorted(by: { $0.path < $1.path }) {
      add(descriptor, BlueZInterface.descriptor, descriptor.properties())
    }
    isResolved = true
    beginBattery()
    // Clients may have subscribed while there was no link.
    for characteristic in characteristics.values where !characteristic.subscribers.isEmpty {
      send(.setNotify(peer, characteristic.id, true))
    }
    device.resolved(services.values.filter(\.info.isPrimary).map(\.info.uuid))
  }

  private func add(_ object: RemoteAttributeObject, _ interface: InterfaceDeclaration, _ values: [String: DBusValue]) {
    guard byPath[object.path] == nil else { return }
    byPath[object.path] = object
    context.add([(interface, values)], at: object.path)
  }

  private func remove(_ path: String) {
    guard let object = byPath.removeValue(forKey: path) else { return }
    object.fail(context, .doesNotExist)
    if let service = object as? RemoteServiceObject, services[service.id] === service { services[service.id] = nil }
    if let characteristic = object as? RemoteCharacteristicObject {
      characteristic.closeSockets()
      if characteristics[characteristic.id] === characteristic { characteristics[characteristic.id] = nil }
    }
    if let descriptor = object as? RemoteDescriptorObject, descriptors[descriptor.id] === descriptor {
      descriptors[descriptor.id] = nil
    }
    context.tree.remove(path)
  }

  /// The peer has changed its services.
  func servicesModified(_ ids: [RemoteAttributeID]) {
    for id in ids {
      guard let service = services[id] else { continue }
      for path in byPath.keys.sorted(by: >) where path == service.path || path.hasPrefix(service.path + "/") {
        remove(path)
      }
    }
    if device.hasClientLink { discover() }
  }

  // MARK: Link

  func setMTU(_ mtu: Int) {
    guard mtu != self.mtu else { return }
    self.mtu = mtu
    for characteristic in characteristics.values where byPath[characteristic.path] != nil {
      context.tree.set("MTU", .uint16(UInt16(mtu)), of: BlueZInterface.characteristic, at: characteristic.path)
    }
  }

  func linkEnded() {
    pendingAnswers = 0
    isResolved = false
    mtu = 23
    for object in byPath.values { object.fail(context, .failure("Not connected")) }
    for characteristic in characteristics.values {
      characteristic.closeSockets()
      characteristic.waitingWrites.removeAll()
      characteristic.subscribers.removeAll()
      characteristic.isSubscribed = false
      showState(characteristic)
    }
    batteryLevel = nil
  }

  func removeObjects() {
    for path in byPath.keys.sorted(by: >) { remove(path) }
  }

  // MARK: Calls

  func handle(_ call: BusCall, _ answer: BusAnswer) {
    guard let object = byPath[call.path] else { return context.fail(answer, .doesNotExist) }
    guard device.hasClientLink, isResolved || pendingAnswers > 0 else {
      return context.fail(answer, .failure("Not connected"))
    }
    switch call.member {
    case "ReadValue": read(object, call, answer)
    case "WriteValue": write(object, call, answer)
    default:
      guard let characteristic = object as? RemoteCharacteristicObject else {
        return context.fail(answer, .notSupported)
      }
      context.watch(call.sender)
      switch call.member {
      case "StartNotify": startNotify(characteristic, call.sender, answer)
      case "StopNotify": stopNotify(characteristic, call.sender, answer)
      case "AcquireNotify": acquireNotify(characteristic, call.sender, answer)
      case "AcquireWrite": acquireWrite(characteristic, answer)
      default: context.fail(answer, .notSupported)
      }
    }
  }

  private func read(_ object: RemoteAttributeObject, _ call: BusCall, _ answer: BusAnswer) {
    guard let options = AttributeOptions(call.arguments.last) else { return context.fail(answer, .invalidCall) }
    // Reads of one value share a request.
    object.readers.append((options.offset, answer))
    if object.readers.count == 1 { send(.read(peer, object.id)) }
  }

  private func write(_ object: RemoteAttributeObject, _ call: BusCall, _ answer: BusAnswer) {
    guard let value = call.arguments.first?.octets, let options = AttributeOptions(call.arguments.last) else {
      return context.fail(answer, .invalidCall)
    }
    if object is RemoteDescriptorObject {
      // Clients subscribe by StartNotify.
      guard object.uuid != 0x2902 else { return context.fail(answer, .notPermitted("Write not permitted")) }
      return writeRequest(object, value, options, answer)
    }
    guard let characteristic = object as? RemoteCharacteristicObject else {
      return context.fail(answer, .notSupported)
    }
    guard characteristic.writeSocket == nil else { return context.fail(answer, .notPermitted("Write acquired")) }
    guard !characteristic.isClaimed else { return context.fail(answer, .notAuthorized) }
    switch options.type?.lowercased() {
    case "request": writeRequest(characteristic, value, options, answer)
    case nil where characteristic.info.properties.contains(.write):
      writeRequest(characteristic, value, options, answer)
    case "command",
      nil where characteristic.info.properties.contains(.writeWithoutResponse):
      guard options.offset == 0 else { return context.fail(answer, .notSupported) }
      guard value.count <= mtu - 3 else { return context.fail(answer, .failure("Failed to initiate write")) }
      characteristic.waitingWrites.append((value, answer))
      sendWrites()
    // Reliable writes among them.
    default: context.fail(answer, .notSupported)
    }
  }

  private func writeRequest(
    _ object: RemoteAttributeObject, _ value: [UInt8], _ options: AttributeOptions, _ answer: BusAnswer
  ) {
    guard object.writer == nil else { return context.fail(answer, .inProgress) }
    guard options.offset == 0 else { return context.fail(answer, .notSupported) }
    guard value.count <= ATT.maximumValueLength else {
      return context.fail(answer, .invalidArguments("Invalid Length"))
    }
    object.writer = answer
    send(.write(peer, object.id, ByteSlice(value)))
  }

  /// Sends writes without response as long as there are credits.
  func sendWrites() {
    let credits = device.adapter.session.writeCredits(for: peer)
    for characteristic in characteristics.values.sorted(by: { $0.path < $1.path }) {
      while let (value, answer) = characteristic.waitingWrites.first {
        guard credits.take() else { return }
        characteristic.waitingWrites.removeFirst()
        if characteristic.info.properties.contains(.authenticatedSignedWrites),
          !characteristic.info.properties.contains(.writeWithoutResponse)
        {
          send(.signedWriteWithoutResponse(peer, characteristic.id, ByteSlice(value)))
        } else {
          send(.writeWithoutResponse(peer, characteristic.id, ByteSlice(value)))
        }
        context.reply(answer)
      }
      characteristic.writeSocket?.setPaused(false)
    }
  }

  // MARK: Values

  func valueRead(_ attribute: RemoteAttributeID, _ result: Result<ByteSlice, SessionError>) {
    let object = characteristics[attribute] as RemoteAttributeObject? ?? descriptors[attribute]
    guard let object else { return }
    let readers = object.readers
    object.readers.removeAll()
    switch result {
    case .failure(let error): for reader in readers { context.fail(reader.answer, .attribute(error)) }
    case .success(let value):
      let value = value.bytes
      let interface =
        object is RemoteCharacteristicObject ? BlueZInterface.characteristic : BlueZInterface.descriptor
      context.tree.set("Value", .bytes(value), of: interface, at: object.path)
      if attribute == batteryLevel { showBattery(value) }
      for reader in readers {
        if reader.offset > value.count {
          context.fail(reader.answer, .invalidArguments("Invalid offset"))
        } else {
          context.reply(reader.answer, [.bytes(Array(value.dropFirst(reader.offset)))])
        }
      }
    }
  }

  func written(_ attribute: RemoteAttributeID, _ error: SessionError?) {
    let object = characteristics[attribute] as RemoteAttributeObject? ?? descriptors[attribute]
    guard let answer = object?.writer.take() else { return }
    if let error { context.fail(answer, .attribute(error)) } else { context.reply(answer) }
  }

  func valueChanged(_ attribute: RemoteAttributeID, _ value: ByteSlice) {
    guard let characteristic = characteristics[attribute] else { return }
    let value = value.bytes
    if attribute == batteryLevel { showBattery(value) }
    if let socket = characteristic.notifySocket { return socket.send(value) }
    guard !characteristic.subscribers.isEmpty else { return }
    // Equal values in a row are as many notifications.
    context.tree.set(
      "Value", .bytes(value), of: BlueZInterface.characteristic, at: characteristic.path, isForced: true)
    context.tree.flush()
  }

  // MARK: Battery

  /// Reads the battery level and follows it, as BlueZ itself does.
  private func beginBattery() {
    guard let service = services.values.first(where: { $0.info.uuid == 0x180F }),
      let level = characteristics.values.first(where: {
        $0.info.uuid == 0x2A19 && $0.path.hasPrefix(service.path + "/")
      })
    else { return }
    batteryLevel = level.id
    send(.read(peer, level.id))
    if level.notifies { send(.setNotify(peer, level.id, true)) }
  }

  private func showBattery(_ value: [UInt8]) {
    guard let percentage = value.first else { return }
    if context.tree.has(BlueZInterface.battery, at: device.path) {
      context.tree.set("Percentage", .byte(percentage), of: BlueZInterface.battery, at: device.path)
    } else {
      context.add(
        [(BlueZInterface.battery, ["Percentage": .byte(percentage), "Source": .string("GATT Battery Service")])],
        at: device.path)
    }
  }

  // MARK: Clients

  func clientVanished(_ client: String) {
    for characteristic in characteristics.values.sorted(by: { $0.path < $1.path }) {
      characteristic.starting[client] = nil
      if characteristic.acquiringClient == client { characteristic.acquiringClient = nil }
      if characteristic.subscribers.contains(client) { unsubscribe(characteristic, client) }
    }
  }
}
