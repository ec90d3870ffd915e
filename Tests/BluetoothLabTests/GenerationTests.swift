import BluetoothLab
import CoreBluetooth
import Requirements
import TestSupport
import Testing

/// An accessory that notifies 20 octets as fast as the link accepts them.
private struct Flood: Accessory {
  static let value = CharacteristicPath("2A58", of: "1815")

  var advertising: Advertising { Advertising(AdvertisingPayload(fitting: [.flags()])) }
  var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        "1815",
        [AccessoryCharacteristic(octetsOf: Self.value, .notify, read: { _ in Array(repeating: 0x5A, count: 20) })])
    ]
  }

  mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext
  ) {
    context.wake(after: .milliseconds(1))
  }

  mutating func timeReached(in context: inout AccessoryContext) {
    // A few more than fit into the time: 14.8.
    for _ in 0..<16 { context.notify(Self.value) }
    context.wake(after: .milliseconds(10))
  }
}

@Suite("Generations")
struct GenerationTests {
  @Test("An accessory of Bluetooth 4.0 notifies nearly 236.7 kbit/s, and no more", .requirement("L031", "L167"))
  func throughput() async throws {
    var options = DeviceOptions()
    options.generation = .bluetooth40
    let meeting = Encounter(Flood(), options)
    #expect(await meeting.prepare())
    meeting.app.subscribe("2A58")
    await meeting.world.run(for: .seconds(1))
    let before = meeting.app.values(of: "2A58").count
    await meeting.world.run(for: .seconds(3))
    let bits = Double((meeting.app.values(of: "2A58").count - before) * 20 * 8) / 3
    // 160 bits in 676 µs: a packet of 27 octets takes 296 µs, the answer 80 µs, and the two spaces 150 µs each.
    let most = 160 / 676e-6
    #expect(bits <= most)
    #expect(bits > 0.95 * most)
    #expect(meeting.app.peripheral?.maximumWriteValueLength(for: .withoutResponse) == 20)
  }

  @Test(
    "An accessory of Bluetooth 4.0 has one connection at a time, and no packet beyond 27 octets", .requirement("L099"))
  func limits() async {
    var options = DeviceOptions()
    options.generation = .bluetooth40
    let meeting = Encounter(Flood(), options)
    #expect(await meeting.prepare())
    let second = PhoneApp(on: meeting.world.makeDevice(named: "second", at: Position(x: 1)))
    await meeting.world.run(for: .seconds(5))
    #expect(second.sightings.count == 0)
    #expect(meeting.accessory.statistics.links.count == 1)
  }
}
