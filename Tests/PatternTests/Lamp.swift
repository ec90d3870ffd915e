import BluetoothLab
import CoreBluetooth
import Testing

/// A lamp that advertises one service, and a phone, 2 m apart.
struct Lamp {
  static let service = "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C0D0"
  static let value = CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C0D1")

  let world: World
  let timers: WorldTimers
  let lamp: TestPeripheral
  let phone: TestCentral

  init(seed: UInt64 = 1, _ options: DeviceOptions = DeviceOptions()) throws {
    world = World(seed: seed)
    timers = WorldTimers(in: world)
    lamp = TestPeripheral(on: world.makeDevice(named: "lamp", options))
    phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let characteristic = CBMutableCharacteristic(
      type: Self.value, properties: [.read, .write, .writeWithoutResponse], value: nil,
      permissions: [.readable, .writeable])
    try lamp.publish(Self.service, [characteristic], name: "Lamp")
  }

  /// Returns the lamp as the phone sees it, connected, and its characteristic.
  func connect() throws -> (CBPeripheral, CBCharacteristic) {
    let peripheral = try phone.connect(to: "Lamp")
    return (peripheral, try phone.characteristic(Self.value.uuidString, of: peripheral))
  }

  /// The values that the lamp has received, with their times.
  var received: [(time: Duration, value: [UInt8])] {
    lamp.recorder.records.compactMap { record in
      if case .writeRequested(_, let value, offset: _) = record.event { (record.time, value) } else { nil }
    }
  }

  /// The times of the phone's calls that begin with `prefix`, from `start` on.
  func calls(_ prefix: String, since start: Duration) -> [Duration] {
    world.trace.of(phone.device).only(.call).since(start).entries.filter { $0.text.hasPrefix(prefix) }
      .map { $0.time - start }
  }
}
