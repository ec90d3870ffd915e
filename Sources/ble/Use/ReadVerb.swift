import ArgumentParser
import BluetoothDissection
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// The verb that reads a value.
struct Read: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Reads a characteristic or a descriptor of a device.",
    discussion: "Prints the octets, the text if they are readable, and the decoded value with its units."
  )
  .examples("ble read strap \"battery level\"", "ble read strap 180A/2A29 --json")

  @OptionGroup var device: DeviceChoice
  @Argument(help: ArgumentHelp(AttributePath.help))
  var characteristic: String
  @Flag(help: "Prints the octets as they are.")
  var raw = false
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if raw, output.json { throw ValidationError("expected either --raw or --json") }
  }

  func run() throws {
    let path = try AttributePath(characteristic)
    try Stage(adapter).run { stage in
      let (octets, record, line) = try await stage.withDevice(device) { try await read(path, on: $0, stage) }
      // Printed after the link has ended, so that a slow reader does not hold it.
      if raw { return try put(octets: octets) }
      try put((output.json ? record : line) + "\n")
    }
  }

  private func read(
    _ path: AttributePath, on peripheral: Peripheral, _ stage: Stage
  ) async throws -> (octets: [UInt8], record: String, line: String) {
    var record = JSONRecord("value")
    record.add("device", peripheral.id.uuidString)
    let text: ValueText
    switch try await path.find(on: peripheral, stage) {
    case .characteristic(let characteristic):
      let value = try await characteristic.read(within: stage.stepLimit)
      text = ValueText(value, of: characteristic.uuid, format: try await characteristic.presentationFormat(stage))
      record.add(characteristic)
    case .descriptor(let descriptor):
      text = ValueText(try await descriptor.read(within: stage.stepLimit), of: descriptor.uuid)
      record.add(descriptor.characteristic)
      record.add("descriptor", descriptor.uuid.uuidString)
    }
    text.add(to: &record)
    return (text.octets, record.line, text.line)
  }
}

extension JSONRecord {
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
