import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import NIOCore

/// An adapter of the service: `Adapter1` and its devices. One central session serves the discoveries and connections of
/// all clients, because BlueZ shares both among its clients.
///
/// Confined to the event loop of the service.
final class ExportedAdapter: @unchecked Sendable {
  // Unchecked: all functions are called on the loop.
  let context: ServerContext
  let path: String
  let adapter: any DaemonAdapter
  private let prompts: BlueZPrompts?
  private(set) var session: CentralSession!
  private var end: SessionEnd<CentralEvent, CentralRole>!
  private(set) lazy var desk = PairingDesk(of: self)
  private(set) lazy var peripheral = ExportedPeripheral(of: self)
  private(set) lazy var monitors = MonitorTable(of: self)

  private(set) var devices: [PeerHandle: ExportedDevice] = [:]
  private var devicesByPath: [String: ExportedDevice] = [:]
  var discovery = DiscoverySessions()
  private var merger = PacketMerger<PeerHandle>()
  private var isScanning = false
  /// The devices that the current discovery has reported.
  private var found: Set<PeerHandle> = []
  private(set) var isPowered = false
  /// True if the adapter has told whether it is on.
  private(set) var isKnown = false
  /// The calls that wait for a change of the power.
  private var powerAnswers: [(isOn: Bool, answer: BusAnswer)] = []
  private var discoverableTimer: Scheduled<Void>?
  private var pairableTimer: Scheduled<Void>?
  private var expiryTimer: Scheduled<Void>?
  private let systemName: String
  /// The input and output capability that the adapter has.
  private var capability = IOCapability.noInputNoOutput

  /// The time after its last packet for which a device without a bond is kept · `TemporaryTimeout` of BlueZ.
  static let temporaryTimeout = TimeAmount.seconds(30)

  init(_ served: ServedBlueZAdapter, number: Int, in context: ServerContext) {
    self.context = context
    adapter = served.adapter
    prompts = served.prompts
    systemName = served.name
    path = "/org/bluez/hci\(number)"
    context.add(
      [
        (BlueZInterface.adapter, properties(address: served.address)),
        (BlueZInterface.gattManager, [:]),
        (BlueZInterface.advertisingManager, ExportedPeripheral.managerProperties),
        (BlueZInterface.monitorManager, MonitorTable.managerProperties),
      ], at: path)
  }

  private func properties(address: DeviceAddress) -> [String: DBusValue] {
    var values: [String: DBusValue] = [
      "Address": .string(address.busText), "AddressType": .string(address.busKind), "Name": .string(systemName),
      "Alias": .string(systemName), "Class": .uint32(0), "Powered": .bool(false), "Discoverable": .bool(false),
      "DiscoverableTimeout": .uint32(180), "Pairable": .bool(true), "PairableTimeout": .uint32(0),
      "Discovering": .bool(false), "UUIDs": uuids([]),
      "Modalias": .string("usb:v1D6Bp0246d05" + String(context.version.minor, radix: 16, uppercase: true)),
      "Roles": .strings(["central", "peripheral"]),
    ]
    if context.version >= .trixie { values["PowerState"] = .string("off") }
    return values
  }

  /// Opens the sessions.
  func begin() {
    context.loop.preconditionInEventLoop()
    prompts?.setReceiver(desk)
    let end = SessionEnd<CentralEvent, CentralRole>(on: context.loop) { [weak self] event in self?.receive(event) }
    self.end = end
    session = adapter.openCentralSession(for: end)
    end.attach(session)
    session.send(.observeLinks)
    peripheral.begin()
    if let host = adapter as? any AppAdapter { host.setSystemClient(desk) }
    for bonded in adapter.directory.bondedPeers {
      let device = makeDevice(bonded.peer.handle, bonded.address, [:])
      device.isTemporary = false
      device.updateBond()
    }
  }

  /// Ends the sessions.
  func stop() {
    for device in devices.values { device.stop() }
    for timer in [discoverableTimer, pairableTimer, expiryTimer] { timer?.cancel() }
    session.close()
    peripheral.stop()
  }

  func set(_ name: String, _ value: DBusValue?) {
    context.tree.set(name, value, of: BlueZInterface.adapter, at: path)
  }

  func flag(_ name: String) -> Bool {
    context.tree.properties(of: BlueZInterface.adapter.name, at: path)?[name]?.bool ?? false
  }

  private func uuids(_ services: [BluetoothUUID]) -> DBusValue {
    .strings((services + [0x1800, 0x1801, 0x180A]).map(\.busText).sorted())
  }

  /// Shows the services that clients have registered.
  func showServices(_ services: [BluetoothUUID]) { set("UUIDs", uuids(services)) }

  // MARK: Calls

  func handle(_ call: BusCall, _ answer: BusAnswer) {
    context.loop.preconditionInEventLoop()
    switch (call.interface, call.member) {
    case (BlueZInterface.adapter.name, "GetDiscoveryFilters"):
      context.reply(answer, [.strings(DiscoveryFilter.names)])
    case (BlueZInterface.adapter.name, "SetDiscoveryFilter"): setFilter(call, answer)
    case (BlueZInterface.adapter.name, "StartDiscovery"): startDiscovery(of: call.sender, answer)
    case (BlueZInterface.adapter.name, "StopDiscovery"): stopDiscovery(of: call.sender, answer)
    case (BlueZInterface.adapter.name, "RemoveDevice"): removeDevice(call, answer)
    case (BlueZInterface.gattManager.name, _), (BlueZInterface.advertisingManager.name, _):
      peripheral.handle(call, answer)
    case (BlueZInterface.monitorManager.name, _): monitors.handle(call, answer)
    default: context.fail(answer, .notSupported)
    }
  }

  func device(at path: String) -> ExportedDevice? {
    // The path of an attribute begins with that of its device: /org/bluez/hci0/dev_….
    let parts = path.split(separator: "/", maxSplits: 4)
    return parts.count >= 4 ? devicesByPath["/" + parts[0..<4].joined(separator: "/")] : nil
  }

  private func removeDevice(_ call: BusCall, _ answer: BusAnswer) {
    guard let path = call.arguments.first?.path else { return context.fail(answer, .invalidCall) }
    guard let device = devicesByPath[path] else { return context.fail(answer, .doesNotExist) }
    guard isPowered else { return context.fail(answer, .notReady) }
    if let host = adapter as? any AppAdapter, device.isBonded { host.send(.forget(device.address)) }
    device.isTemporary = true
    device.disconnect { [weak self] in
      self?.remove(device)
      self?.context.reply(answer)
    }
  }

  // MARK: Properties

  func setProperty(_ name: String, to value: DBusValue, _ answer: BusAnswer) {
    context.loop.preconditionInEventLoop()
    switch (name, value.content) {
    case ("Alias", .string(let alias)):
      set("Alias", .string(alias.isEmpty ? systemName : alias))
      context.reply(answer)
    case ("Powered", .bool(let isOn)): setPower(isOn, answer)
    case ("Discoverable", .bool(let isOn)):
      guard isPowered else { return context.fail(answer, .failure("Not Powered")) }
      setDiscoverable(isOn)
      context.reply(answer)
    case ("DiscoverableTimeout", .uint32):
      set(name, value.content)
      if flag("Discoverable") { setDiscoverable(true) }
      context.reply(answer)
    case ("Pairable", .bool(let isOn)):
      setPairable(isOn)
      context.reply(answer)
    case ("PairableTimeout", .uint32):
      set(name, value.content)
      setPairable(flag("Pairable"))
      context.reply(answer)
    default: context.fail(answer, .invalidCall)
    }
  }

  private func setPower(_ isOn: Bool, _ answer: BusAnswer) {
    guard isOn != isPowered else { return context.reply(answer) }
    guard let host = adapter as? any AppAdapter else { return context.fail(answer, .notSupported) }
    powerAnswers.append((isOn, answer))
    host.send(.setPower(isOn))
  }

  private func setDiscoverable(_ isOn: Bool) {
    discoverableTimer?.cancel()
    set("Discoverable", .bool(isOn))
    peripheral.updateAdvertising()
    if isOn { discoverableTimer = timer("DiscoverableTimeout") { $0.setDiscoverable(false) } }
  }

  private func setPairable(_ isOn: Bool) {
    pairableTimer?.cancel()
    set("Pairable", .bool(isOn))
    if isOn { pairableTimer = timer("PairableTimeout") { $0.setPairable(false) } }
  }

  /// Calls `body` after the number of seconds in a property; 0: never.
  private func timer(_ property: String, _ body: @escaping @Sendable (ExportedAdapter) -> Void) -> Scheduled<Void>? {
    guard case .uint32(let seconds)? = context.tree.properties(of: BlueZInterface.adapter.name, at: path)?[property],
      seconds > 0
    else { return nil }
    return context.loop.scheduleTask(in: .seconds(Int64(seconds))) { [weak self] in
      guard let self else { return }
      body(self)
      context.tree.flush()
    }
  }

  // MARK: Discovery

  private func setFilter(_ call: BusCall, _ answer: BusAnswer) {
    guard isPowered else { return context.fail(answer, .notReady) }
    var filter: DiscoveryFilter?
    guard let options = call.arguments.first?.options, DiscoveryFilter.read(options, &filter) else {
      return context.fail(answer, .invalidCall)
    }
    context.watch(call.sender)
    discovery.setFilter(filter, of: call.sender)
    updateScan()
    context.reply(answer)
  }

  private func startDiscovery(of client: String, _ answer: BusAnswer) {
    guard isPowered else { return context.fail(answer, .notReady) }
    guard discovery.start(client) else { return context.fail(answer, .busy) }
    context.watch(client)
    updateScan()
    context.reply(answer)
  }

  private func stopDiscovery(of client: String, _ answer: BusAnswer) {
    guard isPowered else { return context.fail(answer, .notReady) }
    guard discovery.stop(client) else { return context.fail(answer, .failure("No discovery started")) }
    updateScan()
    context.reply(answer)
  }

  /// Starts, changes or stops the scan that serves all discoveries and monitors.
  func updateScan() {
    let wantsScan = isPowered && (discovery.scans || monitors.isActive)
    set("Discovering", .bool(isPowered && discovery.isActive))
    if !discovery.isActive { endDiscovery() }
    guard wantsScan else {
      if isScanning { session.send(.stopScan) }
      isScanning = false
      merger.removeAll()
      return
    }
    var request = ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: true)
    request.packets = PacketScan(isActive: discovery.scans, includesLECoded: false)
    isScanning = true
    session.send(.scan(request))
  }

  /// Forgets the signal levels of the devices that the discovery has reported.
  private func endDiscovery() {
    for peer in found { devices[peer]?.forgetLevels() }
    found.removeAll()
  }

  private func received(_ packet: ReceivedPacket) {
    let report = packet.report
    guard isScanning else { return }
    let sighting = PacketMerger<PeerHandle>.Sighting(
      device: packet.peer.handle, data: report.data.bytes, rssi: report.rssi, isConnectable: report.isConnectable)
    // A passive scan gets no scan response.
    let isScannable = report.isScannable && discovery.scans && report.advertisingSet == nil
    for complete in merger.take(sighting, isScannable: isScannable, isResponse: report.isScanResponse) {
      sighted(complete)
    }
  }

  private func sighted(_ sighting: PacketMerger<PeerHandle>.Sighting) {
    if let device = devices[sighting.device] {
      device.lastSeen = context.loop.now
      // Most packets bring nothing new.
      if !device.isNews(sighting, discovery) && monitors.isEmpty { return }
    } else if sighting.isResponseAlone {
      return
    }
    guard let address = adapter.directory.address(of: sighting.device) else { return }
    let data = DeviceAdvertisement(sighting.data)
    let known = devices[sighting.device]
    let isMatch =
      discovery.isActive && discovery.match(data, address: address.busText, name: known?.name, rssi: sighting.rssi)
    guard isMatch || monitors.matches(sighting.data) else { return }
    let device = known ?? makeDevice(sighting.device, address, ExportedDevice.properties(data, rssi: sighting.rssi))
    device.update(data, sighting, discovery)
    if discovery.isActive { found.insert(sighting.device) }
    monitors.sighted(device, sighting.data, rssi: sighting.rssi)
  }

  // MARK: Devices

  func makeDevice(
    _ peer: PeerHandle, _ address: DeviceAddress, _ properties: [String: DBusValue]
  ) -> ExportedDevice {
    if let device = devices[peer] { return device }
    let device = ExportedDevice(peer, address, of: self, properties)
    // Another peer had this address.
    if let former = devicesByPath[device.path] { remove(former) }
    devices[peer] = device
    devicesByPath[device.path] = device
    device.export(properties)
    if expiryTimer == nil { scheduleExpiry() }
    return device
  }

  /// Returns the object of a peer that has a link or a bond.
  func device(of peer: PeerHandle) -> ExportedDevice? {
    if let device = devices[peer] { return device }
    return adapter.directory.address(of: peer).map { makeDevice(peer, $0, [:]) }
  }

  func remove(_ device: ExportedDevice) {
    guard devices[device.peer] === device else { return }
    monitors.lost(device)
    device.stop()
    devices[device.peer] = nil
    devicesByPath[device.path] = nil
    found.remove(device.peer)
    device.removeObjects()
  }

  /// Removes devices that nothing keeps any more, and schedules the next look at them.
  private func scheduleExpiry() {
    expiryTimer = context.loop.scheduleTask(in: .seconds(1)) { [weak self] in
      guard let self else { return }
      let limit = context.loop.now - Self.temporaryTimeout
      for device in devices.values.sorted(by: { $0.path < $1.path }) where device.isExpired(limit) { remove(device) }
      monitors.expire()
      expiryTimer = nil
      if !devices.isEmpty { scheduleExpiry() }
      context.tree.flush()
    }
  }

  // MARK: Events

  private func receive(_ event: CentralEvent) {
    context.loop.preconditionInEventLoop()
    switch event {
    case .packetReceived(let packet): received(packet)
    case .stateChanged(let state): stateChanged(state)
    case .connected(let peer, let maximumWriteLength): devices[peer]?.connected(mtu: maximumWriteLength + 3)
    case .connectionFailed(let peer, let error): devices[peer]?.connectionFailed(error)
    case .disconnected(let peer, let error, _): devices[peer]?.disconnected(error)
    case .maximumWriteLengthChanged(let peer, let length): devices[peer]?.database.setMTU(length + 3)
    case .nameChanged(let peer, let name): devices[peer]?.setName(name)
    case .link(let peer, .changed(let info)): devices[peer]?.linkChanged(info)
    case .servicesDiscovered(let peer, let result): devices[peer]?.database.servicesDiscovered(result)
    case .includedServicesDiscovered(let peer, let service, let result):
      devices[peer]?.database.includedServicesDiscovered(service, result)
    case .characteristicsDiscovered(let peer, let service, let result):
      devices[peer]?.database.characteristicsDiscovered(service, result)
    case .descriptorsDiscovered(let peer, let characteristic, let result):
      devices[peer]?.database.descriptorsDiscovered(characteristic, result)
    case .valueRead(let peer, let attribute, let result): devices[peer]?.database.valueRead(attribute, result)
    case .valueChanged(let peer, let attribute, let value): devices[peer]?.database.valueChanged(attribute, value)
    case .written(let peer, let attribute, let error): devices[peer]?.database.written(attribute, error)
    case .notifyStateChanged(let peer, let attribute, let isNotifying, let error):
      devices[peer]?.database.notifyStateChanged(attribute, isNotifying, error)
    case .readyToWriteWithoutResponse(let peer): devices[peer]?.database.sendWrites()
    case .servicesModified(let peer, let services): devices[peer]?.database.servicesModified(services)
    case .channelOpened(_, .success(let channel)): _ = session.takeChannel(channel)
    case .restored, .discovered, .synchronization, .connectionEvent, .link, .rssiRead, .valueLimitReached,
      .notificationSharingChanged, .channelOpened, .barrierReached:
      break
    }
    context.tree.flush()
  }

  private func stateChanged(_ state: AdapterState) {
    let isOn = state == .poweredOn
    if state != .unknown, state != .resetting { isKnown = true }
    defer {
      answerPower(isOn)
      context.adapterChanged()
    }
    guard isOn != isPowered else { return }
    isPowered = isOn
    set("Powered", .bool(isOn))
    if context.version >= .trixie { set("PowerState", .string(isOn ? "on" : "off")) }
    if isOn {
      for device in devices.values { device.updateBond() }
    } else {
      for device in devices.values { device.disconnected(nil) }
      discovery.removeAll()
      setDiscoverable(false)
      isScanning = false
      endDiscovery()
    }
    updateScan()
  }

  /// Answers the calls that have wanted this state.
  private func answerPower(_ isOn: Bool) {
    let answers = powerAnswers.filter { $0.isOn == isOn }
    powerAnswers.removeAll { $0.isOn == isOn }
    for waiting in answers { context.reply(waiting.answer) }
  }

  /// Uses the capability of an agent for the next pairing; nil: that of the default agent.
  func useCapability(of agent: AgentTable.Agent?) {
    let capability = (agent ?? context.agents.defaultAgent)?.capability ?? .noInputNoOutput
    guard capability != self.capability, let host = adapter as? any AppAdapter else { return }
    self.capability = capability
    host.send(.setIOCapability(capability))
  }

  // MARK: Clients

  func clientVanished(_ client: String) {
    context.loop.preconditionInEventLoop()
    discovery.remove(client)
    monitors.remove(client)
    for device in devices.values { device.clientVanished(client) }
    peripheral.clientVanished(client)
    desk.clientVanished(client)
    updateScan()
    context.tree.flush()
  }
}
