import BluetoothDaemon
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

// Events for the peripheral manager's delegate, on its queue.
extension PeripheralManagerCore {
  func changeState(to new: CBManagerState, of manager: CBPeripheralManager) {
    let before = with { state in
      let before = state
      state.managerState = new
      if new != .poweredOn {
        state.role.advertising = PeripheralRole.Advertising()
        state.role.database = ManagerDatabase(after: before.role.database)
        state.role.centrals = [:]
        state.role.openRequests = [:]
        state.role.links = [:]
      }
      return before
    }
    if new != .poweredOn {
      before.role.database.releaseObjects()
      for answer in before.role.openRequests.values { answer.cancel() }
    }
    delegate?.peripheralManagerDidUpdateState(manager)
  }

  func serviceAdded(_ id: LocalAttributeID, _ error: SessionError?, _ manager: CBPeripheralManager) {
    guard let service = with({ $0.role.database.added(id, isRefused: error != nil) }) else { return }
    delegate?.peripheralManager(
      manager, didAdd: service, error: error?.appError(service: service.uuid.wire.attributeForm))
  }

  /// Returns the single object for a central, which exists as long as the central is connected.
  func central(for info: CentralInfo) -> CBCentral {
    let central = with({ $0.role.centrals[info.handle] }) ?? addCentral(info)
    central.setMaximumUpdateLength(info.maximumUpdateLength)
    return central
  }

  private func addCentral(_ info: CentralInfo) -> CBCentral {
    let new = CBCentral(info, identifier: identifier(of: info.identifier), of: identity)
    with { $0.role.centrals[info.handle] = new }
    return new
  }

  func subscribed(_ info: CentralInfo, _ id: LocalAttributeID, _ manager: CBPeripheralManager) {
    guard let characteristic = with({ $0.role.database.characteristic(id) }) else { return }
    let central = central(for: info)
    let isNew = characteristic.content.withLockedValue { content in
      guard !content.subscribedCentrals.contains(where: { $0 === central }) else { return false }
      content.subscribedCentrals.append(central)
      return true
    }
    if isNew {
      delegate?.peripheralManager(manager, central: central, didSubscribeTo: characteristic)
    } else {
      let observer = with { $0.role.observer }
      observer?(.subscribedAgain(by: ObjectIdentifier(central), to: ObjectIdentifier(characteristic)))
    }
  }

  func unsubscribed(_ info: CentralInfo, _ id: LocalAttributeID, _ manager: CBPeripheralManager) {
    guard let central = with({ $0.role.centrals[info.handle] }),
      let characteristic = with({ $0.role.database.characteristic(id) })
    else { return }
    unsubscribe(central, from: characteristic, manager)
  }

  private func unsubscribe(
    _ central: CBCentral, from characteristic: CBMutableCharacteristic, _ manager: CBPeripheralManager
  ) {
    let wasSubscribed = characteristic.content.withLockedValue { content in
      guard let index = content.subscribedCentrals.firstIndex(where: { $0 === central }) else { return false }
      content.subscribedCentrals.remove(at: index)
      return true
    }
    if wasSubscribed { delegate?.peripheralManager(manager, central: central, didUnsubscribeFrom: characteristic) }
  }

  func disconnected(_ info: CentralInfo, _ manager: CBPeripheralManager) {
    let (central, characteristics, requests, wasLastLink) = with { state in
      let requests = state.role.openRequests.filter { $0.value.central == info.handle }
      for id in requests.keys { state.role.openRequests[id] = nil }
      let wasLastLink = state.role.links.removeValue(forKey: info.handle) != nil && state.role.links.isEmpty
      // Before the callbacks: a request for the link that is made in one of them, or in another thread meanwhile, would
      // get no answer.
      let central = state.role.centrals.removeValue(forKey: info.handle)
      return (central, state.role.database.allCharacteristics, requests.values, wasLastLink)
    }
    for answer in requests { answer.cancel() }
    if let central {
      with { $0.role.observer }?(.linkEnded(ObjectIdentifier(central)))
      for characteristic in characteristics { unsubscribe(central, from: characteristic, manager) }
    }
    if wasLastLink { with { $0.role.observer }?(.linksEnded) }
  }

  /// Keeps the properties of a link, and reports them, and the answers to requests, for a central that the app knows.
  func linkReported(_ info: CentralInfo, _ event: LinkEvent) {
    let (central, observer) = with { state in
      if case .changed(let link) = event { state.role.links[info.handle] = link }
      return (state.role.centrals[info.handle], state.role.observer)
    }
    if let central { observer?(.link(ObjectIdentifier(central), event)) }
  }

  /// Reports a confirmed indication of a characteristic to a central, if the app knows both.
  func indicationConfirmed(_ info: CentralInfo, _ id: LocalAttributeID) {
    let (central, characteristic, observer) = with { state in
      (state.role.centrals[info.handle], state.role.database.characteristic(id), state.role.observer)
    }
    guard let central, let characteristic else { return }
    observer?(.indicationConfirmed(by: ObjectIdentifier(central), of: ObjectIdentifier(characteristic)))
  }

  func channelOpened(_ channel: OpenChannel, by info: CentralInfo, _ manager: CBPeripheralManager) {
    // Without a delegate, no reference to the channel remains, so the channel closes.
    let channel = CBL2CAPChannel(channel, peer: central(for: info), isInVirtualTime: callbacks.isInVirtualTime)
    delegate?.peripheralManager(manager, didOpen: channel, error: nil)
  }

  func readRequested(
    _ id: CentralRequestID, _ info: CentralInfo, _ attribute: LocalAttributeID, offset: Int,
    _ manager: CBPeripheralManager
  ) {
    guard let characteristic = with({ $0.role.database.characteristic(attribute) }) else {
      return send(.respond(id, .attributeNotFound, value: .init()))
    }
    let answer = PendingAnswer(id, from: info.handle, to: identity)
    with { $0.role.openRequests[id] = answer }
    let request = CBATTRequest(
      central: central(for: info), characteristic: characteristic, offset: offset, value: nil, answer: answer)
    delegate?.peripheralManager(manager, didReceiveRead: request)
  }

  func writeRequested(
    _ id: CentralRequestID?, _ info: CentralInfo, _ parts: [PeripheralEventCopies.WrittenPart],
    _ manager: CBPeripheralManager
  ) {
    let targets = with { state in parts.map { state.role.database.characteristic($0.characteristic) } }
    let answer = PendingAnswer(id, from: info.handle, to: identity)
    let central = central(for: info)
    let requests = zip(parts, targets).compactMap { part, target in
      target.map {
        CBATTRequest(
          central: central, characteristic: $0, offset: part.offset, value: part.value, answer: answer)
      }
    }
    guard requests.count == parts.count, !requests.isEmpty else {
      if let id { send(.respond(id, .attributeNotFound, value: .init())) }
      return
    }
    if let id { with { $0.role.openRequests[id] = answer } }
    delegate?.peripheralManager(manager, didReceiveWrite: requests)
  }
}
