// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

@testable import BluetoothDaemon
@testable import BluetoothHost
@testable import BluetoothWire
@testable import CoreBluetooth

/// Records the events of a central manager and its peripherals.
class CentralRecorder: NSObject, CBPeripheralDelegate {
  var events: [String] = []
  var errors: [(any Error)?] = []
  var advertisement: [String: Any] = [:]
  var found: [CBPeripheral] = []
  var invalidated: [CBService] = []
  var channels: [CBL2CAPChannel] = []
  var keepsChannels = true
  /// The object of the last disconnection.
  weak var lastPeripheral: CBPeripheral?
  var onEvent: (String) -> Void = { _ in }

  /// Returns the events since the last call.
  func take() -> [String] {
    defer { events = [] }
    return events
  }

  func note(_ event: String, _ error: (any Error)? = nil) {
    events.append(error == nil ? event : event + " failed")
    errors.append(error)
    onEvent(event)
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) { note("state \(central.state)") }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber
  ) {
    advertisement = advertisementData
    found.append(peripheral)
    note("found \(peripheral.name ?? "nil") \(RSSI)")
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    note("connected \(peripheral.state)")
  }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
    note("not connected", error)
  }

  func centralManager(
    _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
  ) {
    found.append(peripheral)
    note("event \(event)")
  }

  func peripheralDidUpdateName(_ peripheral: CBPeripheral) { note("name \(peripheral.name ?? "nil")") }
  func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
    invalidated = invalidatedServices
    note("modified \(invalidatedServices.map(\.uuid.uuidString))")
  }
  func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: (any Error)?) { note("old RSSI", error) }
  func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
    note("RSSI \(RSSI)", error)
  }
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) { note("services", error) }
  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
  ) { note("included", error) }
  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) { note("characteristics", error) }
  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) { note("value \(characteristic.value.map { Array($0) } ?? [])", error) }
  func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) { note("written", error) }
  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) { note("notifying \(characteristic.isNotifying)", error) }
  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
  ) { note("descriptors", error) }
  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
    note("descriptor value", error)
  }
  func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
    note("descriptor written", error)
  }
  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { note("ready") }
  func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
    if let channel, keepsChannels { channels.append(channel) }
    note("channel \(channel == nil ? "nil" : "open")", error)
  }
  func peripheral(
    _ peripheral: CBPeripheral, didReceive results: CBChannelSoundingProcedureResults?, error: (any Error)?
  ) { note("distance", error) }
  func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?) {
    note("sounding", error)
  }
}

/// An app with the older of the two methods that report a disconnection.
final class CentralApp: CentralRecorder, CBCentralManagerDelegate {
  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    lastPeripheral = peripheral
    note("disconnected \(peripheral.state)", error)
  }
}

/// An app with the newer method.
final class NewCentralApp: CentralRecorder, CBCentralManagerDelegate {
  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
    isReconnecting: Bool, error: (any Error)?
  ) { note("new disconnected \(peripheral.state) at \(timestamp) reconnecting \(isReconnecting)", error) }
}

/// An app with both methods.
final class BothCentralApp: CentralRecorder, CBCentralManagerDelegate {
  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) { note("disconnected \(peripheral.state)", error) }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
    isReconnecting: Bool, error: (any Error)?
  ) { note("new disconnected", error) }
}

/// An app that forwards the older method to another delegate.
final class ForwardingCentralApp: CentralRecorder, CBCentralManagerDelegate {
  let target: any CBCentralManagerDelegate
  init(to target: any CBCentralManagerDelegate) { self.target = target }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    note("forwarded", error)
    target.centralManager(central, didDisconnectPeripheral: peripheral, error: error)
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
    isReconnecting: Bool, error: (any Error)?
  ) { note("new disconnected", error) }
}

extension CentralRecorder {
  /// The error of the latest callback as a `CBError`.
  var lastError: CBError? { errors.last.flatMap { $0 } as? CBError }
  var lastATTError: CBATTError? { errors.last.flatMap { $0 } as? CBATTError }
}
