import BluetoothLab
import CAllocationCount

/// The memory of an idle or nearly idle device.
enum Memory {
  static let all: [(name: String, measure: @Sendable (Int) throws -> Measurement)] = [
    ("memory per idle device", idle), ("memory per beacon", beacon),
  ]

  @Sendable private static func idle(divisor: Int) throws -> Measurement {
    let count = 10_000 / divisor
    return measurement(
      "memory per idle virtual device", try octetsPerIdleDevice(count), aim: "4 KiB",
      method: "octets taken from the heap by \(count.grouped) devices that no app uses, divided by their number")
  }

  @Sendable private static func beacon(divisor: Int) throws -> Measurement {
    let count = 10_000 / divisor
    return measurement(
      "memory per device that advertises", try octetsPerAdvertisingDevice(count), aim: "—",
      method: "with its controller and its host; octets taken from the heap by \(count.grouped) devices,"
        + " divided by their number")
  }

  /// Returns the heap octets per device without an app, averaged over `count` devices; nil if they cannot be counted.
  static func octetsPerIdleDevice(_ count: Int) throws -> Double? {
    octets(per: count) { world, name in world.makeDevice(named: name) }
  }

  /// Returns the heap octets per device that broadcasts every 10 s, with its controller and host, averaged over `count`
  /// devices; nil if they cannot be counted.
  static func octetsPerAdvertisingDevice(_ count: Int) throws -> Double? {
    var advertising = Advertising(AdvertisingPayload(fitting: [.flags(), .name("beacon")]))
    advertising.kind = .broadcast
    advertising.schedule = [.every(.seconds(10))]
    let accessory = Broadcaster(advertising)
    return octets(per: count) { world, name in world.add(accessory, named: name) }
  }

  private static func octets(per count: Int, _ make: (World, String) -> RadioDevice) -> Double? {
    guard allocation_count_is_available() else { return nil }
    let world = World(seed: 1)
    var devices: [RadioDevice] = []
    devices.reserveCapacity(count)
    // The first device causes the one-time allocations of a world.
    devices.append(make(world, "first"))
    world.run(for: .milliseconds(100))
    let before = allocation_octets_in_use()
    for number in 0..<count { devices.append(make(world, "device \(number)")) }
    world.run(for: .milliseconds(100))
    let used = allocation_octets_in_use() - before
    withExtendedLifetime(devices) {}
    return Double(used) / Double(count)
  }

  private static func measurement(_ name: String, _ octets: Double?, aim: String, method: String) -> Measurement {
    Measurement(
      name: name, result: octets.map { "\(Int($0).grouped) octets" } ?? "can't be counted here", aim: aim,
      method: method)
  }
}
