import ArgumentParser
import BluetoothDissection
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// The verb that reads values.
struct Read: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Reads characteristics or descriptors of a device.",
    discussion: """
      Prints the octets, the text if they are readable, and the decoded value with its units. Several values are read on \
      one link, and each line begins with the name of its characteristic.
      """
  )
  .examples("ble read strap \"battery level\"", "ble read strap 180A/2A29 2A19 --json")

  @OptionGroup var device: DeviceChoice
  @Argument(help: ArgumentHelp(AttributePath.help + " Several: all on one link.", valueName: "characteristic"))
  var characteristics: [String]
  @Flag(help: "Prints the octets as they are.")
  var raw = false
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if raw, output.json { throw ValidationError("expected either --raw or --json") }
    if raw, characteristics.count > 1 {
      throw ValidationError("--raw prints one value; name one characteristic, not \(characteristics.count)")
    }
  }

  func run() throws {
    let paths = try characteristics.map { try AttributePath($0) }
    try Stage(adapter).run { stage in
      let readings = try await stage.withDevice(device) { peripheral in
        var readings: [AttributeReading] = []
        for path in paths { readings.append(try await path.read(on: peripheral, stage)) }
        return readings
      }
      // Printed after the link has ended, so that a slow reader does not hold it.
      if raw { return try put(octets: readings[0].text.octets) }
      try put(readings.map { $0.output(output, isOneOf: readings.count) + "\n" }.joined())
    }
  }
}

/// A value that was read.
struct AttributeReading: Sendable {
  let uuid: CBUUID
  let text: ValueText
  fileprivate let record: JSONRecord

  /// Returns the record, or the line, which names the attribute if it is one of several.
  func output(_ output: OutputOptions, isOneOf count: Int) -> String {
    if output.json { return record.line }
    return count > 1 ? "\(KnownNames.title(of: uuid))  \(text.line)" : text.line
  }
}

extension AttributePath {
  /// Finds the attribute on a connected device, and reads it.
  func read(on peripheral: Peripheral, _ stage: Stage) async throws -> AttributeReading {
    var record = JSONRecord("value")
    let attribute = try await find(on: peripheral, stage)
    let text: ValueText
    switch attribute {
    case .characteristic(let characteristic):
      let value = try await characteristic.read(within: stage.stepLimit)
      text = ValueText(value, of: characteristic.uuid, format: try await characteristic.presentationFormat(stage))
    case .descriptor(let descriptor):
      text = ValueText(try await descriptor.read(within: stage.stepLimit), of: descriptor.uuid)
    }
    record.add("date", stage.date)
    record.add("device", peripheral.id.uuidString)
    record.add(attribute)
    text.add(to: &record)
    return AttributeReading(uuid: attribute.uuid, text: text, record: record)
  }
}

extension JSONRecord {
  /// Adds the UUIDs and the name of an attribute.
  mutating func add(_ attribute: AttributePath.Attribute) {
    switch attribute {
    case .characteristic(let characteristic): add(characteristic)
    case .descriptor(let descriptor):
      add(descriptor.characteristic)
      add("descriptor", descriptor.uuid.uuidString)
    }
  }

  /// Adds the UUIDs and the name of a characteristic.
  mutating func add(_ characteristic: RemoteCharacteristic) {
    add("service", characteristic.service.uuid.uuidString)
    add("characteristic", characteristic.uuid.uuidString)
    add("name", KnownNames.uuid(characteristic.uuid.uuidString).flatMap { KnownNames.name(of: $0) })
  }
}

extension RemoteCharacteristic {
  /// Returns the presentation format that a descriptor gives; nil: there is none, or the type of the value is known.
  func presentationFormat(_ stage: Stage) async throws -> PresentationFormat? {
    if let short = KnownNames.uuid(uuid.uuidString)?.shortValue, CharacteristicValues.type(of: short) != nil {
      return nil
    }
    let descriptors = try await discoverDescriptors(within: stage.stepLimit)
    let type = CBUUID(string: CBUUIDCharacteristicFormatString)
    guard let descriptor = descriptors.first(where: { $0.uuid == type }),
      case .data(let octets) = try await descriptor.read(within: stage.stepLimit)
    else { return nil }
    return try? PresentationFormat(octets)
  }
}
