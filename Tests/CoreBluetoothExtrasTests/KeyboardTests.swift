import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Requirements
import Testing

/// A keyboard that answers quickly and rests for most of the time, thanks to peripheral latency.
@Suite("A keyboard with latency") struct KeyboardTests {
  @Test(
    "With latency a keyboard attends few connection events, and a key still takes one interval of 20 ms at most",
    .requirement("L204"))
  func latency() throws {
    let world = World(seed: 9)
    let stage = AppStage(world)
    let keyboard = TestPeripheral(on: world.makeDevice(named: "keyboard"))
    let keys = CBMutableCharacteristic(
      type: CBUUID(string: "FFE1"), properties: .notify, value: nil, permissions: .readable)
    try keyboard.publish("FFE0", [keys])
    let central = Central(adapter: world.makeDevice(named: "computer", at: Position(x: 1)))
    let received = Box<[Data]>([])
    let peripheral = Box<Peripheral?>(nil)
    let reading = stage.start {
      try await central.waitUntilPoweredOn()
      for try await discovery in central.scan(for: [CBUUID(string: "FFE0")]) {
        peripheral.value = discovery.peripheral
        break
      }
      let found = try #require(peripheral.value)
      try await found.connect()
      let service = try await found.discoverServices()[0]
      for try await key in try await service.discoverCharacteristics()[0].notifications { received.append(key) }
    }
    stage.run(until: { keys.subscribedCentrals?.isEmpty == false })
    let link = try #require(peripheral.value)

    /// Returns the number of packets that the keyboard receives in 10 s without a key: one in each event it attends.
    func attendedEvents(latency: Int) throws -> Int {
      let request = stage.start {
        try await link.requestConnectionParameters(
          interval: .milliseconds(20) ... .milliseconds(20), latency: latency, supervisionTimeout: .seconds(4))
      }
      let parameters = try stage.value(of: request)
      #expect(parameters.interval == .milliseconds(20) && parameters.latency == latency)
      // The procedure and the requests of the system have ended.
      stage.run(for: .seconds(5))
      let before = keyboard.device.statistics
      stage.run(for: .seconds(10))
      return keyboard.device.statistics.since(before).receivedPackets
    }
    let (busy, resting) = (try attendedEvents(latency: 0), try attendedEvents(latency: 30))
    #expect((495...501).contains(busy), "\(busy)")
    // One event of 31.
    #expect((15...18).contains(resting), "\(resting)")

    for key in 0..<20 {
      // Keys come at any time between two events.
      stage.run(for: .milliseconds(1_003 + 7 * key))
      let pressed = world.now
      #expect(keyboard.update([UInt8(key)], for: keys))
      stage.run(until: { received.value.count == key + 1 })
      #expect(world.now - pressed <= .milliseconds(21), "key \(key) took \(world.now - pressed)")
    }
    #expect(received.value == (0..<20).map { Data([UInt8($0)]) })
    reading.cancel()
    stage.run(for: .seconds(1))
  }
}
