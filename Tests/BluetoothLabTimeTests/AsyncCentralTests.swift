import BluetoothLab
import BluetoothLabTime
import CoreBluetooth
import CoreBluetoothExtras
import NIOConcurrencyHelpers
import Testing

/// An app that uses the asynchronous API, and notes what it does at which time of the world.
private final class AsyncApp: Sendable {
  private let world: World
  private let log = NIOLockedValueBox<[String]>([])

  init(_ world: World) { self.world = world }

  var lines: [String] { log.withLockedValue { $0 } }

  private func note(_ text: String) {
    let line = "\(world.now): \(text)"
    log.withLockedValue { $0.append(line) }
  }

  /// Follows a heart rate sensor until the link is lost, and then waits 3 s for the sensor.
  func run() async {
    do {
      let central = Central()
      try await central.waitUntilPoweredOn()
      note("on")
      for try await discovery in central.scan(for: [CBUUID(string: "180D")]) {
        note("discovered")
        try await follow(discovery.peripheral)
        break
      }
    } catch {
      note("\(type(of: error))")
    }
  }

  private func follow(_ strap: Peripheral) async throws {
    try await strap.connect(within: .seconds(10))
    note("connected")
    do {
      for service in try await strap.discoverServices([CBUUID(string: "180D")]) {
        for characteristic in try await service.discoverCharacteristics([CBUUID(string: "2A37")]) {
          for try await value in characteristic.notifications { note("value \(value[2])") }
        }
      }
    } catch {
      note("lost")
    }
    try await strap.connect(within: .seconds(3))
  }
}

/// An app on the main actor that changes its state while it advertises.
@MainActor private final class CupApp {
  private let cup = LocalPeripheral()
  private(set) var level = 0
  /// True for each body that ran while the app advertised.
  private(set) var bodies: [Bool] = []

  /// The value that the first body returned; nil: the app has not ended.
  private(set) var first: Int?

  /// Advertises twice.
  func serve() async throws {
    try await cup.waitUntilPoweredOn()
    let value = try await cup.withAdvertising(localName: "Cup") {
      MainActor.assertIsolated()
      level += 1
      bodies.append(cup.isAdvertising)
      return level
    }
    try await cup.withAdvertising(AdvertisingParameters([.name("Cup")])) {
      MainActor.assertIsolated()
      level += 1
      bodies.append(cup.isAdvertising)
    }
    first = value
  }
}

@Suite(.serialized) struct AsyncCentralTests {
  @Test("An app with the asynchronous API gives the same trace in each run, and its time limits follow the world")
  func trace() async throws {
    var expected: [String]?
    for _ in 0..<runCount {
      let world = World(seed: 1)
      let strap = world.add(HeartRateSensor(), named: "strap")
      world.makeDefault(world.makeDevice(named: "phone", at: Position(x: 2)))
      defer { World.removeDefault() }
      let app = AsyncApp(world)
      let lost = NIOLockedValueBox(Duration.zero)
      let end = NIOLockedValueBox<Duration?>(nil)
      try await world.withAppTime {
        Task {
          await app.run()
          end.withLockedValue { $0 = world.now }
        }
        #expect(await world.run(until: { app.lines.last?.hasSuffix("value 3") ?? false }))
        strap.setPower(false)
        #expect(await world.run(until: { app.lines.last?.hasSuffix("lost") ?? false }))
        lost.withLockedValue { $0 = world.now }
        #expect(await world.run(until: { end.withLockedValue { $0 != nil } }))
      }
      #expect(end.withLockedValue { $0 } == lost.withLockedValue { $0 } + .seconds(3))
      #expect(app.lines.count == 8 && app.lines.last?.hasSuffix("TimeLimitExceeded") == true, "\(app.lines)")
      if let expected { try #require(app.lines == expected) }
      expected = app.lines
    }
  }

  @MainActor
  @Test("The body of withAdvertising runs on the main actor if its caller does, and changes the state there")
  func advertisingOnMainActor() async throws {
    let world = World(seed: 1)
    world.makeDefault(world.makeDevice(named: "cup"))
    defer { World.removeDefault() }
    let app = CupApp()
    try await world.withAppTime {
      let serving = Task { @MainActor in try await app.serve() }
      let isDone = await world.run(until: { app.first != nil })
      #expect(isDone)
      if isDone { try await serving.value }
    }
    #expect(app.first == 1 && app.level == 2)
    #expect(app.bodies == [true, true])
  }
}
