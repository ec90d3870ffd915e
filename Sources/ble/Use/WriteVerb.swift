import ArgumentParser
import BluetoothAir
import BluetoothDissection
import CoreBluetooth
import CoreBluetoothExtras

/// The verb that writes a value.
struct Write: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Writes a characteristic or a descriptor of a device.",
    discussion: "Writes with response if the characteristic has it, so that the exit status 0 means: accepted.")

  @OptionGroup var device: DeviceChoice
  @Argument(help: ArgumentHelp(AttributePath.help))
  var characteristic: String
  @Argument(help: ArgumentHelp("The value: \(WrittenValue.forms)."))
  var value: String
  @Flag(help: "Writes without response: no answer tells if the value has arrived.")
  var withoutResponse = false
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let path = try AttributePath(characteristic)
    let octets = try WrittenValue(value).octets
    try Stage(adapter).run { stage in
      let record = try await stage.withDevice(device) { peripheral in
        var record = JSONRecord("written")
        record.add("device", peripheral.id.uuidString)
        let hasResponse: Bool
        switch try await path.find(on: peripheral, stage) {
        case .characteristic(let characteristic):
          hasResponse = !withoutResponse && !characteristic.properties.isOnlyWithoutResponse
          if hasResponse {
            try await characteristic.write(octets, within: stage.stepLimit)
          } else {
            try await characteristic.writeWithoutResponse(octets, within: stage.stepLimit)
            // The link ends with the verb. The response to a later request shows that the value has been sent.
            _ = try await characteristic.service.discoverIncludedServices(within: stage.stepLimit)
          }
          record.add(characteristic)
        case .descriptor(let descriptor):
          try await descriptor.write(octets, within: stage.stepLimit)
          hasResponse = true
          record.add(descriptor.characteristic)
          record.add("descriptor", descriptor.uuid.uuidString)
        }
        record.add("value", "0x" + octets.digits)
        record.add("acknowledged", .flag(hasResponse))
        return record.line
      }
      if output.json { try put(record + "\n") }
    }
  }
}

extension CBCharacteristicProperties {
  /// True if the characteristic has writes without response, and no others.
  var isOnlyWithoutResponse: Bool { contains(.writeWithoutResponse) && !contains(.write) }
}
