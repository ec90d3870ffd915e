// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BluetoothDaemon
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

/// A remote peripheral. The app keeps it: with the last reference the connection, or the attempt, ends.
open class CBPeripheral: CBPeer {
  struct Content {
    weak var delegate: (any CBPeripheralDelegate)?
    var name: String?
    var rssi: NSNumber?
    var state = CBPeripheralState.disconnected
    /// The end was asked for and is not here yet.
    var isEnding = false
    /// `connect` came while the link was ending.
    var isWantedAgain = false
    /// False once the service has forgotten all its peers.
    var isUsable = true
    var services: [CBService]?
    /// Everything that was discovered on this link.
    var attributes: [RemoteAttributeID: CBAttribute] = [:]
    var maximumWriteLength = ATT.defaultMTU - 3
    var writeCredits: TransmitCredits?
  }

  let handle: PeerHandle
  let core: CentralManagerCore
  let content: NIOLockedValueBox<Content>

  init(_ info: PeerInfo, core: CentralManagerCore) {
    handle = info.handle
    self.core = core
    content = NIOLockedValueBox(Content(name: info.name))
    super.init(identifier: UUID(high: info.identifier.high, low: info.identifier.low))
  }

  deinit {
    let state = content.withLockedValue { $0.state }
    if state == .connecting || state == .connected {
      Log.warning(
        "Cancelling connection for unused peripheral \(self). Did you forget to keep a reference to it?")
    }
    core.released(handle, identity: ObjectIdentifier(self), wantedLink: state != .disconnected)
  }

  /// Who is told; held weakly.
  open var delegate: (any CBPeripheralDelegate)? {
    get { content.withLockedValue { $0.delegate } }
    set { content.withLockedValue { $0.delegate = newValue } }
  }

  /// The device's own name once it is known, else the advertised one.
  open var name: String? { content.withLockedValue { $0.name } }

  /// What `readRSSI` found last.
  @available(*, deprecated, message: "use peripheral(_:didReadRSSI:error:)")
  open var rssi: NSNumber? { content.withLockedValue { $0.rssi } }

  /// How this app stands to the peripheral.
  open var state: CBPeripheralState { linkState }

  /// The services that were discovered on this link; nil before, and when it has ended.
  open var services: [CBService]? { content.withLockedValue { $0.services } }

  /// Whether a write without response is sure to be sent. When it turns true again, `peripheralIsReady` is called.
  open var canSendWriteWithoutResponse: Bool {
    let credits = content.withLockedValue { $0.state == .connected ? $0.writeCredits : nil }
    return credits?.isAvailable ?? false
  }

  /// Always false: the Apple Notification Center Service is not here.
  open var ancsAuthorized: Bool { false }

  /// Asks for the signal strength of the link: `peripheral(_:didReadRSSI:error:)`.
  open func readRSSI() {
    guard accepts() else { return }
    core.send(.readRSSI(handle))
  }

  /// Looks for services of these types, nil or none: all. Those found join `services`.
  open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
    guard accepts() else { return }
    core.send(.discoverServices(handle, serviceUUIDs?.map(\.wire)))
  }

  /// Looks for services of these types, nil or none: all, that `service` includes.
  open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
    guard accepts() else { return }
    guard let id = id(of: service) else {
      return refuse { $0.peripheral(self, didDiscoverIncludedServicesFor: service, error: $1) }
    }
    core.send(.discoverIncludedServices(handle, id, includedServiceUUIDs?.map(\.wire)))
  }

  /// Looks for characteristics of these types, nil or none: all, of `service`.
  open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
    guard accepts() else { return }
    guard let id = id(of: service) else {
      return refuse { $0.peripheral(self, didDiscoverCharacteristicsFor: service, error: $1) }
    }
    core.send(.discoverCharacteristics(handle, id, characteristicUUIDs?.map(\.wire)))
  }

  /// Reads the value, to its end: `peripheral(_:didUpdateValueFor:error:)`.
  open func readValue(for characteristic: CBCharacteristic) {
    guard accepts() else { return }
    guard let id = id(of: characteristic) else {
      return refuse { $0.peripheral(self, didUpdateValueFor: characteristic, error: $1) }
    }
    core.send(.read(handle, id))
  }

  /// The longest value in octets: without response ATT_MTU − 3, which grows soon after connecting, also where values are
  /// signed; with response 512.
  @discardableResult
  open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
    switch type {
    case .withResponse: return ATT.maximumValueLength
    case .withoutResponse: return content.withLockedValue { $0.maximumWriteLength }
    }
  }

  /// Writes the value. With response: `peripheral(_:didWriteValueFor:error:)`. Without: as long as
  /// `canSendWriteWithoutResponse` it is sent for sure, else it may be dropped. Where the characteristic takes signed writes
  /// only, it is signed, unless the link is encrypted, as links to bonded devices are; with a device without bond this one
  /// pairs for it. A signature takes twelve octets: for a value that is longer than `maximumWriteValueLength` − 12 the link is
  /// encrypted, and the value goes out without one.
  open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {
    guard accepts() else { return }
    switch type {
    case .withResponse: writeWithResponse(data, for: characteristic)
    case .withoutResponse: writeWithoutResponse(data, for: characteristic)
    }
  }

  /// Turns notifications, or where there are none indications, on or off:
  /// `peripheral(_:didUpdateNotificationStateFor:error:)`.
  open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
    guard accepts() else { return }
    guard let id = id(of: characteristic) else {
      return refuse { $0.peripheral(self, didUpdateNotificationStateFor: characteristic, error: $1) }
    }
    core.send(.setNotify(handle, id, enabled))
  }

  /// Looks for all descriptors of `characteristic`.
  open func discoverDescriptors(for characteristic: CBCharacteristic) {
    guard accepts() else { return }
    guard let id = id(of: characteristic) else {
      return refuse { $0.peripheral(self, didDiscoverDescriptorsFor: characteristic, error: $1) }
    }
    core.send(.discoverDescriptors(handle, id))
  }

  /// Reads the descriptor: `peripheral(_:didUpdateValueFor:error:)`.
  open func readValue(for descriptor: CBDescriptor) {
    guard accepts() else { return }
    guard let id = id(of: descriptor) else {
      return refuse { $0.peripheral(self, didUpdateValueFor: descriptor, error: $1) }
    }
    core.send(.read(handle, id))
  }

  /// Writes the descriptor: `peripheral(_:didWriteValueFor:error:)`. The Client Characteristic Configuration stops the
  /// program: it is for `setNotifyValue`.
  open func writeValue(_ data: Data, for descriptor: CBDescriptor) {
    if descriptor.uuid.wire == .clientConfiguration {
      raise(
        "Client Characteristic Configuration descriptors must be configured using setNotifyValue:forCharacteristic:")
    }
    guard accepts() else { return }
    guard let id = id(of: descriptor) else {
      return refuse { $0.peripheral(self, didWriteValueFor: descriptor, error: $1) }
    }
    core.send(.write(handle, id, ByteSlice(data)))
  }

  /// Opens a channel to what the peripheral offers under that number: `peripheral(_:didOpen:error:)`. If it wants an encrypted
  /// link, this device encrypts it, and pairs for it if it has to.
  open func openL2CAPChannel(_ PSM: CBL2CAPPSM) {
    guard accepts() else { return }
    core.send(.openChannel(handle, psm: PSM))
  }

  open override func value(forKey key: String) -> Any? {
    switch key {
    case "name": return name
    case "state": return state.rawValue
    case "services": return services
    case "canSendWriteWithoutResponse": return canSendWriteWithoutResponse
    case "ancsAuthorized": return ancsAuthorized
    default: return super.value(forKey: key)
    }
  }

  open override var description: String {
    let (name, state) = content.withLockedValue { ($0.name, $0.state) }
    return
      "<\(Swift.type(of: self)): \(addressText(of: self)), identifier = \(identifier), name = \(name ?? "(null)"), "
      + "state = \(state)>"
  }
}

// How commands are made.
extension CBPeripheral {
  /// Whether commands are accepted now; if not, the one that asks is logged and dropped.
  private func accepts() -> Bool {
    core.callbacks.noteCaller(of: self)
    if linkState == .connected { return true }
    Log.misuse("\(self) can only accept commands while in the connected state")
    return false
  }

  /// The service's identifier of `attribute`; nil if the attribute does not belong to this link, or has become invalid.
  private func id(of attribute: CBAttribute) -> RemoteAttributeID? {
    if let id = attribute.remoteID, content.withLockedValue({ $0.attributes[id] }) === attribute { return id }
    // An attribute becomes invalid without the app's doing, but it never changes its peripheral.
    let owner = attribute.owner
    if attribute.remoteID == nil || (owner != nil && owner !== self) {
      Log.misuse("\(attribute) is not an attribute of \(self)")
    }
    return nil
  }

  /// Answers with an error, when it is the answer's turn.
  private func refuse(_ call: @escaping (any CBPeripheralDelegate, any Error) -> Void) {
    let code = CBError.Code.uuidNotAllowed
    answer(with: CBError(code, userInfo: [NSLocalizedDescriptionKey: code.text]), call)
  }

  private func answer(with error: any Error, _ call: @escaping (any CBPeripheralDelegate, any Error) -> Void) {
    core.answerInTurn { [self] in
      // After the link's end nothing of it is told.
      guard linkState == .connected, let delegate else { return }
      call(delegate, error)
    }
  }

  private func writeWithResponse(_ data: Data, for characteristic: CBCharacteristic) {
    guard let id = id(of: characteristic) else {
      return refuse { $0.peripheral(self, didWriteValueFor: characteristic, error: $1) }
    }
    guard data.count <= ATT.maximumValueLength else {
      return answer(with: SessionError.att(.invalidAttributeValueLength).appError()) {
        $0.peripheral(self, didWriteValueFor: characteristic, error: $1)
      }
    }
    core.send(.write(handle, id, ByteSlice(data)))
  }

  private func writeWithoutResponse(_ data: Data, for characteristic: CBCharacteristic) {
    guard let id = id(of: characteristic) else {
      return Log.warning("\(characteristic) is no valid characteristic of \(self): not written")
    }
    let isSigned = !characteristic.properties.contains(.writeWithoutResponse)
    guard !isSigned || characteristic.properties.contains(.authenticatedSignedWrites) else {
      return Log.warning(
        "\(characteristic) of \(identifier) does not have the property writeWithoutResponse: not written")
    }
    let (maximum, credits) = content.withLockedValue { ($0.maximumWriteLength, $0.writeCredits) }
    guard data.count <= maximum else {
      return Log.warning(
        "\(data.count) octets are longer than maximumWriteValueLength, \(maximum), of \(identifier): not written")
    }
    // Best effort without a credit: it is dropped, and readiness is announced when there is one.
    guard credits?.take() == true else { return }
    let value = ByteSlice(data)
    core.send(
      isSigned ? .signedWriteWithoutResponse(handle, id, value) : .writeWithoutResponse(handle, id, value))
  }
}
