import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothTypes
import BluetoothWire
import NIOCore

// Scanning and links of central managers.
extension BlueZRunner {
  /// The pause between two attempts to connect: BlueZ gives up after some seconds, CoreBluetooth never does.
  private static let retryPause = TimeAmount.seconds(1)

  func perform(_ command: CentralCommand, of id: CentralSessionID) {
    switch command {
    case .scan(let request):
      if request.packets != nil { DaemonLog.note("BlueZ does not pass on advertising packets", of: name) }
      centrals[id]?.scan = request.packets == nil ? request : nil
      centrals[id]?.reported = []
      reportKnown(to: id)
      updateDiscovery()
    case .stopScan:
      centrals[id]?.scan = nil
      updateDiscovery()
    case .connect(let peer, let delay, let reconnects): connect(peer, delay, reconnects, id)
    case .cancelConnection(let peer): cancelConnection(peer, id)
    case .registerForConnectionEvents(let filter): centrals[id]?.filter = filter
    case .readRSSI(let peer): deliver(.rssiRead(peer, .failure(.notSupported)), to: id)
    case .changeLink(let peer, let request):
      guard centrals[id]?.observesLinks == true else { return }
      deliver(.link(peer, .requestEnded(request.kind, .notSupported)), to: id)
    case .openChannel(let peer, let psm): openChannel(psm, to: peer, id)
    case .synchronize(let number, _):
      DaemonLog.note("BlueZ does not synchronize with periodic trains: request \(number) has no effect", of: name)
    case .endSynchronization, .requestAlerts, .requireNotifications, .askForPower, .barrier, .observeLinks: break
    default: performOnAttributes(command, of: id)
    }
  }

  /// Ends a session with its scan and its share of links.
  func close(_ id: CentralSessionID) {
    guard let central = centrals[id] else { return }
    for path in central.notifying { stopNotifying(path, id) }
    centrals[id] = nil
    updateAgent()
    for peer in central.uses.keys { disconnectIfUnused(peer) }
    updateDiscovery()
  }

  // MARK: Scanning

  /// Starts, changes or stops the scan of BlueZ.
  func updateDiscovery() {
    guard discovery != .changing, let adapterPath else { return }
    let wants =
      centrals.values.contains { $0.scan != nil }
      || centrals.values.contains { central in
        central.uses.contains { $0.value == .connecting && !isPresent($0.key) }
      }
    let duplicates = centrals.values.contains { $0.scan?.allowsDuplicates == true }
    guard wants else {
      guard discovery != .off else { return }
      discovery = .changing
      return call("StopDiscovery", of: BlueZName.adapter, at: adapterPath) { [weak self] _ in
        self?.discoveryChanged(.off)
      }
    }
    guard discovery != .on(reportsDuplicates: duplicates) else { return }
    let isOff = discovery == .off
    discovery = .changing
    let filter = DBusValue.properties(["Transport": .string("le"), "DuplicateData": .bool(duplicates)])
    call("SetDiscoveryFilter", of: BlueZName.adapter, at: adapterPath, [filter]) { [weak self] result in
      guard let self else { return }
      guard isOff, case .success = result else { return started(result, duplicates) }
      call("StartDiscovery", of: BlueZName.adapter, at: adapterPath) { [weak self] in self?.started($0, duplicates) }
    }
  }

  private func started(_ result: Result<DBusReply, DBusError>, _ duplicates: Bool) {
    switch result {
    case .success: discoveryChanged(.on(reportsDuplicates: duplicates))
    case .failure(let error):
      guard discovery == .changing else { return }
      DaemonLog.note("bluetoothd does not scan: \(error); retrying", of: name)
      loop.scheduleTask(in: Self.retryPause) { [weak self] in self?.discoveryChanged(.off) }
    }
  }

  /// Handles an answer, unless the state of the adapter has changed meanwhile.
  private func discoveryChanged(_ new: Discovery) {
    guard discovery == .changing else { return }
    discovery = new
    updateDiscovery()
  }

  /// Reports the devices that the scan of another program sees now.
  private func reportKnown(to id: CentralSessionID) {
    for (path, peer) in peers.sorted(by: { $0.key < $1.key })
    where tree.properties(BlueZName.device, at: path)?["RSSI"] != nil { report(peer, path, to: id) }
  }

  private func report(_ peer: PeerHandle, _ path: String, to id: CentralSessionID) {
    guard let central = centrals[id], let scan = central.scan, let info = directory.peer(peer),
      let properties = tree.properties(BlueZName.device, at: path)
    else { return }
    guard scan.allowsDuplicates || !central.reported.contains(peer) else { return }
    let discovery = DiscoveryInfo(info, properties)
    if let services = scan.services, !services.isEmpty, !discovery.services.contains(where: services.contains) {
      return
    }
    centrals[id]?.reported.insert(peer)
    deliver(.discovered(discovery), to: id)
  }

  // MARK: Devices

  /// Makes peers of the devices that BlueZ knows when the adapter is on.
  func learnDevices() {
    guard let adapterPath else { return }
    for path in tree.paths(with: BlueZName.device, below: adapterPath) { deviceAdded(at: path) }
    for interface in [BlueZName.gattService, BlueZName.characteristic, BlueZName.descriptor] {
      for path in tree.paths(with: interface, below: adapterPath) { attributeAdded([interface], at: path) }
    }
  }

  /// True if BlueZ has an object of the peer's device.
  private func isPresent(_ peer: PeerHandle) -> Bool {
    devices[peer].map { tree.properties(BlueZName.device, at: $0.path) != nil } ?? false
  }

  func deviceAdded(at path: String) {
    guard let adapterPath, path.hasPrefix(adapterPath + "/"),
      let properties = tree.properties(BlueZName.device, at: path), let address = DeviceAddress(properties: properties),
      let own = tree.properties(BlueZName.adapter, at: adapterPath).flatMap({ DeviceAddress(properties: $0) })
    else { return }
    let identifier = PeerIdentifier(ofDevice: address, on: own)
    let name = properties["Name"]?.string
    let peer = directory.peer(identifier)?.handle ?? directory.add(identifier, address, name: name).handle
    if let name { directory.setName(name, of: peer) }
    peers[path] = peer
    if devices[peer] == nil { devices[peer] = BlueZDevice(path: path) }
    noteBond(of: peer, properties)
    if properties["Connected"]?.bool == true { connected(peer) }
    if properties["ServicesResolved"]?.bool == true { resolved(peer) }
    if properties["RSSI"] != nil { for id in sortedCentrals { report(peer, path, to: id) } }
    attempt(peer)
    updateDiscovery()
  }

  func deviceRemoved(at path: String) {
    guard let peer = peers.removeValue(forKey: path) else { return }
    disconnected(peer, .remoteUserTerminatedConnection)
    devices[peer]?.retry?.cancel()
    devices[peer] = nil
    updateDiscovery()
  }

  func deviceChanged(_ changed: [String: DBusValue], at path: String) {
    guard let peer = peers[path] else { return }
    if let name = changed["Name"]?.string {
      directory.setName(name, of: peer)
      for id in sortedCentrals where centrals[id]?.uses[peer] == .connected {
        deliver(.nameChanged(peer, name), to: id)
      }
    }
    if changed["Paired"] != nil || changed["Bonded"] != nil {
      noteBond(of: peer, tree.properties(BlueZName.device, at: path) ?? [:])
      withdrawQuestions(ofDeviceAt: path)
    }
    switch changed["Connected"]?.bool {
    case true?: connected(peer)
    case false?: disconnected(peer, devices[peer]?.reason ?? .remoteUserTerminatedConnection)
    case nil: break
    }
    if changed["ServicesResolved"]?.bool == true { resolved(peer) }
    if changed["UUIDs"] != nil, devices[peer]?.isConnected == true { noteServices(of: peer) }
    guard ["RSSI", "ManufacturerData", "ServiceData"].contains(where: { changed[$0] != nil }) else { return }
    for id in sortedCentrals { report(peer, path, to: id) }
  }

  /// BlueZ tells that there is a bond, but not how good its keys are: the least that a bond has.
  private func noteBond(of peer: PeerHandle, _ properties: [String: DBusValue]) {
    guard let address = directory.address(of: peer) else { return }
    let isBonded = (properties["Bonded"] ?? properties["Paired"])?.bool == true
    directory.setBond(
      isBonded ? BondInfo(isSecureConnections: false, isAuthenticated: false, keySize: 7) : nil, of: address)
  }

  private func noteServices(of peer: PeerHandle) {
    guard let path = devices[peer]?.path else { return }
    let texts = tree.properties(BlueZName.device, at: path)?["UUIDs"]?.texts ?? []
    directory.setConnected(peer, services: texts.compactMap { BluetoothUUID($0)?.attributeForm })
  }

  var sortedCentrals: [CentralSessionID] { centrals.keys.sorted { $0.key.rawValue < $1.key.rawValue } }

  // MARK: Connecting

  private func connect(_ peer: PeerHandle, _ delay: TimeSpan, _ reconnects: Bool, _ id: CentralSessionID) {
    guard let address = directory.address(of: peer) else {
      return deliver(.connectionFailed(peer, .unknownPeer), to: id)
    }
    if reconnects { centrals[id]?.reconnecting.insert(peer) } else { centrals[id]?.reconnecting.remove(peer) }
    guard centrals[id]?.uses[peer] == nil else { return }
    DaemonLog.trace("connects to \(address)", of: name)
    centrals[id]?.uses[peer] = .delayed
    updateAgent()
    guard delay.nanoseconds > 0 else { return startConnecting(peer, id) }
    loop.scheduleTask(in: .nanoseconds(delay.nanoseconds)) { [weak self] in
      if self?.centrals[id]?.uses[peer] == .delayed { self?.startConnecting(peer, id) }
    }
  }

  private func startConnecting(_ peer: PeerHandle, _ id: CentralSessionID) {
    centrals[id]?.uses[peer] = .connecting
    attempt(peer)
    updateDiscovery()
  }

  private func isWanted(_ peer: PeerHandle) -> Bool { centrals.values.contains { $0.uses[peer] == .connecting } }

  /// Connects to a device that a session waits for, if BlueZ has an object of it.
  func attempt(_ peer: PeerHandle) {
    guard isWanted(peer), let device = devices[peer], isPresent(peer), !device.isConnecting else { return }
    if device.isConnected { return connected(peer) }
    devices[peer]?.retry?.cancel()
    devices[peer]?.isConnecting = true
    call("Connect", of: BlueZName.device, at: device.path, timeout: nil) { [weak self] result in
      guard let self, devices[peer] != nil else { return }
      devices[peer]?.isConnecting = false
      switch result {
      case .success: connected(peer)
      case .failure(let error) where error.name == BlueZName.error + "AlreadyConnected": connected(peer)
      case .failure(let error):
        guard isWanted(peer) else { return }
        DaemonLog.trace("connecting has failed: \(error); retrying", of: name)
        devices[peer]?.retry = loop.scheduleTask(in: Self.retryPause) { [weak self] in self?.attempt(peer) }
        updateDiscovery()
      }
    }
  }

  private func connected(_ peer: PeerHandle) {
    guard let device = devices[peer] else { return }
    if !device.isConnected {
      devices[peer]?.isConnected = true
      noteServices(of: peer)
      for id in sortedCentrals { reportConnection(peer, true, to: id) }
    }
    for id in sortedCentrals where centrals[id]?.uses[peer] == .connecting {
      centrals[id]?.uses[peer] = .connected
      deliver(.connected(peer, maximumWriteLength: device.maximumWriteLength), to: id)
    }
  }

  /// Tells a session of a connection that it has not requested.
  private func reportConnection(_ peer: PeerHandle, _ isConnected: Bool, to id: CentralSessionID) {
    guard let central = centrals[id], let filter = central.filter, central.uses[peer] == nil,
      let info = directory.peer(peer)
    else { return }
    let isOffered = directory.connectedPeers(offering: Array(filter.services)).contains { $0.handle == peer }
    guard filter.peers.contains(info.identifier) || isOffered else { return }
    deliver(.connectionEvent(info, isConnected: isConnected), to: id)
  }

  private func disconnected(_ peer: PeerHandle, _ reason: HCI.ErrorCode) {
    guard let device = devices[peer] else { return }
    devices[peer]?.isConnected = false
    devices[peer]?.isResolved = false
    devices[peer]?.maximumWriteLength = BlueZDevice.defaultWriteLength
    devices[peer]?.reads = [:]
    devices[peer]?.reason = nil
    devices[peer]?.waiting = []
    devices[peer]?.operations = [:]
    devices[peer]?.notifySockets = [:]
    devices[peer]?.writeSockets = [:]
    closeSockets(of: device)
    endChannels(of: peer, reason)
    withdrawQuestions(ofDeviceAt: device.path)
    for request in device.waiting { request(.link(reason)) }
    // BlueZ refuses them, which returns their credits.
    for operation in device.operations.values.joined() { operation() }
    for id in sortedCentrals {
      if device.isConnected { reportConnection(peer, false, to: id) }
      let others = centrals[id]?.notifying.filter { BlueZTree.devicePath(of: $0) != device.path }
      centrals[id]?.notifying = others ?? []
      switch centrals[id]?.uses[peer] {
      case .connected?:
        let reconnects = centrals[id]?.reconnecting.contains(peer) == true
        centrals[id]?.uses[peer] = reconnects ? .connecting : nil
        updateAgent()
        deliver(.disconnected(peer, .link(reason), isReconnecting: reconnects), to: id)
      case .cancelling?: finishCancelling(peer, id)
      case .connecting?, .delayed?, nil: break
      }
    }
    if device.isConnected { centralDisconnected(peer) }
    directory.setDisconnected(peer)
    attempt(peer)
    updateDiscovery()
  }

  private func cancelConnection(_ peer: PeerHandle, _ id: CentralSessionID) {
    guard let use = centrals[id]?.uses[peer], use != .cancelling else { return }
    centrals[id]?.uses[peer] = .cancelling
    if !disconnectIfUnused(peer) { finishCancelling(peer, id) }
    updateDiscovery()
  }

  private func finishCancelling(_ peer: PeerHandle, _ id: CentralSessionID) {
    guard centrals[id]?.uses[peer] == .cancelling else { return }
    centrals[id]?.uses[peer] = nil
    centrals[id]?.reconnecting.remove(peer)
    updateAgent()
    deliver(.disconnected(peer, nil, isReconnecting: false), to: id)
  }

  /// Ends a link, or the attempt, that no session of this process uses any more. Returns false if there is nothing to
  /// end.
  @discardableResult
  private func disconnectIfUnused(_ peer: PeerHandle) -> Bool {
    let isUsed = centrals.values.contains { central in
      switch central.uses[peer] {
      case .connecting?, .connected?, .delayed?: true
      case .cancelling?, nil: false
      }
    }
    guard !isUsed, let device = devices[peer] else { return false }
    devices[peer]?.retry?.cancel()
    guard device.isConnected || device.isConnecting, isPresent(peer) else { return false }
    call("Disconnect", of: BlueZName.device, at: device.path) { [weak self] _ in
      guard let self else { return }
      for id in sortedCentrals { finishCancelling(peer, id) }
    }
    return true
  }
}
