import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import NIOCore

/// A device of the service: `Device1` and the objects of its attributes. Confined to the event loop of the service.
final class ExportedDevice: @unchecked Sendable {
  // Unchecked: all functions are called on the loop.
  private enum Phase { case idle, connecting, connected, disconnecting }

  let peer: PeerHandle
  let address: DeviceAddress
  let path: String
  unowned let adapter: ExportedAdapter
  private let context: ServerContext
  private(set) lazy var database = RemoteDatabaseTree(of: self)

  /// True if the device is forgotten after a time without packets and links: it has no bond, and no client has connected
  /// to it since its last link.
  var isTemporary = true
  var lastSeen: NIODeadline
  private(set) var name: String?
  private var alias: String?
  private var lastData: [UInt8] = []
  private var lastLevel: Int8?
  private var services: Set<BluetoothUUID> = []
  private var phase = Phase.idle
  /// True while the device has a link that it has initiated.
  private(set) var isIncoming = false
  private var connectAnswer: BusAnswer?
  private var connectTimer: Scheduled<Void>?
  private var disconnectHandlers: [() -> Void] = []
  private var pairing: (client: String, answer: BusAnswer)?
  /// True if the link is encrypted, with the key of a bond or of a pairing without one.
  private var hasKey = false

  /// The time after which BlueZ gives an attempt to connect up.
  static let connectTimeout = TimeAmount.seconds(40)
  /// The change of the RSSI in dB that is announced · `RSSI_THRESHOLD` of BlueZ.
  private static let levelThreshold = 8

  init(_ peer: PeerHandle, _ address: DeviceAddress, of adapter: ExportedAdapter, _ properties: [String: DBusValue]) {
    self.peer = peer
    self.address = address
    self.adapter = adapter
    context = adapter.context
    path = adapter.path + "/dev_" + address.pathText
    lastSeen = context.loop.now
  }

  // MARK: Properties

  /// Exports the object with properties from an advertisement.
  func export(_ properties: [String: DBusValue]) {
    name = properties["Name"]?.string
    services = Set((properties["UUIDs"]?.texts ?? []).compactMap { BluetoothUUID($0) })
    var values = properties
    values["Address"] = .string(address.busText)
    values["AddressType"] = .string(address.busKind)
    values["Alias"] = .string(shownAlias)
    values["Adapter"] = .path(adapter.path)
    values["UUIDs"] = values["UUIDs"] ?? .strings([])
    for name in ["Paired", "Bonded", "Trusted", "Blocked", "LegacyPairing", "Connected", "ServicesResolved"] {
      values[name] = .bool(false)
    }
    context.add([(BlueZInterface.device, values)], at: path)
  }

  func set(_ name: String, _ value: DBusValue?, isForced: Bool = false) {
    context.tree.set(name, value, of: BlueZInterface.device, at: path, isForced: isForced)
  }

  private var shownAlias: String { alias ?? name ?? address.busText.replacing(":", with: "-") }
  /// True if this device can use the attributes of the peer.
  var hasClientLink: Bool { phase == .connected }
  /// True if this device has initiated the link, or is about to.
  var isCentralLink: Bool { phase != .idle }
  var isDisconnecting: Bool { phase == .disconnecting }
  var isBonded: Bool { adapter.adapter.directory.bond(with: peer) != nil }

  func setName(_ name: String?) {
    guard let name, name != self.name else { return }
    self.name = name
    set("Name", .string(name))
    set("Alias", .string(shownAlias))
  }

  func setProperty(_ name: String, to value: DBusValue, _ answer: BusAnswer) {
    context.loop.preconditionInEventLoop()
    switch (name, value.content) {
    case ("Alias", .string(let text)):
      alias = text.isEmpty ? nil : text
      set("Alias", .string(shownAlias))
    case ("Trusted", .bool):
      set(name, value.content)
    case ("Blocked", .bool(let isBlocked)):
      set(name, value.content)
      if isBlocked { disconnect {} }
    default: return context.fail(answer, .invalidCall)
    }
    context.reply(answer)
  }

  /// Shows the bond with the peer.
  func updateBond() {
    let isBonded = isBonded
    set("Bonded", .bool(isBonded))
    set("Paired", .bool(isBonded))
    if isBonded { isTemporary = false }
  }

  // MARK: Advertisements

  /// The properties that an advertisement gives to a new device.
  static func properties(_ data: DeviceAdvertisement, rssi: Int8) -> [String: DBusValue] {
    var values: [String: DBusValue] = [:]
    values["Name"] = data.name.map { .string($0) }
    values["RSSI"] = rssi == 127 ? nil : .int16(Int16(rssi))
    values["TxPower"] = data.txPower.map { .int16(Int16($0)) }
    values["Appearance"] = data.appearance.map { .uint16($0) }
    values["Icon"] = data.appearance.flatMap(DeviceIcon.name).map { .string($0) }
    values["UUIDs"] = .strings(data.services.map(\.busText).sorted())
    values["ManufacturerData"] = data.manufacturerValue
    values["ServiceData"] = data.serviceValue
    values["AdvertisingFlags"] = data.flags.map { .bytes([$0]) }
    values["AdvertisingData"] = data.otherValue
    return values
  }

  /// Returns true if a sighting may change a property.
  func isNews(_ sighting: PacketMerger<PeerHandle>.Sighting, _ discovery: DiscoverySessions) -> Bool {
    discovery.wantsDuplicates || isLevelNews(sighting.rssi, discovery) || sighting.data != lastData
  }

  private func isLevelNews(_ rssi: Int8, _ discovery: DiscoverySessions) -> Bool {
    guard rssi != 127 else { return false }
    guard let lastLevel, !discovery.isFiltered else { return true }
    return abs(Int(rssi) - Int(lastLevel)) >= Self.levelThreshold
  }

  /// Takes the values of an advertisement.
  func update(
    _ data: DeviceAdvertisement, _ sighting: PacketMerger<PeerHandle>.Sighting, _ discovery: DiscoverySessions
  ) {
    if isLevelNews(sighting.rssi, discovery) {
      lastLevel = sighting.rssi
      set("RSSI", .int16(Int16(sighting.rssi)), isForced: discovery.isFiltered)
    }
    guard discovery.wantsDuplicates || sighting.data != lastData else { return }
    lastData = sighting.data
    if let power = data.txPower { set("TxPower", .int16(Int16(power))) }
    if let appearance = data.appearance {
      set("Appearance", .uint16(appearance))
      set("Icon", DeviceIcon.name(appearance).map { .string($0) })
    }
    if data.isNameComplete || name == nil { setName(data.name) }
    addServices(data.services)
    let isForced = discovery.wantsDuplicates
    if let value = data.manufacturerValue { set("ManufacturerData", value, isForced: isForced) }
    if let value = data.serviceValue { set("ServiceData", value, isForced: isForced) }
    if let value = data.otherValue { set("AdvertisingData", value, isForced: isForced) }
    if let flags = data.flags { set("AdvertisingFlags", .bytes([flags])) }
  }

  func addServices(_ more: [BluetoothUUID]) {
    guard !services.isSuperset(of: more) else { return }
    services.formUnion(more)
    set("UUIDs", .strings(services.map(\.busText).sorted()))
  }

  /// Forgets the levels of the signal at the end of a discovery.
  func forgetLevels() {
    lastLevel = nil
    lastData = []
    set("RSSI", nil)
    set("TxPower", nil)
  }

  /// Returns true if nothing keeps the device, whose last packet came before `limit`.
  func isExpired(_ limit: NIODeadline) -> Bool {
    isTemporary && phase == .idle && !isIncoming && pairing == nil && lastSeen < limit
  }

  // MARK: Calls

  func handle(_ call: BusCall, _ answer: BusAnswer) {
    context.loop.preconditionInEventLoop()
    guard call.path == path else { return database.handle(call, answer) }
    context.watch(call.sender)
    switch call.member {
    case "Connect": connect(answer)
    case "Disconnect": disconnect { [context] in context.reply(answer) }
    case "Pair": pair(call.sender, answer)
    case "CancelPairing": cancelPairing(answer)
    // BlueZ connects profiles of BR/EDR with these.
    case "ConnectProfile", "DisconnectProfile":
      guard let text = call.arguments.first?.string, BluetoothUUID(text) != nil else {
        return context.fail(answer, .invalidCall)
      }
      context.fail(answer, call.member == "ConnectProfile" ? .notAvailable : .notSupported)
    default: context.fail(answer, .notSupported)
    }
  }

  private func connect(_ answer: BusAnswer) {
    guard pairing == nil, connectAnswer == nil else { return context.fail(answer, .inProgress) }
    if phase == .connected { return context.reply(answer) }
    guard adapter.isPowered else { return context.fail(answer, .notReady) }
    guard phase == .idle else { return context.fail(answer, .inProgress) }
    connectAnswer = answer
    beginConnecting()
  }

  private func beginConnecting() {
    isTemporary = false
    phase = .connecting
    adapter.session.send(.connect(peer, delay: .zero, reconnects: false))
    connectTimer = context.loop.scheduleTask(in: Self.connectTimeout) { [weak self] in
      guard let self, phase == .connecting else { return }
      adapter.session.send(.cancelConnection(peer))
      connectionFailed(.link(.connectionTerminatedByLocalHost))
      context.tree.flush()
    }
  }

  /// Ends the link, or the attempt to connect, and calls `done` then.
  func disconnect(_ done: @escaping () -> Void) {
    switch phase {
    case .idle:
      if isIncoming {
        disconnectHandlers.append(done)
        adapter.peripheral.disconnect(peer)
      } else {
        done()
      }
    case .connecting:
      adapter.session.send(.cancelConnection(peer))
      let answer = connectAnswer.take()
      ended(.authenticationCanceled)
      context.fail(answer, .failure("br-connection-canceled"))
      done()
    case .connected:
      disconnectHandlers.append(done)
      phase = .disconnecting
      adapter.session.send(.cancelConnection(peer))
    case .disconnecting: disconnectHandlers.append(done)
    }
  }

  // MARK: Link

  func connected(mtu: Int) {
    guard phase == .connecting else { return }
    connectTimer?.cancel()
    phase = .connected
    set("Connected", .bool(true))
    updateBond()
    context.tree.flush()
    database.begin(mtu: mtu)
    if pairing != nil { requestPairing() }
  }

  /// The attributes have been found.
  func resolved(_ services: [BluetoothUUID]) {
    addServices(services)
    set("ServicesResolved", .bool(true))
    context.reply(connectAnswer.take())
  }

  /// The attributes can't be found.
  func resolutionFailed(_ error: SessionError) {
    context.fail(connectAnswer.take(), .failure("le-connection-gatt-browsing"))
  }

  func connectionFailed(_ error: SessionError) {
    guard phase == .connecting else { return }
    let answer = connectAnswer.take()
    ended(.authenticationFailed)
    context.fail(answer, .connection(error))
  }

  func disconnected(_ error: SessionError?) {
    guard phase != .idle else { return }
    let answer = connectAnswer.take()
    ended(error == nil ? .authenticationCanceled : .authenticationFailed)
    context.fail(answer, .failure(error == nil ? "le-connection-abort-by-local" : "le-connection-abort-by-remote"))
  }

  /// The link or the attempt has ended.
  private func ended(_ pairingError: DBusError) {
    connectTimer?.cancel()
    phase = .idle
    lastSeen = context.loop.now
    hasKey = false
    database.linkEnded()
    if !isBonded { isTemporary = true }
    if let pairing = pairing.take() { context.fail(pairing.answer, pairingError) }
    set("ServicesResolved", .bool(false))
    if !isIncoming { set("Connected", .bool(false)) }
    finishDisconnecting()
  }

  private func finishDisconnecting() {
    context.tree.flush()
    let handlers = disconnectHandlers
    disconnectHandlers = []
    for handler in handlers { handler() }
  }

  /// The device has initiated a link, or such a link has ended.
  func setIncoming(_ isIncoming: Bool) {
    guard isIncoming != self.isIncoming else { return }
    self.isIncoming = isIncoming
    lastSeen = context.loop.now
    if phase == .idle {
      set("Connected", .bool(isIncoming))
      if !isIncoming { finishDisconnecting() }
    }
  }

  func linkChanged(_ info: LinkInfo) {
    database.setMTU(info.mtu)
    hasKey = info.security.level >= .encrypted && info.security.hasKey
    if hasKey { updateBond() }
  }

  // MARK: Pairing

  /// The client whose agent answers the questions of the pairing; nil: no client has started one.
  var pairingClient: String? { pairing?.client }

  private func pair(_ client: String, _ answer: BusAnswer) {
    guard pairing == nil, connectAnswer == nil else { return context.fail(answer, .inProgress) }
    guard !isBonded, !hasKey else { return context.fail(answer, .alreadyExists) }
    guard adapter.isPowered else { return context.fail(answer, .notReady) }
    isTemporary = false
    pairing = (client, answer)
    if phase == .connected { requestPairing() } else if phase == .idle { beginConnecting() }
  }

  private func requestPairing() {
    guard let host = adapter.adapter as? any AppAdapter else { return pairingFailed(.notSupported) }
    adapter.useCapability(of: pairing.flatMap { context.agents.agent(of: $0.client) })
    host.send(.pair(peer))
  }

  func paired() {
    adapter.useCapability(of: nil)
    updateBond()
    set("Paired", .bool(true))
    if let pairing = pairing.take() { context.reply(pairing.answer) }
  }

  func pairingFailed(_ error: DBusError) {
    adapter.useCapability(of: nil)
    guard let pairing = pairing.take() else { return }
    context.fail(pairing.answer, error)
  }

  private func cancelPairing(_ answer: BusAnswer) {
    guard pairing != nil else { return context.fail(answer, .doesNotExist) }
    adapter.desk.cancel(peer)
    pairingFailed(.authenticationCanceled)
    if phase == .connecting { disconnect {} }
    context.reply(answer)
  }

  func clientVanished(_ client: String) {
    if pairing?.client == client {
      adapter.desk.cancel(peer)
      pairing = nil
    }
    database.clientVanished(client)
  }

  // MARK: End

  func stop() {
    connectTimer?.cancel()
    if phase != .idle { adapter.session.send(.cancelConnection(peer)) }
    phase = .idle
    database.linkEnded()
  }

  func removeObjects() {
    database.removeObjects()
    context.tree.remove(path)
  }
}
