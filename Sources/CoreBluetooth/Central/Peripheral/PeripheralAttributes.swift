import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

// Results of discovery, reads and writes, on the app's queue. Results that arrive after the app has cancelled are
// dropped.
extension CBPeripheral {
  private func attribute<T: CBAttribute>(_ id: RemoteAttributeID, as type: T.Type = T.self) -> T? {
    content.withLockedValue { content in content.state == .connected ? content.attributes[id] as? T : nil }
  }

  /// Returns the object for an attribute, and creates it if necessary.
  private func adopt<T: CBAttribute>(_ id: RemoteAttributeID, _ make: () -> T) -> T {
    if let known: T = attribute(id) { return known }
    let new = make()
    content.withLockedValue { $0.attributes[id] = new }
    return new
  }

  private func adopt(_ service: RemoteServiceInfo) -> CBService {
    adopt(service.id) {
      CBService(uuid: CBUUID(service.uuid), isPrimary: service.isPrimary, remoteID: service.id, peripheral: self)
    }
  }

  private func adopt(_ characteristic: RemoteCharacteristicInfo, in service: CBService) -> CBCharacteristic {
    adopt(characteristic.id) {
      CBCharacteristic(
        uuid: CBUUID(characteristic.uuid),
        content: .init(
          service: service, properties: CBCharacteristicProperties(rawValue: UInt(characteristic.properties.rawValue))),
        remoteID: characteristic.id)
    }
  }

  private func adopt(_ descriptor: RemoteDescriptorInfo, of characteristic: CBCharacteristic) -> CBDescriptor {
    adopt(descriptor.id) {
      CBDescriptor(
        uuid: CBUUID(descriptor.uuid), content: .init(characteristic: characteristic), remoteID: descriptor.id)
    }
  }

  func servicesDiscovered(_ result: Result<[RemoteServiceInfo], SessionError>) {
    guard isConnected else { return }
    let error = result.takeValue { found in
      let visible = found.map { adopt($0) }
      content.withLockedValue { $0.services = joined($0.services, visible) }
    }
    currentDelegate?.peripheral(self, didDiscoverServices: error)
  }

  func includedServicesDiscovered(_ id: RemoteAttributeID, _ result: Result<[RemoteServiceInfo], SessionError>) {
    guard let service: CBService = attribute(id) else { return }
    let error = result.takeValue { found in
      let included = found.map { adopt($0) }
      service.content.withLockedValue { $0.includedServices = joined($0.includedServices, included) }
    }
    currentDelegate?.peripheral(self, didDiscoverIncludedServicesFor: service, error: error)
  }

  func characteristicsDiscovered(_ id: RemoteAttributeID, _ result: Result<[RemoteCharacteristicInfo], SessionError>) {
    guard let service: CBService = attribute(id) else { return }
    let error = result.takeValue { found in
      let characteristics = found.map { adopt($0, in: service) }
      service.content.withLockedValue { $0.characteristics = joined($0.characteristics, characteristics) }
    }
    currentDelegate?.peripheral(self, didDiscoverCharacteristicsFor: service, error: error)
  }

  func descriptorsDiscovered(_ id: RemoteAttributeID, _ result: Result<[RemoteDescriptorInfo], SessionError>) {
    guard let characteristic: CBCharacteristic = attribute(id) else { return }
    let error = result.takeValue { found in
      let descriptors = found.map { adopt($0, of: characteristic) }
      characteristic.content.withLockedValue { $0.descriptors = joined($0.descriptors, descriptors) }
    }
    currentDelegate?.peripheral(self, didDiscoverDescriptorsFor: characteristic, error: error)
  }

  func valueRead(_ id: RemoteAttributeID, _ result: Result<Data, SessionError>) {
    switch attribute(id, as: CBAttribute.self) {
    case let characteristic as CBCharacteristic:
      let error = result.takeValue { characteristic.setValue($0, isOfRead: true) }
      currentDelegate?.peripheral(self, didUpdateValueFor: characteristic, error: error)
    case let descriptor as CBDescriptor:
      let error = result.takeValue { octets in
        let value = CBDescriptor.value(of: octets, for: descriptor.uuid.wire)
        descriptor.content.withLockedValue { $0.value = value }
      }
      currentDelegate?.peripheral(self, didUpdateValueFor: descriptor, error: error)
    default: break
    }
  }

  func valueChanged(_ id: RemoteAttributeID, _ value: Data) {
    guard let characteristic: CBCharacteristic = attribute(id) else { return }
    characteristic.setValue(value, isOfRead: false)
    currentDelegate?.peripheral(self, didUpdateValueFor: characteristic, error: nil)
  }

  /// Reports that the app, in the background, gets fewer values than the peripheral sends.
  func valueLimitReached(_ id: RemoteAttributeID, isExceeded: Bool) {
    guard let characteristic: CBCharacteristic = attribute(id) else { return }
    let code: CBError.Code =
      isExceeded ? .leGattExceededBackgroundNotificationLimit : .leGattNearBackgroundNotificationLimit
    let error = CBError(code, userInfo: [NSLocalizedDescriptionKey: code.text])
    currentDelegate?.peripheral(self, didUpdateValueFor: characteristic, error: error)
  }

  /// Restores the link and the attributes that the app knew.
  func restore(_ peer: RestoredCentral.RestoredPeer, credits: TransmitCredits?) {
    content.withLockedValue { content in
      content.state = peer.maximumWriteLength == nil ? .connecting : .connected
      if let length = peer.maximumWriteLength {
        content.maximumWriteLength = length
        content.writeCredits = credits
      }
    }
    let services = peer.services?.map { restored in
      let service = adopt(restored.service)
      let characteristics = restored.characteristics?.map { restore($0, in: service) }
      service.content.withLockedValue { $0.characteristics = characteristics }
      return service
    }
    content.withLockedValue { $0.services = services }
  }

  private func restore(_ restored: RestoredCentral.Characteristic, in service: CBService) -> CBCharacteristic {
    let characteristic = adopt(restored.characteristic, in: service)
    let descriptors = restored.descriptors?.map { adopt($0, of: characteristic) }
    characteristic.content.withLockedValue { content in
      content.isNotifying = restored.isNotifying
      content.descriptors = descriptors
    }
    return characteristic
  }

  func written(_ id: RemoteAttributeID, _ error: SessionError?) {
    switch attribute(id, as: CBAttribute.self) {
    case let characteristic as CBCharacteristic:
      currentDelegate?.peripheral(self, didWriteValueFor: characteristic, error: error?.appError())
    case let descriptor as CBDescriptor:
      currentDelegate?.peripheral(self, didWriteValueFor: descriptor, error: error?.appError())
    default: break
    }
  }

  func notifyStateChanged(_ id: RemoteAttributeID, _ isNotifying: Bool, _ error: SessionError?) {
    guard let characteristic: CBCharacteristic = attribute(id) else { return }
    characteristic.content.withLockedValue { $0.isNotifying = isNotifying }
    currentDelegate?.peripheral(self, didUpdateNotificationStateFor: characteristic, error: error?.appError())
  }

  /// Removes invalidated services and reports those that the app has discovered. An empty `ids` reports only that the
  /// peripheral has new services.
  func servicesModified(_ ids: [RemoteAttributeID]) {
    guard isConnected else { return }
    let invalid: [CBService] = ids.compactMap { attribute($0) }
    guard !invalid.isEmpty || ids.isEmpty else { return }
    let forgotten = Set(invalid.flatMap(\.ownAttributes))
    let identities = Set(invalid.map { ObjectIdentifier($0) })
    let (services, attributes) = content.withLockedValue { content in
      let before = (content.services, content.attributes)
      content.services?.removeAll { identities.contains(ObjectIdentifier($0)) }
      content.attributes = content.attributes.filter { !forgotten.contains($0.key) }
      return before
    }
    withExtendedLifetime((services, attributes)) {
      currentDelegate?.peripheral(self, didModifyServices: invalid)
    }
  }
}

extension CBCharacteristic {
  /// Stores a value that the peripheral has sent.
  fileprivate func setValue(_ value: Data, isOfRead: Bool) {
    content.withLockedValue { content in
      content.value = value
      content.isValueOfRead = isOfRead
    }
  }
}

extension CBService {
  /// The identifiers of this service, its characteristics and their descriptors.
  fileprivate var ownAttributes: [RemoteAttributeID] {
    let characteristics = content.withLockedValue { $0.characteristics } ?? []
    let descriptors = characteristics.flatMap { $0.content.withLockedValue { $0.descriptors } ?? [] }
    return ([self] + characteristics + descriptors).compactMap { (attribute: CBAttribute) in attribute.remoteID }
  }
}

/// Returns the known attributes, followed by the new ones.
private func joined<T: CBAttribute>(_ known: [T]?, _ found: [T]) -> [T] {
  let known = known ?? []
  let identities = Set(known.map { ObjectIdentifier($0) })
  return known + found.filter { !identities.contains(ObjectIdentifier($0)) }
}

extension Result where Failure == SessionError {
  /// Passes the value to `use`, or returns the error for apps.
  fileprivate func takeValue(_ use: (Success) -> Void) -> (any Error)? {
    switch self {
    case .success(let value):
      use(value)
      return nil
    case .failure(let error): return error.appError()
    }
  }
}
