import ArgumentParser
import BluetoothAir
import BluetoothDissection
import CoreBluetooth
import CoreBluetoothExtras

/// The verb that pairs with a device.
struct Pair: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Pairs with a device, and keeps the bond.",
    discussion: """
      As in Apple's API, devices pair when a value requires it: the verb reads the values of the device until one does. \
      Questions, such as for a passkey, are asked at the terminal; COREBLUETOOTH_PROMPTS=accept accepts a pairing \
      without digits. ble bonds lists the bonds; beside BlueZ, bluetoothctl does.
      """
  )
  .examples("ble pair keyboard", "ble pair keyboard --reading \"report map\"")

  @OptionGroup var device: DeviceChoice
  @Option(
    help: ArgumentHelp(
      "The characteristic to read, which requires pairing (default: all in turn).", valueName: "characteristic"))
  var reading: String?
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let path = try reading.map { try AttributePath($0) }
    try Stage(adapter).run { stage in
      let (record, line) = try await stage.withDevice(device) { peripheral in
        try await pair(with: peripheral, path, stage)
        if stage.isOfBlueZ, try await isBonded(peripheral, stage) {
          var record = JSONRecord("pairing")
          record.add("device", peripheral.id.uuidString)
          record.add("name", peripheral.name)
          record.add("address", peripheral.address?.digits)
          record.add("bonded", .flag(true))
          return (record.line, "paired with \(title(peripheral)): bonded; BlueZ does not tell how")
        }
        guard let security = peripheral.link?.security, security.isEncrypted else {
          let name = title(peripheral)
          throw Failure(
            reading.map { "\"\($0)\" of \(name) requires no pairing; without --reading, ble pair tries all values" }
              ?? "no value of \(name) requires pairing", status: ExitStatus.notFound)
        }
        let bond = peripheral.bond
        var record = JSONRecord("pairing")
        record.add("device", peripheral.id.uuidString)
        record.add("name", peripheral.name)
        record.add("address", peripheral.address?.digits)
        record.add("bonded", .flag(bond != nil))
        record.add("secureConnections", bond.map { .flag($0.isSecureConnections) })
        record.add("authenticated", .flag(security.isAuthenticated))
        record.add("keySize", security.keySize)
        let parts = [
          bond.map { $0.isSecureConnections ? "LE Secure Connections" : "LE legacy pairing" },
          security.isAuthenticated ? "authenticated" : "not authenticated", "key of \(security.keySize) octets",
          bond == nil ? "no bond" : "bonded",
        ]
        return (
          record.line, "paired with \(title(peripheral)): " + parts.compactMap { $0 }.joined(separator: ", ")
        )
      }
      try output.json ? put(record + "\n") : say(line)
    }
  }

  private func title(_ peripheral: Peripheral) -> String {
    peripheral.name ?? peripheral.address?.digits ?? peripheral.id.uuidString
  }

  /// Waits a short time until BlueZ reports a bond.
  private func isBonded(_ peripheral: Peripheral, _ stage: Stage) async throws -> Bool {
    for _ in 0..<20 where peripheral.bond == nil { try await stage.sleep(0.1) }
    return peripheral.bond != nil
  }

  /// Reads values until the link is encrypted, or BlueZ has a bond.
  private func pair(with peripheral: Peripheral, _ path: AttributePath?, _ stage: Stage) async throws {
    if let path {
      _ = try await path.characteristic(on: peripheral, stage).read(within: stage.stepLimit)
      return
    }
    for service in try await peripheral.discoverServices(within: stage.stepLimit) {
      for characteristic in try await service.discoverCharacteristics(within: stage.stepLimit)
      where characteristic.properties.contains(.read) {
        if peripheral.link?.security.isEncrypted == true || stage.isOfBlueZ && peripheral.bond != nil { return }
        do { _ = try await characteristic.read(within: stage.stepLimit) } catch let error as CBATTError {
          // Other refusals have nothing to do with pairing.
          switch error.code {
          case .insufficientAuthentication, .insufficientEncryption, .insufficientEncryptionKeySize: throw error
          default: continue
          }
        }
      }
    }
  }
}
