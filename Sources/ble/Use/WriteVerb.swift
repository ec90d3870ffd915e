import ArgumentParser
import BluetoothAir
import BluetoothDissection
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

/// The verb that writes values.
struct Write: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Writes characteristics or descriptors of a device.",
    discussion: """
      Writes with response if the characteristic has it, so that the exit status 0 means: accepted. Several values are \
      written on one link, each after the one before was accepted.
      """
  )
  .examples("ble write strap \"heart rate control point\" 0x01", "ble write lamp 1802/2A06 u8:2 --without-response")

  @OptionGroup var device: DeviceChoice
  @Argument(help: ArgumentHelp(AttributePath.help))
  var characteristic: String
  @Argument(help: ArgumentHelp("The value: \(WrittenValue.forms)."))
  var value: String
  @Argument(
    help: ArgumentHelp("Further characteristics, each with its value.", valueName: "characteristic value"))
  var further: [String] = []
  @Flag(help: "Writes without response: no answer tells if the value has arrived.")
  var withoutResponse = false
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard further.count.isMultiple(of: 2) else {
      throw ValidationError("the characteristic \"\(further.last ?? "")\" has no value")
    }
  }

  func run() throws {
    let words = [characteristic, value] + further
    let writes = try stride(from: 0, to: words.count, by: 2).map { index in
      (path: try AttributePath(words[index]), octets: try WrittenValue(words[index + 1]).octets)
    }
    try Stage(adapter).run { stage in
      let records = try await stage.withDevice(device) { peripheral in
        // A characteristic that is missing is found before the first value is written.
        var targets: [(attribute: AttributePath.Attribute, octets: Data)] = []
        for (path, octets) in writes { targets.append((try await path.find(on: peripheral, stage), octets)) }
        var records: [JSONRecord] = []
        for (attribute, octets) in targets {
          do {
            records.append(try await attribute.write(octets, isWithoutResponse: withoutResponse, stage))
          } catch let error as CBATTError where targets.count > 1 {
            throw Failure.of(error, "writing \(KnownNames.title(of: attribute.uuid))")
          }
        }
        return records
      }
      for record in records { try output.emit(record) }
    }
  }
}

extension AttributePath.Attribute {
  /// Writes a value, and waits until it has been sent.
  ///
  /// - Parameter isWithoutResponse: true if a characteristic is written without response although it has writes with
  ///   response.
  /// - Returns: the record of the write.
  func write(_ octets: Data, isWithoutResponse: Bool = false, _ stage: Stage) async throws -> JSONRecord {
    var record = JSONRecord("written")
    record.add("date", stage.date)
    let hasResponse: Bool
    switch self {
    case .characteristic(let characteristic):
      hasResponse = !isWithoutResponse && !characteristic.properties.isOnlyWithoutResponse
      if hasResponse {
        try await characteristic.write(octets, within: stage.stepLimit)
      } else {
        try await characteristic.writeWithoutResponse(octets, within: stage.stepLimit)
        // The link may end with the verb. The response to a later request shows that the value has been sent.
        _ = try await characteristic.service.discoverIncludedServices(within: stage.stepLimit)
      }
      record.add("device", characteristic.service.peripheral.id.uuidString)
      record.add(characteristic)
    case .descriptor(let descriptor):
      try await descriptor.write(octets, within: stage.stepLimit)
      hasResponse = true
      record.add("device", descriptor.characteristic.service.peripheral.id.uuidString)
      record.add(descriptor.characteristic)
      record.add("descriptor", descriptor.uuid.uuidString)
    }
    record.add("value", "0x" + octets.digits)
    record.add("acknowledged", .flag(hasResponse))
    return record
  }

  /// The UUID of the attribute.
  var uuid: CBUUID {
    switch self {
    case .characteristic(let characteristic): characteristic.uuid
    case .descriptor(let descriptor): descriptor.uuid
    }
  }
}

extension CBCharacteristicProperties {
  /// True if the characteristic has writes without response, and no others.
  var isOnlyWithoutResponse: Bool { contains(.writeWithoutResponse) && !contains(.write) }
}
