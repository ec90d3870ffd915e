import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import NIOCore

/// The peripheral role of an adapter: the GATT applications and the advertisements of clients. One peripheral session
/// has both. Confined to the event loop of the service.
final class ExportedPeripheral: @unchecked Sendable {
  // Unchecked: all functions are called on the loop.
  struct Registration: Hashable {
    let client: String
    let path: String
  }

  unowned let adapter: ExportedAdapter
  let context: ServerContext
  private(set) var session: PeripheralSession!
  private var end: SessionEnd<PeripheralEvent, PeripheralRole>!
  private(set) lazy var applications = ApplicationTable(of: self)
  private var advertisements: [Registration: Advertisement] = [:]
  private var lastSet: UInt32 = 0

  private struct Advertisement {
    let set: LocalSetID
    var answer: BusAnswer?
    var values: [String: DBusValue] = [:]
    var timer: Scheduled<Void>?
  }

  private static let maximumAdvertisements = 5

  static let managerProperties: [String: DBusValue] = [
    "ActiveInstances": .byte(0), "SupportedInstances": .byte(UInt8(maximumAdvertisements)),
    "SupportedIncludes": .strings(AdvertisementReader.includes),
    "SupportedSecondaryChannels": .strings(["1M", "2M", "Coded"]),
    "SupportedFeatures": .strings(["CanSetTxPower"]),
    "SupportedCapabilities": .properties([
      "MinTxPower": .int16(-127), "MaxTxPower": .int16(20), "MaxAdvLen": .byte(251), "MaxScnRspLen": .byte(251),
    ]),
  ]

  init(of adapter: ExportedAdapter) {
    self.adapter = adapter
    context = adapter.context
  }

  func begin() {
    let end = SessionEnd<PeripheralEvent, PeripheralRole>(on: context.loop) { [weak self] event in
      self?.receive(event)
    }
    self.end = end
    session = adapter.adapter.openPeripheralSession(for: end)
    end.attach(session)
    session.send(.observeLinks)
  }

  func stop() {
    for advertisement in advertisements.values { advertisement.timer?.cancel() }
    session.close()
  }

  func disconnect(_ peer: PeerHandle) { session.send(.disconnect(peer)) }

  // MARK: Calls

  func handle(_ call: BusCall, _ answer: BusAnswer) {
    guard let path = call.arguments.first?.path else { return context.fail(answer, .invalidCall) }
    context.watch(call.sender)
    let registration = Registration(client: call.sender, path: path)
    switch call.member {
    case "RegisterAdvertisement": register(registration, answer)
    case "UnregisterAdvertisement":
      guard remove(registration) else { return context.fail(answer, .doesNotExist) }
      context.reply(answer)
    case "RegisterApplication": applications.register(registration, answer)
    case "UnregisterApplication":
      guard applications.remove(registration) else { return context.fail(answer, .doesNotExist) }
      context.reply(answer)
    default: context.fail(answer, .notSupported)
    }
  }

  // MARK: Advertisements

  private func register(_ registration: Registration, _ answer: BusAnswer) {
    guard advertisements[registration] == nil else { return context.fail(answer, .alreadyExists) }
    guard advertisements.count < Self.maximumAdvertisements else {
      return context.fail(answer, .notPermitted("Maximum advertisements reached"))
    }
    lastSet &+= 1
    advertisements[registration] = Advertisement(set: LocalSetID(number: lastSet), answer: answer)
    context.bus.call(
      "GetAll", of: BlueZInterface.properties, at: registration.path, on: registration.client,
      [.string(BlueZInterface.advertisement)]
    ) { [weak self] result in
      guard let self, advertisements[registration] != nil else { return }
      switch result {
      case .failure: refuse(registration, "Failed to parse advertisement.")
      case .success(let body):
        advertisements[registration]?.values = body.first?.options ?? [:]
        start(registration)
      }
      context.tree.flush()
    }
  }

  /// Starts an advertisement, or changes it.
  private func start(_ registration: Registration) {
    guard let advertisement = advertisements[registration] else { return }
    do throws(AdvertisementReader.Invalid) {
      let reader = try AdvertisementReader(advertisement.values)
      let alias = context.tree.properties(of: BlueZInterface.adapter.name, at: adapter.path)?["Alias"]?.string
      let advertising = try reader.advertising(isDiscoverable: adapter.flag("Discoverable"), name: alias ?? "")
      session.send(.startSet(advertisement.set, advertising))
      guard advertisement.timer == nil, let timeout = reader.timeout else { return }
      advertisements[registration]?.timer = context.loop.scheduleTask(in: .seconds(Int64(timeout))) { [weak self] in
        self?.release(registration)
      }
    } catch {
      refuse(registration, "Failed to parse advertisement.")
    }
  }

  private func refuse(_ registration: Registration, _ text: String) {
    let answer = advertisements[registration]?.answer
    remove(registration)
    context.fail(answer, .failure(text))
  }

  /// Ends an advertisement, and tells its client.
  private func release(_ registration: Registration) {
    guard remove(registration) else { return }
    context.bus.send("Release", of: BlueZInterface.advertisement, at: registration.path, on: registration.client, [])
    context.tree.flush()
  }

  @discardableResult
  private func remove(_ registration: Registration) -> Bool {
    guard let advertisement = advertisements.removeValue(forKey: registration) else { return false }
    advertisement.timer?.cancel()
    session.send(.stopSet(advertisement.set))
    context.fail(advertisement.answer, .failure("Failed to register advertisement"))
    showInstances()
    return true
  }

  /// Applies a change of the adapter to the advertisements.
  func updateAdvertising() {
    for registration in advertisements.keys where advertisements[registration]?.answer == nil { start(registration) }
  }

  private func showInstances() {
    let count = advertisements.values.count { $0.answer == nil }
    let manager = BlueZInterface.advertisingManager
    context.tree.set("ActiveInstances", .byte(UInt8(count)), of: manager, at: adapter.path)
    context.tree.set(
      "SupportedInstances", .byte(UInt8(Self.maximumAdvertisements - count)), of: manager, at: adapter.path)
  }

  private func started(_ set: LocalSetID, _ error: SessionError?) {
    guard let registration = advertisements.first(where: { $0.value.set == set })?.key else { return }
    guard error == nil else { return refuse(registration, "Failed to register advertisement") }
    let answer = advertisements[registration]?.answer.take()
    showInstances()
    context.reply(answer)
  }

  // MARK: Events

  private func receive(_ event: PeripheralEvent) {
    context.loop.preconditionInEventLoop()
    switch event {
    case .stateChanged(let state):
      guard state == .poweredOn else { return }
      // The daemon has forgotten everything of the former state.
      applications.publishAgain()
      updateAdvertising()
    case .advertisingSetStarted(let set, let error): started(set, error)
    case .advertisingSetEnded(let set):
      if let registration = advertisements.first(where: { $0.value.set == set })?.key { release(registration) }
    case .link(let central, .changed(let info)):
      guard let device = adapter.device(of: central.handle) else { return }
      if !device.isCentralLink { device.setIncoming(true) }
      device.linkChanged(info)
    case .centralDisconnected(let central):
      adapter.devices[central.handle]?.setIncoming(false)
      applications.disconnected(central.handle)
    case .serviceAdded(let service, let error): applications.serviceAdded(service, error)
    case .subscribed(let central, let id): applications.subscribed(central.handle, id)
    case .unsubscribed(let central, let id): applications.unsubscribed(central.handle, id)
    case .readRequested(let request, let central, let id, let offset):
      applications.readRequested(request, central, id, offset: offset)
    case .writeRequested(let request, let central, let writes):
      applications.writeRequested(request, central, writes)
    case .readyToUpdate: applications.sendUpdates()
    case .indicationConfirmed(_, let id): applications.confirmed(id)
    case .channelOpened(_, let channel): _ = session.takeChannel(channel)
    case .restored, .advertisingStarted, .link, .maximumUpdateLengthChanged, .channelPublished, .channelUnpublished,
      .barrierReached:
      break
    }
    context.tree.flush()
  }

  func clientVanished(_ client: String) {
    for registration in advertisements.keys where registration.client == client { remove(registration) }
    applications.clientVanished(client)
  }
}
