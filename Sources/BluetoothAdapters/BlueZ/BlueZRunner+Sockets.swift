// Design: sockets of characteristics
//
// BlueZ gives the values of a characteristic to one program by a socket: AcquireNotify, AcquireWrite. Then the values of
// notifications are not those of reads, and none is merged with another. A second program that wants them is refused by
// BlueZ; this adapter then uses StartNotify and WriteValue, which all programs can use at the same time.
//
// BlueZ refuses WriteValue while a program has the socket for writes: this adapter takes it only for characteristics
// that have no other kind of write.

import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothTypes
import BluetoothWire

/// The way of writes without response to a characteristic.
enum BlueZWriteSocket {
  typealias Write = (value: [UInt8], then: @Sendable (SessionError?) -> Void)

  /// BlueZ has not answered AcquireWrite. The writes wait.
  case acquiring([Write])
  case open(BlueZSocket)
  /// BlueZ refuses the socket: another program has it.
  case refused
}

extension BlueZRunner {
  // MARK: Notifications

  /// Makes BlueZ notify of a characteristic. `then` gets the error.
  func startNotifying(_ path: String, of peer: PeerHandle, then: @escaping @Sendable (DBusError?) -> Void) {
    guard tree.properties(BlueZName.characteristic, at: path)?["NotifyAcquired"] != nil else {
      return startSignals(path, then: then)
    }
    call("AcquireNotify", of: BlueZName.characteristic, at: path, [.properties([:])]) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let reply):
        guard let descriptor = reply.body.first?.descriptor?.take() else { return startSignals(path, then: then) }
        let socket = BlueZSocket(
          descriptor, on: loop, receive: { [weak self] in self?.notified($0, at: path) },
          ended: { [weak self] in self?.notifySocketEnded(path, of: peer) })
        guard devices[peer]?.isConnected == true, isNotifying(path) else {
          socket.close()
          return then(nil)
        }
        devices[peer]?.notifySockets[path] = socket
        then(nil)
      case .failure(let error):
        isRefusedSocket(error) ? startSignals(path, then: then) : then(error)
      }
    }
  }

  private func startSignals(_ path: String, then: @escaping @Sendable (DBusError?) -> Void) {
    call("StartNotify", of: BlueZName.characteristic, at: path) { result in
      if case .failure(let error) = result { then(error) } else { then(nil) }
    }
  }

  private func isNotifying(_ path: String) -> Bool { centrals.values.contains { $0.notifying.contains(path) } }

  /// True if the error concerns the socket and not the subscription.
  private func isRefusedSocket(_ error: DBusError) -> Bool {
    let names = ["InProgress", "NotSupported"].map { BlueZName.error + $0 } + [DBusError.Name.unknownMethod]
    return names.contains(error.name) || error.message.hasSuffix("acquired")
  }

  private func notified(_ value: [UInt8], at path: String) {
    guard let peer = peers[BlueZTree.devicePath(of: path)], let handle = BlueZTree.handle(of: path) else { return }
    for id in sortedCentrals where centrals[id]?.notifying.contains(path) == true {
      deliver(.valueChanged(peer, RemoteAttributeID(handle), ByteSlice(value)), to: id)
    }
  }

  private func notifySocketEnded(_ path: String, of peer: PeerHandle) { devices[peer]?.notifySockets[path] = nil }

  /// Makes BlueZ stop to notify of a characteristic.
  func endNotifying(_ path: String) {
    guard let peer = peers[BlueZTree.devicePath(of: path)],
      let socket = devices[peer]?.notifySockets.removeValue(forKey: path)
    else { return call("StopNotify", of: BlueZName.characteristic, at: path) }
    socket.close()
  }

  // MARK: Writes without response

  /// True if writes without response to a characteristic may use a socket.
  func canAcquireWrite(_ path: String, of peer: PeerHandle) -> Bool {
    guard let properties = tree.properties(BlueZName.characteristic, at: path),
      properties["WriteAcquired"] != nil
    else { return false }
    if case .refused? = devices[peer]?.writeSockets[path] { return false }
    let flags = CharacteristicProperties(flags: properties["Flags"]?.texts ?? [])
    return flags.contains(.writeWithoutResponse) && flags.isDisjoint(with: [.write, .authenticatedSignedWrites])
  }

  /// Writes a value by the socket of a characteristic.
  ///
  /// - Parameter fallback: writes the value if BlueZ refuses the socket.
  func writeBySocket(
    _ value: [UInt8], at path: String, of peer: PeerHandle, then: @escaping @Sendable (SessionError?) -> Void,
    fallback: @escaping @Sendable ([UInt8], @escaping @Sendable (SessionError?) -> Void) -> Void
  ) {
    switch devices[peer]?.writeSockets[path] {
    case .open(let socket)?: Self.send(value, by: socket, then)
    case .refused?: fallback(value, then)
    case .acquiring(var writes)?:
      writes.append((value, then))
      devices[peer]?.writeSockets[path] = .acquiring(writes)
    case nil:
      devices[peer]?.writeSockets[path] = .acquiring([(value, then)])
      call("AcquireWrite", of: BlueZName.characteristic, at: path, [.properties([:])]) { [weak self] result in
        guard let self, case .acquiring(let writes)? = devices[peer]?.writeSockets[path] else { return }
        guard case .success(let reply) = result, let descriptor = reply.body.first?.descriptor?.take() else {
          devices[peer]?.writeSockets[path] = .refused
          for write in writes { fallback(write.value, write.then) }
          return
        }
        let socket = BlueZSocket(
          descriptor, on: loop, receive: { _ in },
          ended: { [weak self] in self?.devices[peer]?.writeSockets[path] = nil })
        devices[peer]?.writeSockets[path] = .open(socket)
        for write in writes { Self.send(write.value, by: socket, write.then) }
      }
    }
  }

  private static func send(
    _ value: [UInt8], by socket: BlueZSocket, _ then: @escaping @Sendable (SessionError?) -> Void
  ) {
    socket.send(value) { then($0 ? nil : .link(.remoteUserTerminatedConnection)) }
  }

  /// Closes the sockets of a device whose link has ended. The writes that wait are lost.
  func closeSockets(of device: BlueZDevice) {
    for socket in device.notifySockets.values { socket.close() }
    for state in device.writeSockets.values {
      switch state {
      case .open(let socket): socket.close()
      case .acquiring(let writes): for write in writes { write.then(.link(.remoteUserTerminatedConnection)) }
      case .refused: break
      }
    }
  }
}
