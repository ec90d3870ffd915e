// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BluetoothDaemon
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

/// A remote peripheral. The app must retain the object: when the last reference is released, the connection or the
/// connection attempt ends, and the manager's delegate gets another object of the peripheral in `didDisconnect`.
open class CBPeripheral: CBPeer {
  struct Content {
    weak var delegate: (any CBPeripheralDelegate)?
    var name: String?
    var rssi: NSNumber?
    var state = CBPeripheralState.disconnected
    /// False once the daemon has forgotten all its peers.
    var isUsable = true
    /// The value of `maximumWriteLength`. Its 32 bits share 8 octets with the two properties above, which makes the
    /// allocation of the content 16 octets smaller.
    fileprivate var storedWriteLength = Int32(ATT.defaultMTU - 3)
    var maximumWriteLength: Int {
      get { Int(storedWriteLength) }
      set { storedWriteLength = Int32(clamping: newValue) }
    }
    var services: [CBService]?
    /// The attributes discovered on this link.
    var attributes: [RemoteAttributeID: CBAttribute] = [:]
    var writeCredits: TransmitCredits?
    /// The properties of the link; see `CBPeripheral+Link.swift`. They have an object of their own, because most
    /// peripherals that a scan has found have no link.
    var link: LinkInfo? {
      get { linkBox?.info }
      set { linkBox = newValue.map { LinkBox($0) } }
    }
    fileprivate var linkBox: LinkBox?
    var linkObserver: (@Sendable (LinkEvent) -> Void)?
  }

  fileprivate final class LinkBox: Sendable {
    let info: LinkInfo

    init(_ info: LinkInfo) { self.info = info }
  }

  let handle: PeerHandle
  let core: CentralManagerCore
  let content: NIOLockedValueBox<Content>

  init(_ info: PeerInfo, core: CentralManagerCore) {
    handle = info.handle
    self.core = core
    content = NIOLockedValueBox(Content(name: info.name))
    super.init(identifier: core.identifier(of: info.identifier))
    core.adapter?.directory.hold(handle)
  }

  /// Creates the object that represents a peripheral after the last reference to `former` has been released.
  private init(after former: CBPeripheral) {
    handle = former.handle
    core = former.core
    content = NIOLockedValueBox(Content(name: former.content.withLockedValue { $0.name }))
    super.init(identifier: former.storedIdentifier)
    core.adapter?.directory.hold(handle)
  }

  deinit {
    let state = linkState
    if state == .connecting || state == .connected {
      Log.warning(
        "Cancelling connection for unused peripheral \(self). Did you forget to keep a reference to it?")
    }
    core.released(
      handle, identity: ObjectIdentifier(self), in: state,
      successor: state == .disconnected ? nil : CBPeripheral(after: self))
    core.adapter?.directory.release(handle)
  }

  /// The delegate of the peripheral's events; held weakly.
  open var delegate: (any CBPeripheralDelegate)? {
    get { content.withLockedValue { $0.delegate } }
    set { content.withLockedValue { $0.delegate = newValue } }
  }

  /// The value of the peripheral's Device Name characteristic; the advertised name until that value is known.
  open var name: String? { content.withLockedValue { $0.name } }

  /// The last result of `readRSSI`.
  @available(*, deprecated, message: "use peripheral(_:didReadRSSI:error:)")
  open var rssi: NSNumber? { content.withLockedValue { $0.rssi } }

  /// The state of this app's connection to the peripheral.
  open var state: CBPeripheralState { linkState }

  /// The services discovered on this link; nil before the first discovery and after the link has ended. While the
  /// system re-establishes a link automatically, and on the new link, they are those of the link before.
  open var services: [CBService]? { content.withLockedValue { $0.services } }

  /// True if a write without response is guaranteed to be sent. `peripheralIsReady(toSendWriteWithoutResponse:)` is
  /// called when the value becomes true again.
  open var canSendWriteWithoutResponse: Bool {
    let credits = content.withLockedValue { $0.state == .connected ? $0.writeCredits : nil }
    return credits?.isAvailable ?? false
  }

  /// True if the user lets the peripheral get the notifications of this device, by the Apple Notification Center
  /// Service. False without a bond.
  open var ancsAuthorized: Bool { core.adapter?.directory.bond(with: handle)?.getsNotifications ?? false }

  /// Reads the signal strength of the link. `peripheral(_:didReadRSSI:error:)` reports it.
  open func readRSSI() {
    guard accepts() else { return }
    core.send(.readRSSI(handle))
  }

  /// Discovers services with these UUIDs; nil or an empty array means all. They are added to `services`.
  open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
    guard accepts() else { return }
    core.send(.discoverServices(handle, serviceUUIDs?.map(\.wire)))
  }

  /// Discovers services that `service` includes, with these UUIDs; nil or an empty array means all.
  open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
    guard accepts() else { return }
    guard let id = id(of: service) else {
      return refuse { $0.peripheral(self, didDiscoverIncludedServicesFor: service, error: $1) }
    }
    core.send(.discoverIncludedServices(handle, id, includedServiceUUIDs?.map(\.wire)))
  }

  /// Discovers characteristics of `service` with these UUIDs; nil or an empty array means all.
  open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
    guard accepts() else { return }
    guard let id = id(of: service) else {
      return refuse { $0.peripheral(self, didDiscoverCharacteristicsFor: service, error: $1) }
    }
    core.send(.discoverCharacteristics(handle, id, characteristicUUIDs?.map(\.wire)))
  }

  /// Reads the characteristic's complete value. `peripheral(_:didUpdateValueFor:error:)` reports it.
  open func readValue(for characteristic: CBCharacteristic) {
    guard accepts() else { return }
    guard let id = id(of: characteristic) else {
      return refuse { $0.peripheral(self, didUpdateValueFor: characteristic, error: $1) }
    }
    core.send(.read(handle, id))
  }

  /// Returns the maximum length of a written value in octets. With response, it is 512. Without response, it is
  /// ATT_MTU − 3, for signed values too; ATT_MTU grows soon after connecting.
  @discardableResult
  open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
    switch type {
    case .withResponse: return ATT.maximumValueLength
    case .withoutResponse: return content.withLockedValue { $0.maximumWriteLength }
    }
  }

  /// Writes the characteristic's value.
  ///
  /// A write with response ends with `peripheral(_:didWriteValueFor:error:)`. A write without response is guaranteed
  /// to be sent while `canSendWriteWithoutResponse` is true; otherwise it may be dropped.
  ///
  /// If signed writes are the only writes without response that the characteristic accepts, the value is signed, unless
  /// the link is encrypted, as links to bonded devices are. Without a bond, this device pairs first. A signature takes
  /// 12 octets: for a value longer than `maximumWriteValueLength` − 12, the link is encrypted and the value is sent
  /// unsigned.
  open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {
    guard accepts() else { return }
    switch type {
    case .withResponse: writeWithResponse(data, for: characteristic)
    case .withoutResponse: writeWithoutResponse(data, for: characteristic)
    }
  }

  /// Enables or disables notifications, or indications if the characteristic has no notifications.
  /// `peripheral(_:didUpdateNotificationStateFor:error:)` reports the result.
  open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
    guard accepts() else { return }
    guard let id = id(of: characteristic) else {
      return refuse { $0.peripheral(self, didUpdateNotificationStateFor: characteristic, error: $1) }
    }
    core.send(.setNotify(handle, id, enabled))
  }

  /// Discovers all descriptors of `characteristic`.
  open func discoverDescriptors(for characteristic: CBCharacteristic) {
    guard accepts() else { return }
    guard let id = id(of: characteristic) else {
      return refuse { $0.peripheral(self, didDiscoverDescriptorsFor: characteristic, error: $1) }
    }
    core.send(.discoverDescriptors(handle, id))
  }

  /// Reads the descriptor's value. `peripheral(_:didUpdateValueFor:error:)` reports it.
  open func readValue(for descriptor: CBDescriptor) {
    guard accepts() else { return }
    guard let id = id(of: descriptor) else {
      return refuse { $0.peripheral(self, didUpdateValueFor: descriptor, error: $1) }
    }
    core.send(.read(handle, id))
  }

  /// Writes the descriptor's value. `peripheral(_:didWriteValueFor:error:)` reports the result. Writing the Client
  /// Characteristic Configuration stops the program; use `setNotifyValue(_:for:)` instead.
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

  /// Opens an L2CAP channel to this PSM of the peripheral. `peripheral(_:didOpen:error:)` reports the result. If the
  /// peripheral requires an encrypted link, this device encrypts the link, and pairs first if necessary.
  open func openL2CAPChannel(_ PSM: CBL2CAPPSM) {
    guard accepts() else { return }
    core.send(.openChannel(handle, psm: PSM))
  }

  /// Ends at once with `CBError.operationNotSupported` in `peripheral(_:didCompleteChannelSoundingSession:)`, after the
  /// answers to all earlier calls: this package has no channel sounding. The log has one line for each manager.
  open func startChannelSoundingSession(_ configuration: CBChannelSoundingSessionConfiguration) {
    guard accepts() else { return }
    if core.isFirstNote(about: "channel sounding") {
      Log.warning("\(self): no channel sounding session was started, because this package has no channel sounding")
    }
    answer(with: SessionError.notSupported.appError()) { $0.peripheral(self, didCompleteChannelSoundingSession: $1) }
  }

  /// Has no effect, because no channel sounding session exists. The answer to an earlier start still comes.
  open func cancelChannelSoundingSession() { _ = accepts() }

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

// Helpers of the commands.
extension CBPeripheral {
  /// Returns true if commands are accepted now. Otherwise the command is logged and dropped.
  private func accepts() -> Bool {
    core.callbacks.noteCaller(of: self)
    if linkState == .connected { return true }
    core.reportLateCommand("\(self) can only accept commands while in the connected state")
    return false
  }

  /// Returns the daemon's identifier of `attribute`; nil if the attribute does not belong to this link or has become
  /// invalid.
  private func id(of attribute: CBAttribute) -> RemoteAttributeID? {
    if let id = attribute.remoteID, content.withLockedValue({ $0.attributes[id] }) === attribute { return id }
    // An attribute can become invalid through no fault of the app, but it never changes its peripheral.
    let owner = attribute.owner
    if attribute.remoteID == nil || (owner != nil && owner !== self) {
      Log.misuse("\(attribute) is not an attribute of \(self)")
    }
    return nil
  }

  /// Reports `uuidNotAllowed` to the delegate, after the answers to all earlier calls.
  private func refuse(_ call: @escaping (any CBPeripheralDelegate, any Error) -> Void) {
    let code = CBError.Code.uuidNotAllowed
    answer(with: CBError(code, userInfo: [NSLocalizedDescriptionKey: code.text]), call)
  }

  private func answer(with error: any Error, _ call: @escaping (any CBPeripheralDelegate, any Error) -> Void) {
    core.answerInTurn { [self] in
      // Drop the answer if the link has ended meanwhile.
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
      return Log.warning("\(characteristic) is not a valid characteristic of \(self): not written")
    }
    let isSigned = !characteristic.properties.contains(.writeWithoutResponse)
    guard !isSigned || characteristic.properties.contains(.authenticatedSignedWrites) else {
      return Log.warning(
        "\(characteristic) of \(identifier) does not have the property writeWithoutResponse: not written")
    }
    let (maximum, credits) = content.withLockedValue { ($0.maximumWriteLength, $0.writeCredits) }
    guard data.count <= maximum else {
      return Log.warning(
        "\(data.count) octets exceed maximumWriteValueLength, \(maximum), of \(identifier): not written")
    }
    // Without a credit, the value is dropped; readiness is reported when a credit is available.
    guard credits?.take() == true else { return }
    let value = ByteSlice(data)
    core.send(
      isSigned ? .signedWriteWithoutResponse(handle, id, value) : .writeWithoutResponse(handle, id, value))
  }
}
