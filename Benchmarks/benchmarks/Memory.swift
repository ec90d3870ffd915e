import BluetoothLab
import CAllocationCount

/// What a device costs that does nothing, or next to nothing.
enum Memory {
  static let all: [(name: String, measure: @Sendable (Int) throws -> Measurement)] = [
    ("memory per idle device", idle), ("memory per beacon", beacon),
  ]

  @Sendable private static func idle(divisor: Int) throws -> Measurement {
    try measure(
      "memory per idle virtual device", aim: "4 KiB", divisor: divisor,
      method: "whom no app uses; octets taken from the heap by %, divided by their number"
    ) { world, name in world.device(named: name) }
  }

  @Sendable private static func beacon(divisor: Int) throws -> Measurement {
    var advertising = Advertising(AdvertisingPayload(fitting: [.flags(), .name("beacon")]))
    advertising.kind = .broadcast
    advertising.schedule = [.every(.seconds(10))]
    let accessory = Broadcaster(advertising)
    return try measure(
      "memory per device that advertises", aim: "—", divisor: divisor,
      method: "with its controller and its host; octets taken from the heap by %, divided by their number"
    ) { world, name in world.add(accessory, named: name) }
  }

  private static func measure(
    _ name: String, aim: String, divisor: Int, method: String, _ make: (World, String) -> RadioDevice
  ) throws -> Measurement {
    let count = 10_000 / divisor
    let world = World(seed: 1)
    var devices: [RadioDevice] = []
    devices.reserveCapacity(count)
    // What a world has once is not a device's.
    devices.append(make(world, "first"))
    world.run(for: .milliseconds(100))
    let before = allocation_octets_in_use()
    for number in 0..<count { devices.append(make(world, "device \(number)")) }
    world.run(for: .milliseconds(100))
    let used = allocation_octets_in_use() - before
    withExtendedLifetime(devices) {}
    let result = allocation_count_is_available() ? "\((Int(used) / count).grouped) octets" : "can't be counted here"
    return Measurement(
      name: name, result: result, aim: aim,
      method: method.replacing("%", with: "\(count.grouped) devices"))
  }
}
