import BluetoothDaemon
import BluetoothHost
import BluetoothWire

// Descriptions of calls and callbacks in captures: their names in the API, with the arguments that distinguish them.

extension DaemonRequest {
  /// The description of the app's call; nil: the request is not the result of an app's call.
  var callDescription: String? {
    switch self {
    case .central(_, let command, _): command.callDescription
    case .peripheral(_, let command, _): command.callDescription
    case .openCentral: "CBCentralManager.init"
    case .openPeripheral: "CBPeripheralManager.init"
    case .closeCentral, .closePeripheral, .channel, .app, .system, .introduce, .unhandled: nil
    }
  }
}

extension CentralCommand {
  fileprivate var callDescription: String? {
    switch self {
    case .scan(let request):
      "scanForPeripherals(withServices: \(request.services.map(\.description) ?? "nil"))"
    case .stopScan: "stopScan()"
    case .connect(let peer, _, _): "connect(_:) \(peer)"
    case .cancelConnection(let peer): "cancelPeripheralConnection(_:) \(peer)"
    case .registerForConnectionEvents(let filter): "registerForConnectionEvents(\(filter == nil ? "nil" : "…"))"
    case .readRSSI(let peer): "readRSSI() \(peer)"
    case .discoverServices(let peer, let filter):
      "discoverServices(\(filter.map(\.description) ?? "nil")) \(peer)"
    case .discoverIncludedServices(let peer, let service, let filter):
      "discoverIncludedServices(\(filter.map(\.description) ?? "nil"), for: \(service)) \(peer)"
    case .discoverCharacteristics(let peer, let service, let filter):
      "discoverCharacteristics(\(filter.map(\.description) ?? "nil"), for: \(service)) \(peer)"
    case .discoverDescriptors(let peer, let characteristic): "discoverDescriptors(for: \(characteristic)) \(peer)"
    case .read(let peer, let attribute): "readValue(for: \(attribute)) \(peer)"
    case .write(let peer, let attribute, let value):
      "writeValue(\(value.count) octets, for: \(attribute), type: .withResponse) \(peer)"
    case .writeWithoutResponse(let peer, let attribute, let value),
      .signedWriteWithoutResponse(let peer, let attribute, let value):
      "writeValue(\(value.count) octets, for: \(attribute), type: .withoutResponse) \(peer)"
    case .setNotify(let peer, let attribute, let isOn): "setNotifyValue(\(isOn), for: \(attribute)) \(peer)"
    case .openChannel(let peer, let psm): "openL2CAPChannel(\(psm)) \(peer)"
    case .changeLink(let peer, let request): "request \(request.kind) \(peer)"
    case .synchronize(_, let request): "synchronize(to: set \(request.advertisingSID) of \(request.advertiser))"
    case .endSynchronization: "end synchronization"
    case .barrier, .askForPower, .observeLinks, .requestAlerts, .requireNotifications: nil
    }
  }
}

extension PeripheralCommand {
  fileprivate var callDescription: String? {
    switch self {
    case .startAdvertising(let name, let services):
      "startAdvertising(\(name.map { "\"\($0)\", " } ?? "")\(services))"
    case .advertise(let advertising): "startAdvertising(\(advertising.data.count) octets)"
    case .stopAdvertising: "stopAdvertising()"
    case .startSet(let set, let advertising): "start set \(set.number) (\(advertising.data.count) octets)"
    case .stopSet(let set): "stop set \(set.number)"
    case .changeLink(let peer, let request): "request \(request.kind) \(peer)"
    case .disconnect(let peer): "disconnect \(peer)"
    case .addService(let service), .addServiceAt(let service): "add(\(service.uuid))"
    case .removeService: "remove(_:)"
    case .removeAllServices: "removeAllServices()"
    case .respond(_, let error, let value):
      "respond(to:withResult: \(error.map(\.description) ?? ".success")), \(value.count) octets"
    case .update(_, let value, _): "updateValue(\(value.count) octets, for:onSubscribedCentrals:)"
    case .setConnectionLatency(let latency, _): "setDesiredConnectionLatency(.\(latency), for:)"
    case .publishChannel(let isEncrypted): "publishL2CAPChannel(withEncryption: \(isEncrypted))"
    case .unpublishChannel(let psm): "unpublishL2CAPChannel(\(psm))"
    case .barrier, .askForPower, .observeLinks: nil
    }
  }
}

extension DaemonEvent {
  /// The description of the app's callback; nil: the event leads to no callback.
  var callbackDescription: String? {
    switch self {
    case .central(_, let event): event.callbackDescription
    case .peripheral(_, let event): event.callbackDescription
    // A channel's streams determine the callbacks, so they are unknown here.
    case .channel, .app, .system: nil
    }
  }
}

extension CentralEvent {
  fileprivate var callbackDescription: String? {
    switch self {
    case .restored: "centralManager(_:willRestoreState:)"
    case .stateChanged(let state): "centralManagerDidUpdateState(_:) \(state)"
    case .discovered(let discovery): "centralManager(_:didDiscover:advertisementData:rssi:) \(discovery.peer.handle)"
    case .connected(let peer, _): "centralManager(_:didConnect:) \(peer)"
    case .connectionFailed(let peer, let error): "centralManager(_:didFailToConnect:error:) \(peer) \(error)"
    case .disconnected(let peer, let error, _):
      "centralManager(_:didDisconnectPeripheral:error:) \(peer) \(error.map { "\($0)" } ?? "nil")"
    case .connectionEvent(let peer, let isConnected):
      "centralManager(_:connectionEventDidOccur:for:) \(isConnected ? "connected" : "disconnected") \(peer.handle)"
    case .maximumWriteLengthChanged, .link, .packetReceived, .synchronization: nil
    case .nameChanged(let peer, _): "peripheralDidUpdateName(_:) \(peer)"
    case .rssiRead(let peer, _): "peripheral(_:didReadRSSI:error:) \(peer)"
    case .servicesDiscovered(let peer, _): "peripheral(_:didDiscoverServices:) \(peer)"
    case .includedServicesDiscovered(let peer, let service, _):
      "peripheral(_:didDiscoverIncludedServicesFor:error:) \(service) \(peer)"
    case .characteristicsDiscovered(let peer, let service, _):
      "peripheral(_:didDiscoverCharacteristicsFor:error:) \(service) \(peer)"
    case .descriptorsDiscovered(let peer, let characteristic, _):
      "peripheral(_:didDiscoverDescriptorsFor:error:) \(characteristic) \(peer)"
    case .valueRead(let peer, let attribute, _), .valueChanged(let peer, let attribute, _),
      .valueLimitReached(let peer, let attribute, _):
      "peripheral(_:didUpdateValueFor:error:) \(attribute) \(peer)"
    case .written(let peer, let attribute, _): "peripheral(_:didWriteValueFor:error:) \(attribute) \(peer)"
    case .notifyStateChanged(let peer, let attribute, _, _):
      "peripheral(_:didUpdateNotificationStateFor:error:) \(attribute) \(peer)"
    case .notificationSharingChanged(let peer): "centralManager(_:didUpdateANCSAuthorizationFor:) \(peer)"
    case .readyToWriteWithoutResponse(let peer): "peripheralIsReady(toSendWriteWithoutResponse:) \(peer)"
    case .channelOpened(let peer, let result): "peripheral(_:didOpen:error:) \(result.psmText) \(peer)"
    case .servicesModified(let peer, _): "peripheral(_:didModifyServices:) \(peer)"
    case .barrierReached: nil
    }
  }
}

extension PeripheralEvent {
  fileprivate var callbackDescription: String? {
    switch self {
    case .restored: "peripheralManager(_:willRestoreState:)"
    case .stateChanged(let state): "peripheralManagerDidUpdateState(_:) \(state)"
    case .advertisingStarted: "peripheralManagerDidStartAdvertising(_:error:)"
    case .serviceAdded: "peripheralManager(_:didAdd:error:)"
    case .subscribed(let central, _): "peripheralManager(_:central:didSubscribeTo:) \(central.handle)"
    case .unsubscribed(let central, _): "peripheralManager(_:central:didUnsubscribeFrom:) \(central.handle)"
    case .readRequested(_, let central, _, let offset):
      "peripheralManager(_:didReceiveRead:) offset \(offset) \(central.handle)"
    case .writeRequested(_, let central, let writes):
      "peripheralManager(_:didReceiveWrite:) \(writes.count) \(central.handle)"
    case .channelPublished(let psm, _): "peripheralManager(_:didPublishL2CAPChannel:error:) \(psm)"
    case .channelUnpublished(let psm, _): "peripheralManager(_:didUnpublishL2CAPChannel:error:) \(psm)"
    case .channelOpened(let central, let channel):
      "peripheralManager(_:didOpen:error:) \(channel.psm) \(central.handle)"
    case .readyToUpdate: "peripheralManagerIsReady(toUpdateSubscribers:)"
    case .maximumUpdateLengthChanged, .centralDisconnected, .barrierReached, .advertisingSetStarted,
      .advertisingSetEnded, .link, .indicationConfirmed:
      nil
    }
  }
}

extension Result where Success == ChannelInfo, Failure == SessionError {
  fileprivate var psmText: String {
    switch self {
    case .success(let channel): "\(channel.psm)"
    case .failure(let error): "\(error)"
    }
  }
}
