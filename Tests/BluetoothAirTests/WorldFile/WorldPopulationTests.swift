import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import Foundation
import Requirements
import TestSupport
import Testing

@testable import BluetoothAir

@Suite("World files: populating a world")
struct WorldPopulationTests {
  private struct Scene {
    let world: World
    var population: WorldPopulation
    let clients: [Device]

    init(_ file: WorldFile, seed: UInt64? = nil, capture: Capture? = nil) {
      world = World(seed: seed ?? file.seed ?? 1, capture: capture)
      population = file.populate(world)
      var devices: [Device] = []
      for (index, client) in file.clients.enumerated() {
        let device = world.makeDevice(named: client.name, client.options)
        population.place(index, for: device)
        devices.append(device)
      }
      clients = devices
    }
  }

  private func example(_ name: String) throws -> WorldFile { try WorldFile(path: ExampleWorlds.path(name)) }

  @Test("In the fitness room a phone finds everything that advertises, and receives the strap's heart rate")
  func fitnessRoom() async throws {
    let scene = Scene(try example("fitness-room"))
    let phone = PhoneApp(scene.clients[0], connectsTo: "strap")
    #expect(await scene.world.run(until: { phone.isReady }, limit: .seconds(10)))
    let names = Set(phone.sightings.compactMap(\.name))
    #expect(names == ["strap", "bicycle", "thermometer", "Keys"])
    phone.subscribe("2A37")
    await scene.world.run(for: .seconds(5))
    #expect(phone.values(of: "2A37").first?[1] == 128)
    #expect(scene.world.deviceNames == ["strap", "bicycle", "thermometer", "fob", "phone", "gateway"])
  }

  @Test("In the fitness room lost measurements are retransmitted, and the bicycle falls silent for 3 s")
  func fitnessRoomFaults() async throws {
    let scene = Scene(try example("fitness-room"))
    let phone = PhoneApp(scene.clients[0], connectsTo: "strap")
    #expect(await scene.world.run(until: { phone.isReady }, limit: .seconds(10)))
    phone.subscribe("2A37")
    await scene.world.run(for: .seconds(60))
    let pulses = phone.values(of: "2A37")
    let energies = pulses.map { Int($0[2]) | Int($0[3]) << 8 }
    #expect(energies == Array(1...energies.count))
    let events = scene.world.faultEvents
    #expect(events.contains { $0.device == "strap" && $0.layer == .air })
    #expect(events.contains { $0.device == "bicycle" && $0.layer == .device && $0.time == .seconds(12) })
    let seen = phone.sightings(of: "bicycle").map(\.time)
    #expect(seen.contains { $0 < .seconds(12) })
    #expect(!seen.contains { $0 > .seconds(12.01) && $0 < .seconds(15) })
    #expect(seen.contains { $0 > .seconds(15) })
  }

  @Test("A device whose power is switched advertises only while it is on")
  func power() async throws {
    let file = try WorldFile(
      text: """
        devices:
          - {name: late, accessory: battery, power: [{at: 0, isOn: false}, {at: 3, isOn: true}, {at: 6, isOn: false}]}
          - {name: always, accessory: battery}
        clients: [{name: phone, position: [1, 0]}]
        """)
    let scene = Scene(file)
    let phone = PhoneApp(scene.clients[0])
    await scene.world.run(for: .seconds(10))
    let times = phone.sightings(of: "late").map(\.time)
    #expect(times.count > 10)
    #expect(times.allSatisfy { .seconds(3) <= $0 && $0 <= .seconds(6.01) })
    #expect(phone.sightings(of: "always").count > times.count)
  }

  @Test("The level of a device or a client that moves away decreases")
  func movement() async throws {
    let file = try WorldFile(
      text: """
        environment: {exponent: 2, margin: 0, reference: 40}
        devices:
          - {name: walker, accessory: battery, path: [{at: 2, position: [1, 0]}, {at: 4, position: [100, 0]}]}
          - {name: stone, accessory: battery, position: [0, 1]}
        clients:
          - {name: sitting}
          - {name: running, path: [{at: 2, position: [0, 2]}, {at: 4, position: [0, 101]}]}
        """)
    let scene = Scene(file)
    let phones = scene.clients.map { PhoneApp($0) }
    await scene.world.run(for: .seconds(6))
    func levels(_ name: String, _ phone: PhoneApp, _ times: ClosedRange<Double>) -> Set<Double> {
      let seen = phone.sightings(of: name).filter {
        .seconds(times.lowerBound) < $0.time && $0.time < .seconds(times.upperBound)
      }
      return Set(seen.map(\.level))
    }
    #expect(levels("walker", phones[0], 0...2) == [-40])
    #expect(levels("walker", phones[0], 4.1...6) == [-80])
    #expect(levels("stone", phones[0], 0...6) == [-40])
    #expect(levels("stone", phones[1], 0...2) == [-40])
    #expect(levels("stone", phones[1], 4.1...6) == [-80])
  }

  @Test("The loss between two radios is that of the file, for devices and for clients that come later")
  func losses() throws {
    let file = try WorldFile(
      text: """
        devices: [{name: a, accessory: battery}, {name: b, accessory: battery, position: [1, 0]}]
        clients: [{name: c, position: [1, 1]}, {name: d, position: [1, 1]}]
        losses:
          - {between: [a, b], decibels: 61}
          - {between: [c, a], decibels: 62}
          - {between: [c, d], decibels: 63}
        """)
    let scene = Scene(file)
    scene.world.runUntilIdleBriefly()
    func level(_ one: String, _ other: String) throws -> Double {
      scene.world.level(
        from: try #require(scene.population[one]), at: try #require(scene.population[other]))
    }
    #expect(try level("a", "b") == -61)
    #expect(try level("a", "c") == -62)
    #expect(try level("d", "c") == -63)
    #expect(try level("a", "d") > -50)
    #expect(scene.population["nobody"] == nil)
  }

  @Test("Devices have the positions, powers and addresses of the file")
  func options() async throws {
    let file = try WorldFile(
      text: """
        environment: {exponent: 2}
        devices: [{name: strong, accessory: battery, transmitPower: 8, position: [10, 0]}]
        clients: [{name: phone, antennaGain: 2, signalStrength: {offset: 5}, address: "C0:FF:EE:00:00:01"}]
        """)
    #expect(file.clients[0].options.address == DeviceAddress(0xC0FF_EE00_0001, .public))
    let scene = Scene(file)
    let phone = PhoneApp(scene.clients[0])
    await scene.world.run(for: .seconds(2))
    let levels = Set(phone.sightings(of: "strong").map(\.level))
    #expect(levels == [8 - 60 + 2 + 5] as Set<Double>)
  }

  @Test("A heart rate belt of a file has Device Information, unless the file says otherwise")
  func deviceInformation() throws {
    let file = try WorldFile(
      text: """
        devices:
          - {name: belt, accessory: heart-rate}
          - {name: bare, accessory: {kind: heart-rate, hasDeviceInformation: false}}
        """)
    let belts = file.members.compactMap { $0.accessory as? HeartRateSensor }
    #expect(belts.map { $0.information?.model } == ["Heart Rate Belt", nil])
    #expect(belts.map { belt in belt.services.contains { $0.uuid == 0x180A } } == [true, false])
  }

  @Test("An accessory of a file advertises at the interval of the file, if there is one")
  func advertisingInterval() throws {
    let file = try WorldFile(
      text: """
        devices:
          - {name: belt, accessory: heart-rate}
          - {name: fob, accessory: {kind: key-fob, advertisingInterval: 0.5}}
          - {name: keys, accessory: {kind: keyboard, advertisingInterval: 10}}
        """)
    #expect(
      file.members.map { $0.accessory.advertising.schedule }
        == [Advertising.fastThenSlow, [.every(.milliseconds(500))], [.every(.seconds(10))]])
  }

  @Test("A key fob of a file tells the power of its radio, unless the file says otherwise")
  func transmitPowerLevel() throws {
    let file = try WorldFile(
      text: """
        devices:
          - {name: plain, accessory: key-fob}
          - {name: weak, accessory: key-fob, transmitPower: -19.6}
          - {name: told, accessory: {kind: key-fob, transmitPowerLevel: 4}, transmitPower: -20}
        """)
    let levels = file.members.map { ($0.accessory as? KeyFob)?.transmitPower }
    #expect(levels == [0, -20, 4])
  }

  @Test("The properties of accessories are those of the file")
  func accessoryProperties() throws {
    let file = try WorldFile(
      text: """
        devices:
          - name: thermometer
            accessory: {kind: thermometer, intermediateInterval: 0.5, permittedIntervals: [5, 60]}
          - {name: cuff, accessory: {kind: blood-pressure, unit: kPa, cuffInterval: 2, userID: 7}}
          - {name: crank, accessory: {kind: cycling-power, crankLength: 170, offset: -3, samplingRate: 25}}
          - {name: shoe, accessory: {kind: running, runningSpeed: 2.5, calibrationTime: 9, canCalibrate: false}}
          - {name: receiver, accessory: {kind: location, positionStatus: last-known, beacons: [3, 9]}}
          - {name: tag, accessory: {kind: sensor-tag, rotation: [1, 2, 3]}}
          - name: phone
            accessory:
              kind: telephone
              categories: [email, news]
              ringer: silent
              alertStatus: [vibrate, display]
              alerts:
                - {at: 3, category: news, text: Rain, unread: 4}
                - {at: 1.5, category: email, alertStatus: []}
        """)
    func accessory<A: Accessory>(_ index: Int, _ type: A.Type) throws -> A {
      try #require(file.members[index].accessory as? A)
    }
    let thermometer = try accessory(0, Thermometer.self)
    #expect(thermometer.intermediateInterval == .seconds(0.5) && thermometer.permittedIntervals == 5...60)
    let monitor = try accessory(1, BloodPressureMonitor.self)
    #expect(monitor.unit == .kilopascal && monitor.cuffInterval == .seconds(2) && monitor.userID == 7)
    let meter = try accessory(2, CyclingPowerMeter.self)
    #expect(meter.crankLength == 170 && meter.offset == -3 && meter.samplingRate == 25)
    let pod = try accessory(3, RunningSensor.self)
    #expect(pod.runningSpeed == 2.5 && pod.calibrationTime == .seconds(9) && !pod.canCalibrate)
    let receiver = try accessory(4, LocationSensor.self)
    #expect(receiver.positionStatus == .lastKnownPosition && receiver.beacons == (3, 9))
    #expect(try accessory(5, SensorTag.self).rotation == SensorTag.Vector(1, 2, 3))
    let telephone = try accessory(6, Telephone.self)
    #expect(telephone.categories == [.email, .news] && telephone.ringer == .silent)
    #expect(telephone.alertStatus == [.vibrate, .display])
    #expect(
      telephone.scheduledAlerts == [
        Telephone.ScheduledAlert(at: .seconds(3), .news, text: "Rain", unread: 4),
        Telephone.ScheduledAlert(at: .seconds(1.5), .email, alertStatus: []),
      ])
  }

  @Test("A phone of a file has the notifications of the file")
  func notifications() throws {
    let file = try WorldFile(
      text: """
        devices:
          - name: phone
            accessory:
              kind: notifying-phone
              startTime: 2024-02-29T12:00:00
              notifications:
                - {app: com.example.chat}
                - {app: com.example.chat}
                - at: 5
                  removedAt: 60.5
                  id: call
                  category: incoming-call
                  app: com.example.phone
                  appName: Phone
                  title: Ann
                  subtitle: mobile
                  message: Ann is calling
                  date: 2024-02-28T08:30:59
                  positiveAction: Answer
                  negativeAction: Decline
                  isSilent: true
                  isImportant: true
        """)
    let phone = try #require(file.members.first?.accessory as? NotifyingPhone)
    #expect(phone.name == "phone" && phone.scheduledNotifications.count == 3)
    #expect(Set(phone.scheduledNotifications.map(\.notification.identifier)).count == 3)
    var call = DeviceNotification("call", app: "com.example.phone", title: "Ann", message: "Ann is calling")
    (call.category, call.appName, call.subtitle) = (.incomingCall, "Phone", "mobile")
    (call.positiveAction, call.negativeAction) = ("Answer", "Decline")
    (call.isSilent, call.isImportant) = (true, true)
    let date = DateTime(year: 2024, month: 2, day: 28, hours: 8, minutes: 30, seconds: 59)
    #expect(
      phone.scheduledNotifications.last
        == NotifyingPhone.ScheduledNotification(call, at: .seconds(5), date: date, removedAt: .seconds(60.5)))
    let first = try #require(phone.scheduledNotifications.first)
    #expect(first.time == .zero && first.date == nil && first.removalTime == nil)
    #expect(first.notification.category == .other && first.notification.title.isEmpty)
  }

  @Test("A notification of a file without an identifier gets one that no other notification has")
  func notificationIdentifiers() throws {
    let file = try WorldFile(
      text: """
        devices:
          - name: phone
            accessory:
              kind: notifying-phone
              notifications: [{app: a}, {app: a, id: "notifications[0]"}, {app: a, id: "notifications[0]'"}]
        """)
    let phone = try #require(file.members.first?.accessory as? NotifyingPhone)
    let identifiers = phone.scheduledNotifications.map(\.notification.identifier)
    #expect(identifiers.dropFirst() == ["notifications[0]", "notifications[0]'"])
    #expect(Set(identifiers).count == 3)
  }

  @Test("Accessories of a file have the times of the file")
  func clocks() async throws {
    let file = try WorldFile(
      text: """
        devices:
          - {name: thermometer, accessory: {kind: thermometer, timeStamp: 2024-02-29T08:30:59}}
          - {name: cuff, accessory: {kind: blood-pressure, timeStamp: "1999-12-31T23:59:00"}}
          - {name: receiver, accessory: {kind: location, startTime: 2000-02-29T00:00:01}}
          - {name: mobile, accessory: {kind: telephone, startTime: 2030-06-30T12:00:00}}
        clients: [{name: tablet}]
        """)
    let accessories = file.members.map(\.accessory)
    #expect((accessories[0] as? Thermometer)?.timeStamp?.description == "2024-02-29 08:30:59")
    #expect((accessories[1] as? BloodPressureMonitor)?.timeStamp?.description == "1999-12-31 23:59:00")
    #expect((accessories[2] as? LocationSensor)?.startTime?.description == "2000-02-29 00:00:01")
    let scene = Scene(file)
    let tablet = PhoneApp(scene.clients[0], connectsTo: "mobile")
    #expect(await scene.world.run(until: { tablet.isReady }, limit: .seconds(20)))
    tablet.read("2A2B")
    await scene.world.run(for: .seconds(1))
    // Year, month, day, hours and minutes; the clock has advanced by less than a minute.
    #expect(tablet.values(of: "2A2B").map { Array($0.prefix(6)) } == [[0xEE, 0x07, 6, 30, 12, 0]])
  }

  @Test("A weight scale and a pedometer of a file weigh and count as the file says")
  func weightAndSteps() throws {
    let file = try WorldFile(
      text: """
        devices:
          - name: scale
            accessory:
              kind: weight-scale
              units: lb
              weightResolution: 100 g
              settlingTime: 3
              capacity: 4
              distinguishesUsers: false
              reportsBodyMassIndex: false
              startTime: 2024-02-29T08:30:00
              weighings: [{at: 9, weight: 61.5}, {at: 2.5, weight: 72.4, user: 1, height: 1.78, duration: 1}]
          - {name: old, accessory: {kind: weight-scale, hasClock: false}}
          - name: pocket
            accessory:
              {kind: pedometer, cadence: 90, pastDays: [10, 4294967295], capacity: 7, interval: 5, startTime: 2024-03-01T00:00:00}
        """)
    let scale = try #require(file.members[0].accessory as? WeightScale)
    #expect(scale.units == .imperial && scale.weightResolution == .grams100 && scale.settlingTime == .seconds(3))
    #expect(scale.capacity == 4 && !scale.distinguishesUsers && !scale.reportsBodyMassIndex)
    #expect(scale.startTime?.description == "2024-02-29 08:30:00")
    let known = WeightScale.Person(weight: 72.4, userID: 1, height: 1.78)
    #expect(
      scale.scheduledWeighings == [
        WeightScale.ScheduledWeighing(at: .seconds(9), WeightScale.Person(weight: 61.5), for: .seconds(5)),
        WeightScale.ScheduledWeighing(at: .seconds(2.5), known, for: .seconds(1)),
      ])
    let old = try #require(file.members[1].accessory as? WeightScale)
    #expect(old.startTime == nil && !old.features.timeStamp)
    let pedometer = try #require(file.members[2].accessory as? Pedometer)
    #expect(pedometer.cadence == 90 && pedometer.capacity == 7 && pedometer.interval == .seconds(5))
    #expect(
      pedometer.storedDays(at: .zero).map(\.description) == ["2024-02-28: 10 steps", "2024-02-29: 4294967295 steps"])
    #expect(pedometer.today(at: .zero).description == "2024-03-01: 0 steps")
  }

  @Test("A scale of a file without a clock has no time")
  func scaleWithoutClock() {
    #expect {
      try WorldFile(
        text: "devices: [{name: d, accessory: {kind: weight-scale, hasClock: false, startTime: 2024-02-29T08:30:00}}]")
    } throws: {
      "\($0)".contains("a scale without a clock has no time")
    }
  }

  @Test("Antennas of a file count in their directions", .requirement("L073"))
  func antennas() async throws {
    let file = try WorldFile(
      text: """
        environment: {exponent: 2}
        devices:
          - {name: towards, accessory: battery, position: [10, 0], antenna: {axis: [-3, 0], frontToBackRatio: 15}}
          - {name: away, accessory: battery, position: [10, 0], antenna: {axis: [3, 0], frontToBackRatio: 15}}
          - {name: beside, accessory: battery, position: [10, 0], antenna: {axis: [0, 1], attenuations: [0, 7, 50]}}
          - {name: wire, accessory: battery, position: [10, 0], antenna: {shape: dipole, frontToBackRatio: 12}}
        clients: [{name: phone}]
        """)
    let scene = Scene(file)
    let phone = PhoneApp(scene.clients[0])
    await scene.world.run(for: .seconds(2))
    for (name, loss) in [("towards", 60.0), ("away", 75), ("beside", 67), ("wire", 72)] {
      #expect(Set(phone.sightings(of: name).map(\.level)) == [-loss], "\(name)")
    }
  }

  @Test("An antenna whose axis has no direction is refused")
  func wrongAntenna() {
    #expect {
      try WorldFile(text: "devices: [{name: d, accessory: battery, antenna: {axis: [0, 0]}}]")
    } throws: {
      "\($0)".contains("no direction")
    }
  }

  @Test("Interference in a file disturbs the band")
  func interference() async throws {
    func sightings(_ source: String) async throws -> Int {
      let file = try WorldFile(
        text: """
          interference: [\(source)]
          devices: [{name: d, accessory: battery}]
          clients: [{name: phone, position: [3, 0]}]
          """)
      let scene = Scene(file)
      let phone = PhoneApp(scene.clients[0])
      await scene.world.run(for: .seconds(5))
      return phone.sightings.count
    }
    #expect(try await sightings("") > 30)
    #expect(try await sightings("{kind: jammer, channels: [0, 12, 39], position: [3, 1]}") == 0)
  }

  @Test(
    "Equal files and seeds give equal captures, and another seed another capture", arguments: ExampleWorlds.names)
  func determinism(name: String) async throws {
    let file = try example(name)
    func capture(seed: UInt64) async throws -> Data {
      let folder = try TemporaryFolder()
      defer { folder.remove() }
      let url = URL(fileURLWithPath: folder.file("air.pcapng"))
      let scene = Scene(file, seed: seed, capture: try Capture(path: url.path))
      let world = scene.world
      let phone = PhoneApp(scene.clients.first ?? world.makeDevice(named: "phone", at: Position(x: 1)))
      await world.run(for: .seconds(10))
      withExtendedLifetime(phone) {}
      try world.finishCapture()
      return try Data(contentsOf: url)
    }
    let first = try await capture(seed: 5)
    #expect(first.count > 10_000)
    #expect(try await capture(seed: 5) == first)
    #expect(try await capture(seed: 6) != first)
  }

  @Test("Every kind of accessory can be found under its name in the world")
  func kinds() async throws {
    let kinds = ObjectShape.accessoryKinds.filter(\.needsNothing).map(\.name)
    let devices = kinds.enumerated().map { "- {name: \"\($1)\", accessory: \($1), position: [\($0), 0]}" }
    let scene = Scene(
      try WorldFile(text: "clients: [{name: phone}]\ndevices:\n" + devices.joined(separator: "\n")))
    let phone = PhoneApp(scene.clients[0])
    await scene.world.run(for: .seconds(3))
    #expect(Set(phone.sightings.compactMap(\.name)) == Set(kinds))
    #expect(kinds.count == 21)
  }

  @Test("A place beyond the places of the file changes nothing")
  func noPlace() throws {
    let file = try WorldFile(text: "clients: [{name: a}]")
    let world = World(seed: 1)
    var population = file.populate(world)
    population.place(1, for: world.makeDevice(named: "b", at: .origin))
    #expect(population["a"] == nil)
    #expect(population["b"] == nil)
  }
}

extension World {
  /// Runs the world until it has accepted all requests.
  fileprivate func runUntilIdleBriefly() { run(for: .milliseconds(1)) }
}
