import AccessoryPlayer
import BluetoothAir
import BluetoothDissection
import BluetoothLab
import BluetoothProfiles
import BluetoothTypes
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers

/// The lines that tell what centrals do with an accessory.
final class ServedAccessoryLog<A: Accessory>: Sendable {
  private let name: String
  private let advertising: Advertising
  private let services: [BluetoothUUID]
  /// The presentation formats of the characteristics that have one.
  private let formats: [CharacteristicPath: PresentationFormat]
  private let stage: Stage
  private let isJSON: Bool
  private let start: Duration
  /// True once the start of advertising has been reported.
  private let hasStarted = NIOLockedValueBox(false)

  init(_ accessory: A, named name: String, _ stage: Stage, isJSON: Bool) {
    (self.name, self.stage, self.isJSON, start) = (name, stage, isJSON, stage.now)
    advertising = accessory.advertising
    let services = accessory.services
    self.services = services.map(\.uuid)
    var formats: [CharacteristicPath: PresentationFormat] = [:]
    for characteristic in services.flatMap(\.characteristics) {
      for case .presentationFormat(let format) in characteristic.descriptors { formats[characteristic.path] = format }
    }
    self.formats = formats
  }

  /// Prints a line about an event.
  func report(_ event: PlayedEvent) throws {
    switch event.kind {
    case .advertising:
      let isFirst = hasStarted.withLockedValue { hasStarted in
        defer { hasStarted = true }
        return !hasStarted
      }
      if isFirst { try put(startLine) }
    case .read(let value): try put(line("read", event, value, nil))
    case .written(let value, let error): try put(line("write", event, value, error))
    case .subscribed: try put(line("subscribe", event, nil, nil))
    case .unsubscribed: try put(line("unsubscribe", event, nil, nil))
    }
  }

  private func put(_ line: String) throws { try ble.put(line + "\n") }

  private var time: Double { (stage.now - start).seconds }

  private var startLine: String {
    guard isJSON else { return "\(time.fixed(3))  serving  \(name.debugDescription)" }
    var record = JSONRecord("serving")
    record.add(time: .seconds(time), on: stage)
    record.add("name", name)
    record.add("services", .list(services.map { .text("\($0)") }))
    record.add("data", "0x" + advertising.payload.octets.digits)
    record.add("scanResponse", "0x" + advertising.scanResponse.octets.digits)
    return record.line
  }

  private func line(_ name: String, _ event: PlayedEvent, _ value: [UInt8]?, _ error: ATTErrorCode?) -> String {
    guard let path = event.path, let central = event.central else { return "" }
    let uuid = PublishedForm.uuid(path.characteristic)
    let text = value.map { ValueText($0, of: uuid, format: formats[path]) }
    let rejection = error.map { SpecificationNames.title(of: $0, in: path.service) }
    guard isJSON else {
      let parts = [
        time.fixed(3), name, KnownNames.title(of: uuid), text?.line, rejection.map { "rejected: \($0)" },
      ].compactMap { $0 }
      return parts.joined(separator: "  ").printable
    }
    var record = JSONRecord("request")
    record.add(time: .seconds(time), on: stage)
    record.add("event", name)
    record.add("central", central.id.uuidString)
    record.add("service", "\(path.service)")
    record.add("characteristic", "\(path.characteristic)")
    record.add("name", KnownNames.name(of: path.characteristic))
    text?.add(to: &record)
    record.add("error", rejection)
    return record.line
  }
}
