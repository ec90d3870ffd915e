import BluetoothCrypto
import BluetoothDaemon
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire
import Foundation
import Requirements
import TestSupport
import Testing

@testable import BluetoothLab

/// Many devices whose hosts act at random under every kind of fault.
@Suite("A crowd under every fault")
struct RandomCrowdTests {
  @Test(
    "200 devices for 10 radio minutes: acknowledged data arrives, everything ends, one seed gives one capture",
    .requirement("L086"))
  func crowd() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }

    let crowd = try Crowd(devices: 200, seed: 54, minutes: 10, capture: folder.url.appendingPathComponent("long"))
    crowd.world.run(for: .seconds(30))
    try crowd.world.finishCapture()
    // Interference takes computing time, so it lasts only a minute and a half.
    crowd.world.run(for: .seconds(60))
    crowd.world.setInterference([])
    crowd.world.run(for: .seconds(510))
    crowd.check()
    #expect(crowd.notes.complaints == [])
    for action in Self.actions {
      #expect(crowd.notes.actions[action, default: 0] > 0, "\(action) never happened: \(crowd.notes.actions)")
    }

    let again = try Crowd(devices: 200, seed: 54, minutes: 10, capture: folder.url.appendingPathComponent("again"))
    again.world.run(for: .seconds(30))
    try again.world.finishCapture()
    let captures = try ["long", "again"].map { try Data(contentsOf: folder.url.appendingPathComponent($0)) }
    #expect(captures[0].count > 100_000)
    #expect(captures[0] == captures[1])
    // A refactoring must not change the packets on the air. An intended change of behaviour changes this digest and
    // states its reason.
    let sum = SHA256()
    sum.update(captures[0])
    let digest = sum.finish().map { String(format: "%02x", $0) }.joined()
    #expect(digest == "d27294223d2b4903eae4e851b351fd7aba9518df9039bc0549a00f13f1b526d7")
  }

  /// The actions that must have happened at least once in such a crowd.
  private static let actions = [
    "connection", "connection as peripheral", "data", "encrypted data", "version", "features", "connectionUpdate",
    "phyUpdate", "encryption", "clockAccuracy", "synchronization", "synchronization by transfer", "periodic report",
    "hardware error", "link with both ends' counters", "link with both ends' addresses", "resolved report",
    "filtered report", "connection to the accept list", "connection from the accept list",
    "connection between private addresses", "connection to a private address of a stranger",
  ]
}

private struct Crowd {
  let world: World
  let notes = CrowdNotes()
  private let hosts: [RadioID]

  /// - Parameter capture: The file for the packets of the air and of HCI.
  init(devices: Int, seed: UInt64, minutes: Int, capture: URL) throws {
    world = World(seed: seed, capture: try Capture(path: capture.path))
    var places = RandomStream(seed: seed &+ 1)
    var hosts: [RadioID] = []
    for number in 0..<devices {
      // Some devices are close to each other and some far away: reception is good, bad or impossible.
      let position = Position(x: Double(places.next() % 60), y: Double(places.next() % 60))
      hosts.append(world.addCrowdHost(number, at: position, notes: notes))
    }
    self.hosts = hosts
    world.setInterference([
      Interference(.wiFi(channel: 6, dutyCycle: 0.2), at: Position(x: 30, y: 30)),
      Interference(.classicBluetooth(dutyCycle: 0.3), at: Position(x: 10, y: 50), power: 4),
    ])
    addMovements(seconds: minutes * 60, random: &places)
    addFaults(seconds: minutes * 60, random: &places)
  }

  /// Lets every eighth device walk to and fro.
  private func addMovements(seconds: Int, random: inout RandomStream) {
    for number in hosts.indices where number % 8 == 3 {
      let path = stride(from: 20, to: seconds, by: 40).map { time in
        Waypoint(
          at: .seconds(Int64(time)), Position(x: Double(random.next() % 60), y: Double(random.next() % 60), z: 1.5))
      }
      RadioDevice(name: "host \(number)", radio: hosts[number], world: world).move(along: path)
    }
  }

  static func isSpoiled(_ number: Int) -> Bool { number % 10 == 9 }

  private func addFaults(seconds: Int, random: inout RandomStream) {
    world.add([.air(.lose, .anything, .percent(1)), .air(.corrupt, .anything, .percent(1))])
    for number in hosts.indices where Self.isSpoiled(number) {
      let device = RadioDevice(name: "host \(number)", radio: hosts[number], world: world)
      device.add([
        .hci(.lose, .anything, .percent(0.2)), .hci(.duplicate, .anything, .percent(0.2)),
        .hci(.corrupt, .anything, .percent(0.2)), .hci(.delay(.milliseconds(30)), .anything, .percent(0.5)),
        .air(.inject([0x14, 0xFF, 0xFF, 0xFF]), .control(from: device.name), .percent(10)),
        .air(.inject([]), .control(from: device.name), .percent(5)),
        .device(.stopAnswering(for: .seconds(20)), when: .at(.seconds(Int64(random.next() % UInt64(seconds))))),
      ])
    }
    for number in hosts.indices {
      let name = "host \(number)"
      let time = Duration.seconds(Int64(random.next() % UInt64(seconds)))
      let action: DeviceFault.Action =
        switch number % 5 {
        case 0: .mute(for: .seconds(Int64(1 + random.next() % 12)))
        case 1: .driftClock(partsPerMillion: Double(Int(random.next() % 400)) - 200)
        case 2: .resetController
        case 3: .refuseConnections(for: .seconds(30))
        default: .mute(for: .milliseconds(Int64(random.next() % 2_000)))
        }
      world.add([.device(action, name, when: .at(time))])
    }
  }

  /// Checks the invariants at the end of a run.
  func check() {
    let (hosts, notes) = (hosts, notes)
    world.inspect { engine in
      notes.checkStreams(at: engine.now)
      for radio in hosts {
        let statistics = engine.statistics(of: radio)
        let total = statistics.airTime + statistics.receiving + statistics.idle
        if total != engine.now.sinceZero { notes.complain("\(radio): \(total) of radio time", at: engine.now) }
        (engine.device(radio) as? CrowdHost)?.checkProcedures(at: engine.now)
      }
      notes.checkCounters(of: hosts.compactMap { engine.device($0) as? CrowdHost }, at: engine.now)
    }
  }
}

extension World {
  fileprivate func addCrowdHost(_ number: Int, at position: Position, notes: CrowdNotes) -> RadioID {
    let name = "host \(number)"
    let environment = environment
    // A world is confined, and so are the records of its devices.
    nonisolated(unsafe) let notes = notes
    var options = DeviceOptions(position: position)
    options.sleepClockAccuracy = 250
    let configuration = options.configuration(named: name)
    return register(name, options) {
      let radio = requestQueue.addDevice(radio: configuration.radio) { engine, radio in
        let generator = engine.generator.split("device " + name)
        return CrowdHost(
          name, number: number, isSpoiled: Crowd.isSpoiled(number),
          configuration: configuration.controller(random: generator), radio: radio, environment: environment,
          generator: generator, pool: engine.pool, notes: notes, at: engine.now)
      }
      return RadioDevice(name: name, radio: radio, world: self)
    }.radio
  }
}
