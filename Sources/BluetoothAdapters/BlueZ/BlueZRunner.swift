import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothTransport
import BluetoothTypes
import BluetoothWire
import DequeModule
import NIOCore

/// The runner of a `BlueZAdapter`: the connection to the bus, the copy of BlueZ's objects, and the sessions. Confined to
/// its event loop.
final class BlueZRunner: @unchecked Sendable {
  // Unchecked: only code on the event loop uses the variables.

  /// The scan of BlueZ for this process.
  enum Discovery: Equatable {
    case off
    case changing
    case on(reportsDuplicates: Bool)
  }

  /// The name in the log.
  let name: String
  /// The name of the adapter; nil: the first one.
  private let wantedAdapter: String?
  let sessions: LocalSessions
  let directory: PeerDirectory
  let loop: any EventLoop
  private let bus: DBusAddress
  private var isEnded = false
  private var backOff = ReconnectBackoff()
  private var requests: Deque<DaemonRequest> = []
  private var subscriptions: [DBusSubscription] = []
  private(set) var connection: DBusConnection?
  /// The unique name of BlueZ; nil: it is not on the bus.
  private var owner: String?
  var tree = BlueZTree()
  var adapterPath: String?
  /// The state that sessions were told; nil: none yet.
  private(set) var state: AdapterState?
  var centrals: [CentralSessionID: BlueZCentral] = [:]
  var peripherals: [PeripheralSessionID: BlueZPeripheral] = [:]
  var devices: [PeerHandle: BlueZDevice] = [:]
  var peers: [String: PeerHandle] = [:]
  var discovery = Discovery.off
  /// The services of peers that apps don't see: BlueZ shows GATT, and Apple's API does not.
  let hiddenServices: [BluetoothUUID]
  let prompts: any Prompts
  /// The open questions of the agent.
  var questions: PromptQueue
  var openQuestions: [PromptID: BlueZQuestion] = [:]
  /// True if BlueZ has the agent of this process.
  var isAgent = false
  var channels: [ChannelHandle: BlueZChannel] = [:]
  /// The channels that are being opened, by a number.
  var openingChannels: [UInt64: BlueZDescriptorWatch] = [:]
  var listeners: [UInt16: BlueZListener] = [:]
  let pool = PacketPool()
  /// The zero of the time of answers.
  let origin = NIODeadline.now()
  /// The last number of a request of a central, or of an object of this process.
  var lastNumber: UInt64 = 0

  init(
    _ adapter: String?, name: String, bus: DBusAddress, hiddenServices: [BluetoothUUID], prompts: any Prompts,
    sessions: LocalSessions, directory: PeerDirectory, on loop: any EventLoop
  ) {
    self.hiddenServices = hiddenServices
    (wantedAdapter, self.name, self.bus, self.loop) = (adapter, name, bus, loop)
    (self.prompts, self.sessions, self.directory) = (prompts, sessions, directory)
    let requests = sessions.requests
    questions = PromptQueue(prompts: prompts) { requests.wake() }
  }

  func begin() { connect() }

  func end() {
    loop.preconditionInEventLoop()
    isEnded = true
    for device in devices.values {
      device.retry?.cancel()
      closeSockets(of: device)
    }
    for channel in channels.values { channel.socket.close() }
    for id in Array(peripherals.keys) { unpublishChannels(of: id) }
    withdrawQuestions()
    subscriptions.removeAll()
    connection?.close()
    connection = nil
  }

  // MARK: The bus

  private func connect() {
    guard !isEnded else { return }
    let loop = loop
    let executor: DBusConnection.Executor = { loop.execute($0) }
    DBusConnection.open(bus, executor: executor) { [weak self] result in
      guard let self, !isEnded else {
        if case .success(let connection) = result { connection.close() }
        return
      }
      switch result {
      case .success(let connection): opened(connection)
      case .failure(let error):
        let isDenied = error.name == DBusError.Name.accessDenied
        lost(isDenied ? .unauthorized : .unsupported, "can't reach the message bus: \(error.message)")
        reconnect()
      }
    }
  }

  private func reconnect() {
    loop.scheduleTask(in: .nanoseconds(backOff.next().nanoseconds)) { [weak self] in self?.connect() }
  }

  private func opened(_ connection: DBusConnection) {
    self.connection = connection
    backOff.reset()
    connection.whenClosed { [weak self] in
      guard let self, !isEnded else { return }
      self.connection = nil
      subscriptions.removeAll()
      owner = nil
      tree = BlueZTree()
      lost(.resetting, "lost the message bus")
      reconnect()
    }
    let rules = [
      DBusMatchRule(
        sender: BlueZName.service, pathNamespace: BlueZName.root, interface: BlueZName.properties,
        member: "PropertiesChanged"),
      DBusMatchRule(sender: BlueZName.service, path: "/", interface: BlueZName.objectManager),
      DBusMatchRule(
        sender: BlueZName.service, pathNamespace: BlueZName.root, interface: BlueZName.device,
        member: "Disconnected"),
    ]
    subscriptions = rules.map { rule in connection.subscribe(rule) { [weak self] in self?.take($0) } }
    subscriptions.append(connection.watchName(BlueZName.service) { [weak self] in self?.setOwner($0) })
  }

  private func setOwner(_ owner: String?) {
    self.owner = owner
    tree = BlueZTree()
    guard let owner else {
      return lost(
        state == nil || state == .unsupported ? .unsupported : .resetting,
        "bluetoothd is not running; start it with: sudo systemctl start bluetooth")
    }
    connection?.call("GetManagedObjects", of: BlueZName.objectManager, at: "/", on: owner) { [weak self] result in
      guard let self, self.owner == owner else { return }
      switch result {
      case .failure(let error):
        let isDenied = error.name == DBusError.Name.accessDenied
        lost(isDenied ? .unauthorized : .resetting, "bluetoothd does not show its objects: \(error)")
      case .success(let reply):
        // Signals may have brought objects before the reply, which has them, too.
        tree = BlueZTree()
        for (path, interfaces) in reply.body.first?.entries ?? [:] {
          if let path = path.path { tree.add(interfaces, at: path) }
        }
        updateState()
      }
    }
  }

  /// Calls a method of BlueZ.
  func call(
    _ member: String, of interface: String, at path: String, _ arguments: [DBusValue] = [],
    timeout: Duration? = .seconds(35), then: @escaping @Sendable (Result<DBusReply, DBusError>) -> Void = { _ in }
  ) {
    guard let connection, let owner else { return then(.failure(DBusError(BlueZName.error + "NotReady"))) }
    connection.call(
      member, of: interface, at: path, on: owner, arguments, timeout: timeout, startsService: false, then: then)
  }

  /// True if a call of this process's objects comes from BlueZ.
  func isFromService(_ call: DBusCall) -> Bool { call.sender == owner }

  /// Returns an unused path for an object of this process.
  func nextPath(_ kind: String) -> String {
    lastNumber += 1
    return "/org/corebluetooth/\(kind)\(lastNumber)"
  }

  // MARK: Signals

  private func take(_ signal: DBusSignal) {
    loop.preconditionInEventLoop()
    switch signal.member {
    case "PropertiesChanged":
      guard signal.body.count == 3, let interface = signal.body[0].string, let changed = signal.body[1].options,
        let invalidated = signal.body[2].texts
      else { return }
      tree.change(changed, invalidated, of: interface, at: signal.path)
      changedProperties(changed, invalidated, of: interface, at: signal.path)
    case "InterfacesAdded":
      guard signal.body.count == 2, let path = signal.body[0].path else { return }
      tree.add(signal.body[1], at: path)
      added((signal.body[1].entries ?? [:]).keys.compactMap(\.string), at: path)
    case "InterfacesRemoved":
      guard signal.body.count == 2, let path = signal.body[0].path, let names = signal.body[1].texts else { return }
      removed(names, at: path)
      tree.remove(names, at: path)
      if names.contains(BlueZName.adapter) { updateState() }
    case "Disconnected":
      guard let peer = peers[signal.path] else { return }
      devices[peer]?.reason = HCI.ErrorCode(bluezReason: signal.body.first?.string)
    default: break
    }
  }

  private func changedProperties(
    _ changed: [String: DBusValue], _ invalidated: [String], of interface: String, at path: String
  ) {
    switch interface {
    case BlueZName.adapter: updateState()
    case BlueZName.device: if state == .poweredOn { deviceChanged(changed, at: path) }
    case BlueZName.characteristic:
      if let value = changed["Value"]?.octets { valueReported(value, at: path) }
      if changed["MTU"] != nil { updateWriteLength(ofDeviceAt: BlueZTree.devicePath(of: path)) }
    default: break
    }
  }

  private func added(_ interfaces: [String], at path: String) {
    if interfaces.contains(BlueZName.adapter) { updateState() }
    guard state == .poweredOn else { return }
    if interfaces.contains(BlueZName.device) { deviceAdded(at: path) }
    if BlueZTree.devicePath(of: path) != path { attributeAdded(interfaces, at: path) }
  }

  private func removed(_ interfaces: [String], at path: String) {
    if interfaces.contains(BlueZName.device) { deviceRemoved(at: path) }
    if BlueZTree.devicePath(of: path) != path { attributeRemoved(interfaces, at: path) }
  }

  // MARK: State

  /// Follows the adapter of BlueZ.
  private func updateState() {
    guard let path = tree.adapterPath(wantedAdapter) else {
      adapterPath = nil
      // bluetoothd that ends switches its adapters off and removes them first.
      return lost(
        state == .poweredOn || state == .poweredOff || state == .resetting ? .resetting : .unsupported,
        wantedAdapter.map { "bluetoothd has no adapter \($0)" } ?? "bluetoothd has no adapter; plug one in")
    }
    if let adapterPath, adapterPath != path { change(.resetting) }
    adapterPath = path
    let isOn = tree.properties(BlueZName.adapter, at: path)?["Powered"]?.bool == true
    if isOn, state != .poweredOn {
      DaemonLog.trace("uses \(path)", of: name)
      learnDevices()
    }
    change(isOn ? .poweredOn : .poweredOff)
  }

  /// Handles the absence of the adapter, with a line in the log unless the state is the same.
  private func lost(_ state: AdapterState, _ line: String) {
    if self.state != state { DaemonLog.note(line, of: name) }
    directory.access = state == .unauthorized ? .denied : .allowed
    change(state)
  }

  private func change(_ state: AdapterState) {
    guard self.state != state else { return }
    let wasOn = self.state == .poweredOn
    self.state = state
    if wasOn { dropEverything() }
    for id in centrals.keys.sorted(by: { $0.key.rawValue < $1.key.rawValue }) { tellState(id) }
    for id in peripherals.keys.sorted(by: { $0.key.rawValue < $1.key.rawValue }) { tellState(id) }
  }

  /// Drops what sessions have begun: the new state tells them of its end.
  private func dropEverything() {
    dropAgent()
    for handle in Array(devices.keys) {
      devices[handle]?.retry?.cancel()
      if let device = devices[handle] { closeSockets(of: device) }
      endChannels(of: handle, .connectionTerminatedByLocalHost)
      for request in devices[handle]?.waiting ?? [] { request(.link(.connectionTerminatedByLocalHost)) }
    }
    devices.removeAll()
    peers.removeAll()
    directory.setAllDisconnected()
    discovery = .off
    for (id, central) in centrals {
      var empty = BlueZCentral(central.counters)
      (empty.states, empty.observesLinks) = (central.states, central.observesLinks)
      centrals[id] = empty
      central.counters.returnAllCredits()
    }
    for id in Array(peripherals.keys) { dropPeripheral(id) }
  }

  private func tellState(_ id: CentralSessionID) {
    guard let state else { return }
    centrals[id]?.states &+= 1
    deliver(.stateChanged(state), to: id)
  }

  private func tellState(_ id: PeripheralSessionID) {
    guard let state else { return }
    peripherals[id]?.states &+= 1
    deliver(.stateChanged(state), to: id)
  }

  // MARK: Requests

  /// Handles the requests of apps.
  func pump() {
    loop.preconditionInEventLoop()
    guard !isEnded else { return }
    takeAnswers()
    while true {
      sessions.requests.takeAll(&requests)
      guard !requests.isEmpty else { return }
      while let request = requests.popFirst() { handle(request) }
    }
  }

  private func handle(_ request: DaemonRequest) {
    switch request {
    case .openCentral(let id, _):
      centrals[id] = BlueZCentral(sessions.counters(of: id))
      tellState(id)
    case .openPeripheral(let id, _):
      peripherals[id] = BlueZPeripheral(sessions.counters(of: id))
      tellState(id)
    case .closeCentral(let id): close(id)
    case .closePeripheral(let id):
      dropPeripheral(id)
      peripherals[id] = nil
    case .central(let id, let command, let seenStates):
      guard let central = centrals[id] else { return }
      if case .barrier(let number) = command { return deliver(.barrierReached(number), to: id) }
      if case .observeLinks = command {
        centrals[id]?.observesLinks = true
        return
      }
      guard state == .poweredOn, seenStates == central.states else { return returnCredit(of: command, central) }
      perform(command, of: id)
    case .peripheral(let id, let command, let seenStates):
      guard let peripheral = peripherals[id] else { return }
      if case .barrier(let number) = command { return deliver(.barrierReached(number), to: id) }
      guard state == .poweredOn, seenStates == peripheral.states else {
        if case .update = command { _ = peripheral.counters.updateCredits.put() }
        return
      }
      perform(command, of: id)
    case .channel(let channel): channelUsed(channel)
    // BlueZ has the bonds and the power of the machine.
    case .introduce, .unhandled, .app, .system: break
    }
  }

  private func returnCredit(of command: CentralCommand, _ central: BlueZCentral) {
    switch command {
    case .writeWithoutResponse(let peer, _, _), .signedWriteWithoutResponse(let peer, _, _):
      _ = central.counters.writeCredits(for: peer).put()
    default: break
    }
  }

  func deliver(_ event: CentralEvent, to id: CentralSessionID) { sessions.deliver(.central(id, event)) }

  func deliver(_ event: PeripheralEvent, to id: PeripheralSessionID) { sessions.deliver(.peripheral(id, event)) }
}
