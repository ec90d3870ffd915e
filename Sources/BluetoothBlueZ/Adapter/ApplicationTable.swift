import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// The GATT applications of clients: their services in the adapter's database, and the requests of remote centrals, which
/// the clients answer · `GattManager1`.
final class ApplicationTable: @unchecked Sendable {
  // Unchecked: all functions are called on the loop of the service.
  typealias Registration = ExportedPeripheral.Registration

  private struct Application {
    var answer: BusAnswer?
    var services: [LocalServiceInfo] = []
    /// The services that the database has not confirmed yet.
    var pending: Set<LocalAttributeID> = []
  }

  private struct Characteristic {
    let registration: Registration
    let path: String
    var subscribers: Set<PeerHandle> = []
    let isIndicated: Bool
  }

  private unowned let peripheral: ExportedPeripheral
  private let context: ServerContext
  private var applications: [Registration: Application] = [:]
  private var characteristics: [LocalAttributeID: Characteristic] = [:]
  private var waitingUpdates: [(id: LocalAttributeID, value: [UInt8])] = []
  private var lastID: UInt32 = 0

  /// The most updates that wait for credits; a client that sends more loses the oldest ones.
  private static let maximumWaiting = 1_024

  init(of peripheral: ExportedPeripheral) {
    self.peripheral = peripheral
    context = peripheral.context
  }

  private func nextID() -> LocalAttributeID {
    lastID &+= 1
    return LocalAttributeID(number: lastID)
  }

  // MARK: Registration

  func register(_ registration: Registration, _ answer: BusAnswer) {
    guard applications[registration] == nil else { return context.fail(answer, .alreadyExists) }
    guard applications.keys.count(where: { $0.client == registration.client }) < ServerContext.maximumRegistrations
    else { return context.fail(answer, .tooMany) }
    applications[registration] = Application(answer: answer)
    context.bus.call(
      "GetManagedObjects", of: BlueZInterface.objectManager, at: registration.path, on: registration.client, []
    ) { [weak self] result in
      guard let self, applications[registration] != nil else { return }
      guard let objects = try? result.get().first, objects.entries?.isEmpty == false else {
        return refuse(registration, "No object received")
      }
      do throws(ApplicationReader.Invalid) {
        let reader = try ApplicationReader(objects, nextID: nextID)
        guard !reader.services.isEmpty else { throw ApplicationReader.Invalid() }
        readDescriptors(reader.services, registration)
      } catch {
        refuse(registration, "No valid service object found")
      }
    }
  }

  private func refuse(_ registration: Registration, _ text: String) {
    let answer = applications[registration]?.answer.take()
    remove(registration)
    context.fail(answer, .failure(text))
  }

  /// Reads the values of descriptors once, because the database serves them.
  private func readDescriptors(_ services: [ApplicationReader.Service], _ registration: Registration) {
    var services = services
    for service in services.indices {
      for characteristic in services[service].characteristics.indices {
        let descriptors = services[service].characteristics[characteristic].descriptors
        guard let place = descriptors.firstIndex(where: { $0.value == nil }) else { continue }
        context.bus.call(
          "ReadValue", of: BlueZInterface.descriptor.name, at: descriptors[place].path, on: registration.client,
          [.properties([:])]
        ) { [weak self, services] result in
          guard let self, applications[registration] != nil else { return }
          var services = services
          services[service].characteristics[characteristic].descriptors[place].value =
            (try? result.get().first?.octets) ?? []
          readDescriptors(services, registration)
        }
        return
      }
    }
    for service in services.indices {
      for place in services[service].characteristics.indices {
        let descriptors = services[service].characteristics[place].descriptors.map { descriptor in
          GATTDescriptorDefinition(uuid: descriptor.uuid, value: ByteSlice(descriptor.value ?? []))
        }
        services[service].characteristics[place].info.definition.descriptors = descriptors
      }
    }
    publish(services, registration)
  }

  private func publish(_ services: [ApplicationReader.Service], _ registration: Registration) {
    var ids: [String: LocalAttributeID] = [:]
    for service in services {
      let id = nextID()
      // bluez-peripheral lists a service among its own includes.
      let info = LocalServiceInfo(
        id: id, uuid: service.uuid, isPrimary: service.isPrimary, includes: service.includes.compactMap { ids[$0] },
        characteristics: service.characteristics.map(\.info))
      ids[service.path] = id
      for characteristic in service.characteristics {
        let properties = characteristic.info.definition.properties
        characteristics[characteristic.info.id] = Characteristic(
          registration: registration, path: characteristic.path,
          isIndicated: properties.contains(.indicate) && !properties.contains(.notify))
      }
      applications[registration]?.services.append(info)
      applications[registration]?.pending.insert(id)
      peripheral.session.send(.addService(info))
    }
  }

  /// Publishes all services again, because the adapter has been off.
  func publishAgain() {
    for application in applications.values {
      for service in application.services { peripheral.session.send(.addService(service)) }
    }
  }

  func serviceAdded(_ id: LocalAttributeID, _ error: SessionError?) {
    guard let registration = applications.first(where: { $0.value.pending.contains(id) })?.key else { return }
    guard error == nil else { return refuse(registration, "Failed to create entry in database") }
    applications[registration]?.pending.remove(id)
    guard applications[registration]?.pending.isEmpty == true else { return }
    showServices()
    context.reply(applications[registration]?.answer.take())
  }

  private func showServices() {
    let all = applications.values.filter(\.pending.isEmpty).flatMap(\.services)
    peripheral.adapter.showServices(all.filter(\.isPrimary).map(\.uuid))
  }

  @discardableResult
  func remove(_ registration: Registration) -> Bool {
    guard let application = applications.removeValue(forKey: registration) else { return false }
    for service in application.services.reversed() { peripheral.session.send(.removeService(service.id)) }
    characteristics = characteristics.filter { $0.value.registration != registration }
    waitingUpdates.removeAll { characteristics[$0.id] == nil }
    context.fail(application.answer, .failure("Failed to register application"))
    showServices()
    return true
  }

  func clientVanished(_ client: String) {
    for registration in applications.keys where registration.client == client { remove(registration) }
  }

  // MARK: Requests

  /// The options that BlueZ passes with a request.
  private func options(_ central: CentralInfo) -> [String: DBusValue] {
    var options: [String: DBusValue] = [
      "mtu": .uint16(UInt16(central.maximumUpdateLength + 3)), "link": .string("LE"),
    ]
    if let device = peripheral.adapter.device(of: central.handle) { options["device"] = .path(device.path) }
    return options
  }

  func readRequested(_ request: CentralRequestID, _ central: CentralInfo, _ id: LocalAttributeID, offset: Int) {
    guard let characteristic = characteristics[id] else {
      return peripheral.session.send(.respond(request, .unlikelyError, value: ByteSlice()))
    }
    var options = options(central)
    if offset > 0 { options["offset"] = .uint16(UInt16(clamping: offset)) }
    context.bus.call(
      "ReadValue", of: BlueZInterface.characteristic.name, at: characteristic.path,
      on: characteristic.registration.client, [.properties(options)]
    ) { [weak self] result in
      guard let session = self?.peripheral.session else { return }
      switch result {
      case .success(let body):
        guard let value = body.first?.octets, value.count <= ATT.maximumValueLength else {
          return session.send(.respond(request, .unlikelyError, value: ByteSlice()))
        }
        session.send(.respond(request, nil, value: ByteSlice(value)))
      case .failure(let error):
        session.send(.respond(request, ATT.ErrorCode(error, isRead: true), value: ByteSlice()))
      }
    }
  }

  func writeRequested(_ request: CentralRequestID?, _ central: CentralInfo, _ writes: [CentralWrite]) {
    let parts = writes.map { (id: $0.characteristic, offset: $0.offset, value: $0.value.bytes) }
    write(parts[...], options(central), request)
  }

  /// Passes the parts of a write to the client, one after the other; the first error ends it.
  private func write(
    _ parts: ArraySlice<(id: LocalAttributeID, offset: Int, value: [UInt8])>, _ options: [String: DBusValue],
    _ request: CentralRequestID?
  ) {
    func respond(_ error: ATT.ErrorCode?) {
      if let request { peripheral.session.send(.respond(request, error, value: ByteSlice())) }
    }
    guard let part = parts.first else { return respond(nil) }
    guard let characteristic = characteristics[part.id] else { return respond(.unlikelyError) }
    var all = options
    if part.offset > 0 { all["offset"] = .uint16(UInt16(clamping: part.offset)) }
    all["type"] = .string(request == nil ? "command" : "request")
    context.bus.call(
      "WriteValue", of: BlueZInterface.characteristic.name, at: characteristic.path,
      on: characteristic.registration.client, [.bytes(part.value), .properties(all)]
    ) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success: write(parts.dropFirst(), options, request)
      case .failure(let error):
        if let request {
          let code = ATT.ErrorCode(error, isRead: false)
          peripheral.session.send(.respond(request, code, value: ByteSlice()))
        }
      }
    }
  }

  // MARK: Subscriptions

  func subscribed(_ central: PeerHandle, _ id: LocalAttributeID) {
    guard let characteristic = characteristics[id] else { return }
    characteristics[id]?.subscribers.insert(central)
    if characteristic.subscribers.isEmpty { tell("StartNotify", characteristic) }
  }

  func unsubscribed(_ central: PeerHandle, _ id: LocalAttributeID) {
    guard characteristics[id]?.subscribers.remove(central) != nil, let characteristic = characteristics[id],
      characteristic.subscribers.isEmpty
    else { return }
    tell("StopNotify", characteristic)
  }

  func disconnected(_ central: PeerHandle) {
    for id in characteristics.keys.sorted(by: { $0.number < $1.number }) { unsubscribed(central, id) }
  }

  func confirmed(_ id: LocalAttributeID) {
    if let characteristic = characteristics[id], characteristic.isIndicated { tell("Confirm", characteristic) }
  }

  private func tell(_ member: String, _ characteristic: Characteristic) {
    context.bus.send(
      member, of: BlueZInterface.characteristic.name, at: characteristic.path,
      on: characteristic.registration.client, [])
  }

  /// A client has changed a value.
  func received(_ signal: BusSignal) {
    guard signal.interface == BlueZInterface.properties, signal.member == "PropertiesChanged", signal.body.count >= 2,
      signal.body[0].string == BlueZInterface.characteristic.name, let value = signal.body[1].options?["Value"]?.octets,
      let found = characteristics.first(where: {
        $0.value.path == signal.path && $0.value.registration.client == signal.sender
      }), !found.value.subscribers.isEmpty
    else { return }
    if waitingUpdates.count == Self.maximumWaiting { waitingUpdates.removeFirst() }
    waitingUpdates.append((found.key, value))
    sendUpdates()
  }

  func sendUpdates() {
    while let update = waitingUpdates.first, peripheral.session.updateCredits.take() {
      waitingUpdates.removeFirst()
      peripheral.session.send(.update(update.id, ByteSlice(update.value), nil))
    }
  }
}
