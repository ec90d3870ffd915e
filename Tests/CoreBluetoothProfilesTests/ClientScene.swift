import AsyncTestSupport
import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A phone two metres from an accessory.
struct ClientScene<A: Accessory> {
  let world = World(seed: 1)
  let stage: AppStage
  let device: AccessoryDevice<A>
  let phone: Device
  let central: Central

  init(_ accessory: A) {
    stage = AppStage(world)
    device = world.add(accessory, named: "accessory")
    phone = world.makeDevice(named: "phone", at: Position(x: 2))
    central = Central(adapter: phone)
  }

  /// The time limit of procedures, in the time of the world.
  var limit: TimeLimit { TimeLimit(.seconds(30), on: world.clock) }

  /// Returns the connected accessory.
  func connect() throws -> Peripheral {
    try stage.perform { [central] in
      try await central.waitUntilPoweredOn()
      let peripheral = try await central.scan().first { _ in true }.orThrow().peripheral
      try await peripheral.connect()
      return peripheral
    }
  }

  /// Connects, and returns the client that `make` creates.
  func client<Client: Sendable>(_ make: @escaping @Sendable (Peripheral) async throws -> Client) throws -> Client {
    let peripheral = try connect()
    return try stage.perform { try await make(peripheral) }
  }
}

extension AsyncSequence where Element: Sendable {
  /// Returns the first elements, and ends the iteration.
  func take(_ count: Int) async throws -> [Element] {
    var elements: [Element] = []
    for try await element in self {
      elements.append(element)
      if elements.count == count { break }
    }
    return elements
  }
}

/// A device with one service whose values are arbitrary octets, and which answers each write of a control point with
/// arbitrary octets.
struct RawSensor: Accessory {
  struct Value: Sendable {
    var uuid: BluetoothUUID
    var properties: CharacteristicProperties
    var octets: [UInt8]
  }

  var service: BluetoothUUID
  var values: [Value]
  var controlPoint: BluetoothUUID?
  /// The responses to the next command, in their order.
  var responses: [[UInt8]] = []
  /// The error that answers the writes of the control point.
  var error: ATTErrorCode?
  var commands: [[UInt8]] = []
  private var response: [UInt8] = []

  init(_ service: BluetoothUUID, _ values: [(BluetoothUUID, CharacteristicProperties, [UInt8])]) {
    self.service = service
    self.values = values.map { Value(uuid: $0.0, properties: $0.1, octets: $0.2) }
  }

  var advertising: Advertising { Advertising(AdvertisingPayload(fitting: [.flags(), .name("Raw")])) }

  var services: [AccessoryService<Self>] {
    var characteristics = values.enumerated().map { index, value in
      AccessoryCharacteristic<Self>(
        octetsOf: CharacteristicPath(value.uuid, of: service), value.properties, read: { $0.values[index].octets })
    }
    if let controlPoint {
      let path = CharacteristicPath(controlPoint, of: service)
      characteristics.append(
        AccessoryCharacteristic(
          octetsOf: path, [.write, .indicate], read: { $0.response },
          write: { (sensor, octets, context) throws(ATTErrorCode) in
            if let error = sensor.error { throw error }
            sensor.commands.append(octets)
            context.wake(after: .milliseconds(1))
          }))
    }
    return [AccessoryService(service, characteristics)]
  }

  /// Indicates the next response.
  mutating func timeReached(in context: inout AccessoryContext) {
    guard let controlPoint, !responses.isEmpty else { return }
    response = responses.removeFirst()
    context.notify(CharacteristicPath(controlPoint, of: service))
    if !responses.isEmpty { context.wake(after: .milliseconds(200)) }
  }
}

extension AccessoryDevice where A == RawSensor {
  /// Changes a value, which notifies its subscribers.
  func send(_ octets: [UInt8], index: Int = 0) { update { $0.values[index].octets = octets } }
}

/// Returns the error of `body`, if it has the expected type.
func failure<Failure: Error>(_ type: Failure.Type = Failure.self, _ body: () throws -> some Any) -> Failure? {
  do { _ = try body() } catch { return error as? Failure }
  return nil
}
