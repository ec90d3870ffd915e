import BluetoothDBus
import BluetoothDaemon
import BluetoothWire

/// Subscriptions, and the sockets that clients acquire.
extension RemoteDatabaseTree {
  func startNotify(_ characteristic: RemoteCharacteristicObject, _ client: String, _ answer: BusAnswer) {
    guard !device.isDisconnecting else { return context.fail(answer, .notConnected) }
    guard characteristic.notifySocket == nil else { return context.fail(answer, .notPermitted("Notify acquired")) }
    guard characteristic.notifies else { return context.fail(answer, .notSupported) }
    guard characteristic.starting[client] == nil else { return context.fail(answer, .inProgress) }
    if characteristic.subscribers.contains(client) { return context.reply(answer) }
    subscribe(characteristic, client, answer)
  }

  private func subscribe(_ characteristic: RemoteCharacteristicObject, _ client: String, _ answer: BusAnswer) {
    guard !characteristic.isSubscribed else {
      characteristic.subscribers.insert(client)
      subscribed(characteristic, client, answer)
      return
    }
    characteristic.starting[client] = answer
    if characteristic.starting.count == 1 { send(.setNotify(peer, characteristic.id, true)) }
  }

  func stopNotify(_ characteristic: RemoteCharacteristicObject, _ client: String, _ answer: BusAnswer) {
    if characteristic.notifySocket != nil {
      characteristic.closeNotifySocket()
      unsubscribe(characteristic, nil)
      return context.reply(answer)
    }
    guard characteristic.subscribers.contains(client) else {
      return context.fail(answer, .failure("No notify session started"))
    }
    unsubscribe(characteristic, client)
    context.reply(answer)
  }

  /// Ends a client's subscription, and with the last one that of the device; nil: that of an acquired socket.
  func unsubscribe(_ characteristic: RemoteCharacteristicObject, _ client: String?) {
    if let client { characteristic.subscribers.remove(client) }
    if characteristic.subscribers.isEmpty, characteristic.notifySocket == nil, characteristic.isSubscribed,
      characteristic.id != batteryLevel
    {
      characteristic.isSubscribed = false
      if device.hasClientLink { send(.setNotify(peer, characteristic.id, false)) }
    }
    showState(characteristic)
  }

  private func subscribed(_ characteristic: RemoteCharacteristicObject, _ client: String, _ answer: BusAnswer) {
    if characteristic.acquiringClient == client {
      characteristic.acquiringClient = nil
      characteristic.subscribers.remove(client)
      return makeNotifySocket(characteristic, answer)
    }
    showState(characteristic)
    context.reply(answer)
  }

  func notifyStateChanged(_ attribute: RemoteAttributeID, _ isNotifying: Bool, _ error: SessionError?) {
    guard let characteristic = characteristics[attribute] else { return }
    let starting = characteristic.starting
    if error == nil { characteristic.isSubscribed = isNotifying }
    guard !starting.isEmpty else { return showState(characteristic) }
    characteristic.starting.removeAll()
    for (client, answer) in starting.sorted(by: { $0.key < $1.key }) {
      if let error {
        if characteristic.acquiringClient == client { characteristic.acquiringClient = nil }
        context.fail(answer, .attribute(error))
      } else {
        characteristic.subscribers.insert(client)
        subscribed(characteristic, client, answer)
      }
    }
  }

  /// Shows whether clients have subscribed, and whether they have acquired sockets.
  func showState(_ characteristic: RemoteCharacteristicObject) {
    func set(_ name: String, _ isOn: Bool) {
      context.tree.set(name, .bool(isOn), of: BlueZInterface.characteristic, at: characteristic.path)
    }
    if characteristic.notifies { set("Notifying", !characteristic.subscribers.isEmpty) }
    if characteristic.info.properties.contains(.notify) { set("NotifyAcquired", characteristic.notifySocket != nil) }
    if characteristic.info.properties.contains(.writeWithoutResponse) {
      set("WriteAcquired", characteristic.writeSocket != nil)
    }
  }

  // MARK: Sockets

  func acquireNotify(_ characteristic: RemoteCharacteristicObject, _ client: String, _ answer: BusAnswer) {
    guard characteristic.notifySocket == nil else { return context.fail(answer, .notPermitted("Notify acquired")) }
    guard characteristic.subscribers.isEmpty, characteristic.starting.isEmpty else {
      return context.fail(answer, .inProgress)
    }
    guard characteristic.notifies else { return context.fail(answer, .notSupported) }
    characteristic.acquiringClient = client
    subscribe(characteristic, client, answer)
  }

  private func makeNotifySocket(_ characteristic: RemoteCharacteristicObject, _ answer: BusAnswer) {
    let adapter = device.adapter
    let (peer, id) = (peer, characteristic.id)
    let made = context.bus.makeSocket { [weak adapter] packet in
      // The client sends nothing; the end of the packets is that of the subscription.
      guard packet == nil, let database = adapter?.devices[peer]?.database else { return }
      database.notifySocketClosed(id)
    }
    guard let made else { return context.fail(answer, .failure("Too many open files")) }
    characteristic.notifySocket = made.end
    showState(characteristic)
    context.reply(answer, [made.other, .uint16(UInt16(mtu))])
  }

  private func notifySocketClosed(_ id: RemoteAttributeID) {
    guard let characteristic = characteristics[id], characteristic.notifySocket != nil else { return }
    characteristic.closeNotifySocket()
    unsubscribe(characteristic, nil)
    context.tree.flush()
  }

  func acquireWrite(_ characteristic: RemoteCharacteristicObject, _ answer: BusAnswer) {
    guard !characteristic.isClaimed else { return context.fail(answer, .notAuthorized) }
    guard characteristic.writeSocket == nil else { return context.fail(answer, .notPermitted("Write acquired")) }
    guard characteristic.info.properties.contains(.writeWithoutResponse) else {
      return context.fail(answer, .notSupported)
    }
    let adapter = device.adapter
    let (peer, id) = (peer, characteristic.id)
    let made = context.bus.makeSocket { [weak adapter] packet in
      adapter?.devices[peer]?.database.receivedWrite(packet, of: id)
    }
    guard let made else { return context.fail(answer, .failure("Too many open files")) }
    characteristic.writeSocket = made.end
    showState(characteristic)
    context.reply(answer, [made.other, .uint16(UInt16(mtu))])
  }

  /// The client that has acquired writing has sent a value, or has closed its socket.
  private func receivedWrite(_ packet: [UInt8]?, of id: RemoteAttributeID) {
    guard let characteristic = characteristics[id], let socket = characteristic.writeSocket else { return }
    guard let packet else {
      characteristic.closeWriteSocket()
      showState(characteristic)
      return context.tree.flush()
    }
    // A value that does not fit can't be refused.
    guard packet.count <= mtu - 3 else { return }
    characteristic.waitingWrites.append((packet, nil))
    sendWrites()
    if !characteristic.waitingWrites.isEmpty { socket.setPaused(true) }
  }
}
