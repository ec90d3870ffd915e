import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras

/// A device with a `LocalPeripheral`, and a phone with a `Central`, two metres from each other.
struct LocalMeeting {
  static let service = CBUUID(string: "FF00")
  static let value = CBUUID(string: "FF01")

  let world: World
  let stage: AppStage
  let device: Device
  let phone: Device
  let local: LocalPeripheral
  let central: Central

  init(seed: UInt64 = 1) {
    world = World(seed: seed)
    stage = AppStage(world)
    device = world.makeDevice(named: "device")
    phone = world.makeDevice(named: "phone", at: Position(x: 2))
    local = LocalPeripheral(adapter: device)
    central = Central(adapter: phone)
  }

  /// Publishes a service with this characteristic, and starts to advertise it.
  func publish(_ characteristic: LocalCharacteristic) throws -> AppTask<Void> {
    try stage.perform { [local] in
      try await local.waitUntilPoweredOn()
      try await local.add(LocalService(Self.service, [characteristic]))
    }
    return stage.start { [local] in try await local.advertise(localName: "Local", services: [Self.service]) }
  }

  /// Returns the published characteristic, as the phone has discovered it.
  func find() throws -> RemoteCharacteristic {
    try stage.perform { [central] in try await central.findLocal() }
  }
}

extension Central {
  /// Connects to the device of a `LocalMeeting`, and discovers its characteristic.
  func findLocal() async throws -> RemoteCharacteristic {
    try await waitUntilPoweredOn()
    let peripheral = try await scan(for: [LocalMeeting.service]).first { _ in true }.orThrow().peripheral
    try await peripheral.connect()
    let service = try await peripheral.discoverServices([LocalMeeting.service]).first.orThrow()
    return try await service.discoverCharacteristics([LocalMeeting.value]).first.orThrow()
  }
}
