import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothLab

/// Reliable writes to an accessory's values, which no CoreBluetooth app can send · Vol 3, Part G, 4.9.5.
@Suite("Writes to accessories")
struct AccessoryWriteTests {
  private let attributes: AccessoryAttributes<Lock>
  /// The handles of the values.
  private let first: AttributeHandle
  private let second: AttributeHandle

  init() throws {
    var database = GATTDatabase(deviceName: "Lock", appearance: 0)
    var attributes = AccessoryAttributes<Lock>()
    let service = Lock().services[0]
    let placement = try database.add(service.definition(includes: []))
    attributes.add(service, index: 0, at: placement)
    self.attributes = attributes
    first = placement.values[0]
    second = placement.values[1]
  }

  /// Writes `parts` to the accessory. Returns the number of its requested effects, and the error.
  private func write(_ parts: [GATTWritePart], to lock: inout Lock) -> (effects: Int, error: ATTErrorCode?) {
    var context = AccessoryContext(now: .zero, connections: 1, subscriptions: [])
    do throws(ATTErrorCode) {
      try AccessoryWrite(GATTWriteParts(parts)).perform(on: &lock, attributes, in: &context)
      return (context.effects.count, nil)
    } catch {
      return (context.effects.count, error)
    }
  }

  private func part(_ handle: AttributeHandle, _ offset: Int, _ octets: [UInt8]) -> GATTWritePart {
    GATTWritePart(handle: handle, offset: offset, value: ByteSlice(octets))
  }

  @Test("A reliable write with one refused value changes nothing and has no effect")
  func allOrNothing() {
    var lock = Lock()
    let refused = write([part(first, 0, [1, 2]), part(second, 0, [0xFF])], to: &lock)
    #expect(refused.error == .valueNotAllowed)
    #expect(refused.effects == 0)
    #expect(lock == Lock())
    let done = write([part(first, 0, [1, 2]), part(second, 0, [3])], to: &lock)
    #expect(done.error == nil)
    #expect(done.effects == 2)
    #expect(lock.values == ["2A58": [1, 2], "2A59": [3]])
  }

  @Test("An accessory's own changes persist when it refuses a write")
  func refusal() {
    var lock = Lock()
    #expect(write([part(second, 0, [0xFF])], to: &lock).error == .valueNotAllowed)
    #expect(lock.refusals == 1)
  }

  @Test("Parts of several values are joined whatever their interleaving, and a part without its beginning is refused")
  func order() {
    var lock = Lock()
    let parts = [part(first, 0, [1, 2]), part(second, 0, [3]), part(first, 2, [4]), part(second, 1, [5, 6])]
    #expect(write(parts, to: &lock).error == nil)
    #expect(lock.values == ["2A58": [1, 2, 4], "2A59": [3, 5, 6]])
    for parts in [[part(first, 1, [1])], [part(first, 0, [1]), part(second, 0, [2]), part(first, 2, [3])]] {
      #expect(write(parts, to: &lock).error == ATTErrorCode(rawValue: 0x07))
    }
    #expect(lock.values == ["2A58": [1, 2, 4], "2A59": [3, 5, 6]])
  }

  @Test("A service with an invalid definition stops the program")
  func impossibleService() async {
    await #expect(processExitsWith: .failure) {
      let world = World(seed: 1)
      world.add(Impossible(), named: "impossible")
      await world.run(for: .seconds(1))
    }
    await #expect(processExitsWith: .failure) {
      let world = World(seed: 1)
      world.add(Misplaced(), named: "misplaced")
      await world.run(for: .seconds(1))
    }
  }
}

/// An accessory that lists a characteristic of one service in another one.
private struct Misplaced: Accessory {
  var advertising: Advertising { Advertising(AdvertisingPayload(fitting: [.flags()])) }
  var services: [AccessoryService<Self>] {
    [AccessoryService("1815", [AccessoryCharacteristic(octetsOf: CharacteristicPath("2A58", of: "1816"), .read)])]
  }
}

/// An accessory with two values, neither of which may begin with 0xFF.
private struct Lock: Accessory, Equatable {
  var values: [BluetoothUUID: [UInt8]] = [:]
  var refusals = 0

  var advertising: Advertising { Advertising(AdvertisingPayload(fitting: [.flags()])) }
  var services: [AccessoryService<Self>] { [AccessoryService("1815", [Self.value("2A58"), Self.value("2A59")])] }

  private static func value(_ uuid: BluetoothUUID) -> AccessoryCharacteristic<Self> {
    let path = CharacteristicPath(uuid, of: "1815")
    return AccessoryCharacteristic(
      octetsOf: path, .write,
      write: { (lock, value, context) throws(ATTErrorCode) in try lock.write(value, to: path, &context) })
  }

  private mutating func write(
    _ value: [UInt8], to path: CharacteristicPath, _ context: inout AccessoryContext
  ) throws(ATTErrorCode) {
    guard value.first != 0xFF else {
      refusals += 1
      throw .valueNotAllowed
    }
    values[path.characteristic] = value
    context.notify(path)
  }
}

/// An accessory whose only characteristic has a descriptor with the UUID of a characteristic declaration.
private struct Impossible: Accessory {
  var advertising: Advertising { Advertising(AdvertisingPayload(fitting: [.flags()])) }
  var services: [AccessoryService<Self>] {
    var value = AccessoryCharacteristic<Self>(octetsOf: CharacteristicPath("2A58", of: "1815"), .read)
    value.descriptors = [.other("2803", [2, 9, 0, 0x37, 0x2A])]
    return [AccessoryService("1815", [value])]
  }
}
