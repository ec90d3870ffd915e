// Design: the subscribers of a local characteristic
//
// BlueZ asks for a socket for each central that subscribes, and names the central: AcquireNotify. An update is a packet
// in the socket; an octet comes back when a central has confirmed an indication. BlueZ before 5.69 has one socket for all
// centrals, and names only the first one. There, this adapter offers no socket, and BlueZ tells only of the first and of
// the last subscriber: one central without an address stands for all.

import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothTransport
import BluetoothTypes
import BluetoothWire

extension BlueZRunner {
  /// The least ATT_MTU · Vol 3, Part G, 5.2.1.
  private static let minimumMTU = 23

  /// True if BlueZ takes a socket for each subscribed central. It does not tell its version; this property came with 5.71.
  var namesSubscribers: Bool {
    adapterPath.flatMap { tree.properties(BlueZName.adapter, at: $0) }?["Manufacturer"] != nil
  }

  func subscribeRequested(
    _ characteristic: LocalAttributeID, _ call: DBusCall, _ responder: DBusResponder, _ id: PeripheralSessionID
  ) {
    let options = call.arguments.first?.options ?? [:]
    guard isFromService(call), let peer = options["device"]?.path.flatMap({ peers[$0] }), peripherals[id] != nil,
      let (own, other) = makePacketSocketPair()
    else {
      // BlueZ then calls StartNotify.
      return responder.fail(DBusError(BlueZName.error + "NotSupported"))
    }
    let mtu = options["mtu"]?.integer ?? Self.minimumMTU
    let central = central(peer, mtu: mtu, of: id)
    peripherals[id]?.subscribers[characteristic]?[peer]?.close()
    let socket = BlueZSocket(
      own, on: loop,
      receive: { [weak self] _ in self?.deliver(.indicationConfirmed(central, characteristic), to: id) },
      ended: { [weak self] in self?.subscriberEnded(peer, characteristic, id) })
    peripherals[id]?.subscribers[characteristic, default: [:]][peer] = socket
    responder.reply([
      .fileDescriptor(DBusFileDescriptor(owning: other)), .uint16(UInt16(clamping: mtu)),
    ])
    deliver(.subscribed(central, characteristic), to: id)
  }

  /// BlueZ has closed the socket: the central has unsubscribed, or its link has ended.
  private func subscriberEnded(_ peer: PeerHandle, _ characteristic: LocalAttributeID, _ id: PeripheralSessionID) {
    guard peripherals[id]?.subscribers[characteristic]?.removeValue(forKey: peer) != nil else { return }
    deliver(.unsubscribed(central(peer, of: id), characteristic), to: id)
  }

  /// The one central that stands for all subscribers that BlueZ does not name.
  private func unnamedSubscriber(_ id: PeripheralSessionID) -> CentralInfo {
    let identifier = PeerIdentifier(high: 0, low: 1)
    let peer =
      directory.peer(identifier) ?? directory.add(identifier, DeviceAddress(0, .public), name: nil)
    return CentralInfo(
      handle: peer.handle, identifier: identifier,
      maximumUpdateLength: peripherals[id]?.updateLength ?? BlueZDevice.defaultWriteLength)
  }

  func subscribed(_ characteristic: LocalAttributeID, _ isOn: Bool, _ id: PeripheralSessionID) {
    guard peripherals[id] != nil else { return }
    let central = unnamedSubscriber(id)
    if isOn {
      peripherals[id]?.unnamedSubscribers.insert(characteristic)
      deliver(.subscribed(central, characteristic), to: id)
    } else if peripherals[id]?.unnamedSubscribers.remove(characteristic) != nil {
      deliver(.unsubscribed(central, characteristic), to: id)
    }
  }

  /// Sends an update to these centrals; nil: to all subscribers.
  func update(
    _ characteristic: LocalAttributeID, _ value: ByteSlice, _ centrals: [PeerHandle]?, _ id: PeripheralSessionID
  ) {
    guard let peripheral = peripherals[id] else { return }
    func isReceiver(_ peer: PeerHandle) -> Bool { centrals?.contains(peer) ?? true }
    if let path = peripheral.paths[characteristic], peripheral.unnamedSubscribers.contains(characteristic),
      isReceiver(unnamedSubscriber(id).handle)
    {
      connection?.emit(
        "PropertiesChanged", of: BlueZName.properties, at: path,
        [.string(BlueZName.characteristic), .properties(["Value": .bytes(value.bytes)]), .strings([])])
    }
    let sockets = (peripheral.subscribers[characteristic] ?? [:]).filter { isReceiver($0.key) }
    var remaining = sockets.count
    func sent() {
      if peripheral.counters.updateCredits.put() { deliver(.readyToUpdate, to: id) }
    }
    guard remaining > 0 else { return sent() }
    for (peer, socket) in sockets {
      // BlueZ cuts a value for a signal, but not one for a socket.
      let length = peripheral.centrals[peer]?.maximumUpdateLength ?? BlueZDevice.defaultWriteLength
      socket.send(Array(value.bytes.prefix(length))) { _ in
        remaining -= 1
        if remaining == 0 { sent() }
      }
    }
  }
}
