import CoreBluetooth
import NIOConcurrencyHelpers

/// A delegate of a central manager and of its peripherals that records all callbacks with their times.
///
/// It makes no calls: set it as the delegate of a manager, and of the peripherals whose callbacks the test needs.
/// Peripherals appear by their names, or by their identifiers if they have no names.
///
/// ```swift
/// #expect(recorder.events.contains(.connected("Heart Rate")))
/// ```
public final class RecordingCentralDelegate: NSObject {
  /// A callback with the arguments that tests compare. The first argument is the name of the peripheral.
  public enum Event: Hashable, Sendable {
    /// `centralManagerDidUpdateState(_:)`
    case stateChanged(CBManagerState)
    /// `centralManager(_:didDiscover:advertisementData:rssi:)`; `rssi` in dBm.
    case discovered(String, rssi: Int)
    /// `centralManager(_:didConnect:)`
    case connected(String)
    /// `centralManager(_:didFailToConnect:error:)`
    case failedToConnect(String, RecordedError?)
    /// `centralManager(_:didDisconnectPeripheral:timestamp:isReconnecting:error:)`
    case disconnected(String, RecordedError?, isReconnecting: Bool = false)
    /// `centralManager(_:connectionEventDidOccur:for:)`
    case connectionEvent(String, CBConnectionEvent)
    /// `centralManager(_:didUpdateANCSAuthorizationFor:)`
    case ancsAuthorizationUpdated(String)
    /// `peripheralDidUpdateName(_:)`
    case nameUpdated(String)
    /// `peripheral(_:didModifyServices:)`
    case servicesModified(String, [CBUUID])
    /// `peripheral(_:didReadRSSI:error:)`; in dBm.
    case rssiRead(String, Int, RecordedError? = nil)
    /// `peripheral(_:didDiscoverServices:)`, with all services that are then known.
    case servicesDiscovered(String, [CBUUID], RecordedError? = nil)
    /// `peripheral(_:didDiscoverIncludedServicesFor:error:)`, with the services that `of` includes.
    case includedServicesDiscovered(String, [CBUUID], of: CBUUID, RecordedError? = nil)
    /// `peripheral(_:didDiscoverCharacteristicsFor:error:)`, with all characteristics that are then known.
    case characteristicsDiscovered(String, [CBUUID], of: CBUUID, RecordedError? = nil)
    /// `peripheral(_:didDiscoverDescriptorsFor:error:)`, with all descriptors of the characteristic.
    case descriptorsDiscovered(String, [CBUUID], of: CBUUID, RecordedError? = nil)
    /// `peripheral(_:didUpdateValueFor:error:)` of a characteristic, after a read or with a notification.
    case valueUpdated(String, CBUUID, [UInt8], RecordedError? = nil)
    /// `peripheral(_:didWriteValueFor:error:)` of a characteristic.
    case valueWritten(String, CBUUID, RecordedError? = nil)
    /// `peripheral(_:didUpdateNotificationStateFor:error:)`
    case notificationStateUpdated(String, CBUUID, isNotifying: Bool, RecordedError? = nil)
    /// `peripheral(_:didUpdateValueFor:error:)` of a descriptor.
    case descriptorValueUpdated(String, CBUUID, RecordedError? = nil)
    /// `peripheral(_:didWriteValueFor:error:)` of a descriptor.
    case descriptorValueWritten(String, CBUUID, RecordedError? = nil)
    /// `peripheralIsReady(toSendWriteWithoutResponse:)`
    case readyToSendWriteWithoutResponse(String)
    /// `peripheral(_:didOpen:error:)`; no PSM if the channel was not opened.
    case channelOpened(String, psm: CBL2CAPPSM?, RecordedError? = nil)
    /// `peripheral(_:didCompleteChannelSoundingSession:)`
    case channelSoundingSessionCompleted(String, RecordedError? = nil)
  }

  /// A discovered peripheral with its advertisement.
  public struct Discovery {
    /// The peripheral.
    public let peripheral: CBPeripheral
    /// The advertisement data of the callback.
    public let advertisementData: [String: Any]
    /// The level in dBm.
    public let rssi: Int
  }

  let recording: Recording<Event>
  private let lock = NIOLock()
  private var allDiscoveries: [Discovery] = []
  private var openChannels: [CBL2CAPChannel] = []

  /// Creates a delegate that records times of `world`.
  public init(in world: World) { recording = Recording(in: world) }

  /// All callbacks in their order, with their times.
  public var records: [Recorded<Event>] { recording.all }

  /// All callbacks in their order.
  public var events: [Event] { recording.all.map(\.event) }

  /// All discoveries in their order.
  public var discoveries: [Discovery] { lock.withLock { allDiscoveries } }

  /// The channels that the app opened, in their order.
  public var channels: [CBL2CAPChannel] { lock.withLock { openChannels } }
}

extension RecordingCentralDelegate {
  private func note(_ peripheral: CBPeripheral, _ event: Event) {
    recording.append(event, peer: peripheral.identifier)
  }
}

extension RecordingCentralDelegate: CBCentralManagerDelegate {
  public func centralManagerDidUpdateState(_ central: CBCentralManager) {
    recording.append(.stateChanged(central.state))
  }

  public func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    let discovery = Discovery(peripheral: peripheral, advertisementData: advertisementData, rssi: rssi.intValue)
    lock.withLock { allDiscoveries.append(discovery) }
    note(peripheral, .discovered(peripheral.label, rssi: rssi.intValue))
  }

  public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    note(peripheral, .connected(peripheral.label))
  }

  public func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) {
    note(peripheral, .failedToConnect(peripheral.label, error.map(RecordedError.init)))
  }

  public func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
    isReconnecting: Bool, error: (any Error)?
  ) {
    note(
      peripheral, .disconnected(peripheral.label, error.map(RecordedError.init), isReconnecting: isReconnecting))
  }

  public func centralManager(
    _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
  ) {
    note(peripheral, .connectionEvent(peripheral.label, event))
  }

  public func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {
    note(peripheral, .ancsAuthorizationUpdated(peripheral.label))
  }
}

extension RecordingCentralDelegate: CBPeripheralDelegate {
  public func peripheralDidUpdateName(_ peripheral: CBPeripheral) { note(peripheral, .nameUpdated(peripheral.label)) }

  public func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
    note(peripheral, .servicesModified(peripheral.label, invalidatedServices.map(\.uuid)))
  }

  public func peripheral(_ peripheral: CBPeripheral, didReadRSSI rssi: NSNumber, error: (any Error)?) {
    note(peripheral, .rssiRead(peripheral.label, rssi.intValue, error.map(RecordedError.init)))
  }

  public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    note(
      peripheral,
      .servicesDiscovered(
        peripheral.label, (peripheral.services ?? []).map(\.uuid), error.map(RecordedError.init)))
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
  ) {
    note(
      peripheral,
      .includedServicesDiscovered(
        peripheral.label, (service.includedServices ?? []).map(\.uuid), of: service.uuid,
        error.map(RecordedError.init)))
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    note(
      peripheral,
      .characteristicsDiscovered(
        peripheral.label, (service.characteristics ?? []).map(\.uuid), of: service.uuid,
        error.map(RecordedError.init)))
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    note(
      peripheral,
      .descriptorsDiscovered(
        peripheral.label, (characteristic.descriptors ?? []).map(\.uuid), of: characteristic.uuid,
        error.map(RecordedError.init)))
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    note(
      peripheral,
      .valueUpdated(
        peripheral.label, characteristic.uuid, Array(characteristic.value ?? Data()), error.map(RecordedError.init)))
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    note(peripheral, .valueWritten(peripheral.label, characteristic.uuid, error.map(RecordedError.init)))
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    note(
      peripheral,
      .notificationStateUpdated(
        peripheral.label, characteristic.uuid, isNotifying: characteristic.isNotifying,
        error.map(RecordedError.init)))
  }

  public func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
    note(peripheral, .descriptorValueUpdated(peripheral.label, descriptor.uuid, error.map(RecordedError.init)))
  }

  public func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
    note(peripheral, .descriptorValueWritten(peripheral.label, descriptor.uuid, error.map(RecordedError.init)))
  }

  public func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
    note(peripheral, .readyToSendWriteWithoutResponse(peripheral.label))
  }

  public func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
    if let channel { lock.withLock { openChannels.append(channel) } }
    note(peripheral, .channelOpened(peripheral.label, psm: channel?.psm, error.map(RecordedError.init)))
  }

  public func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?) {
    note(peripheral, .channelSoundingSessionCompleted(peripheral.label, error.map(RecordedError.init)))
  }
}

extension CBPeripheral {
  /// The name, or the identifier of a peripheral without a name.
  var label: String { name ?? identifier.uuidString }
}
