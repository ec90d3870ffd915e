import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import TestSupport
import Testing

@Suite("Pedometer")
struct PedometerTests {
  private static let (today, hours) = (Pedometer.today.uuidString, Pedometer.hours.uuidString)
  private static let (days, control) = (Pedometer.storedDays.uuidString, Pedometer.controlPoint.uuidString)

  private func values(_ app: PhoneApp, _ uuid: String) throws -> [Pedometer.Day] {
    try app.values(of: uuid).map { try Pedometer.Day($0) }
  }

  private func date(_ month: UInt8, _ day: UInt8) throws -> Pedometer.Date {
    try #require(Pedometer.Date(year: 2024, month: month, day: day))
  }

  private func time(_ month: UInt8, _ day: UInt8, _ hours: UInt8, _ minutes: UInt8, _ seconds: UInt8 = 0) -> DateTime? {
    DateTime(year: 2024, month: month, day: day, hours: hours, minutes: minutes, seconds: seconds)
  }

  @Test("A pedometer notifies the steps of today while its wearer walks, and once to a client that subscribes")
  func live() async throws {
    let meeting = Encounter(Pedometer(cadence: 120))
    #expect(await meeting.prepare())
    meeting.app.read(Self.today)
    await meeting.world.run(for: .milliseconds(500))
    let first = try #require(try values(meeting.app, Self.today).first)
    // Two steps a second since the pedometer was turned on.
    let now = Double(meeting.world.now.components.seconds)
    #expect(try (2 * now - 3...2 * now + 2).contains(Double(first.steps)) && first.date == date(1, 1))
    #expect(await meeting.subscribe(Self.today))
    await meeting.world.run(for: .milliseconds(5_500))
    let steps = try values(meeting.app, Self.today).dropFirst().map(\.steps)
    #expect(steps.count == 5 && zip(steps, steps.dropFirst()).allSatisfy { $1 == $0 + 2 })

    meeting.accessory.update { $0.cadence = 0 }
    await meeting.world.run(for: .seconds(2))
    let count = try values(meeting.app, Self.today).count
    let rest = try values(meeting.app, Self.today).last?.steps
    await meeting.world.run(for: .seconds(10))
    #expect(try values(meeting.app, Self.today).count == count, "the wearer rests")
    #expect(await meeting.subscribe(Self.today, false))
    #expect(await meeting.subscribe(Self.today))
    await meeting.world.run(for: .seconds(10))
    #expect(try values(meeting.app, Self.today).dropFirst(count).map(\.steps) == [rest])
    meeting.accessory.update { ($0.cadence, $0.interval) = (60, .seconds(5)) }
    await meeting.world.run(for: .seconds(11))
    let last = try values(meeting.app, Self.today).suffix(2).map(\.steps)
    #expect(last.first.map { $0 + 5 } == last.last && rest.map { $0 + 10 } == last.last)
  }

  @Test("A change of the cadence counts from then on, also while no client is connected")
  func cadence() async {
    let world = World(seed: 1)
    let pedometer = world.add(Pedometer(cadence: 60), named: "pedometer")
    await world.run(for: .seconds(10))
    let start = pedometer.accessory.today(at: world.now).steps
    func walked() -> UInt32 { pedometer.accessory.today(at: world.now).steps - start }
    await world.run(for: .seconds(100))
    #expect(walked() == 100)
    pedometer.update { $0.cadence = 120 }
    await world.run(for: .seconds(100))
    #expect(walked() == 300)
    pedometer.setPower(false)
    await world.run(for: .seconds(50))
    pedometer.setPower(true)
    await world.run(for: .seconds(50))
    #expect(walked() == 500, "it counts on without its radio")
    for cadence in [-5, .nan] {
      pedometer.update { $0.cadence = cadence }
      await world.run(for: .seconds(50))
    }
    #expect(walked() == 500)
    pedometer.update { $0.cadence = .infinity }
    await world.run(for: .seconds(60))
    #expect(walked() == 1_500, "at most 1,000 steps a minute")
  }

  @Test("The number of steps does not depend on how often it is read")
  func exactCount() async throws {
    let meeting = Encounter(Pedometer(cadence: 99.7))
    let lonely = meeting.world.add(Pedometer(name: "Lonely", cadence: 99.7), named: "lonely", at: Position(x: 900))
    #expect(await meeting.prepare(subscribing: [Self.today]))
    meeting.accessory.update { $0.interval = .milliseconds(70) }
    for _ in 0..<20 {
      await meeting.world.run(for: .milliseconds(977))
      meeting.app.read(Self.today)
    }
    let now = meeting.world.now
    #expect(meeting.accessory.accessory.today(at: now) == lonely.accessory.today(at: now))
    let (early, late) = (lonely.accessory.today(at: .seconds(600)), lonely.accessory.today(at: .seconds(1_200)))
    #expect(late.steps - early.steps == 997)
  }

  @Test("At midnight the count begins again, subscribers hear of it at once, and the day is stored with its steps")
  func midnight() async throws {
    var pedometer = Pedometer(cadence: 60, startTime: time(2, 28, 23, 59, 30), pastDays: [11, 12])
    pedometer.interval = .seconds(3_600)
    let meeting = Encounter(pedometer)
    #expect(await meeting.prepare(subscribing: [Self.today]))
    #expect(meeting.world.now < .seconds(29))
    await meeting.world.run(for: .milliseconds(29_900) - meeting.world.now)
    #expect(try values(meeting.app, Self.today).isEmpty)
    await meeting.world.run(for: .milliseconds(200))
    #expect(try values(meeting.app, Self.today) == [Pedometer.Day(date(2, 29), steps: 0)])
    await meeting.world.run(for: .seconds(70) - meeting.world.now)
    let accessory = meeting.accessory.accessory
    #expect(accessory.today(at: .seconds(70)) == Pedometer.Day(try date(2, 29), steps: 40))
    let stored = try [(26, 11), (27, 12), (28, 30)].map { Pedometer.Day(try date(2, $0), steps: $1) }
    #expect(accessory.storedDays(at: .seconds(70)) == stored)
    // Two more days, of which the first is a leap day.
    let later = accessory.storedDays(at: .seconds(30 + 2 * 86_400))
    #expect(later.dropFirst(3).map(\.description) == ["2024-02-29: 86400 steps", "2024-03-01: 86400 steps"])
  }

  @Test("The steps of each hour are one long value, whose sum is the count of today")
  func hours() async throws {
    let meeting = Encounter(Pedometer(cadence: 60, startTime: time(5, 6, 7, 59, 0)))
    #expect(await meeting.prepare())
    await meeting.world.run(for: .seconds(90) - meeting.world.now)
    meeting.app.read(Self.hours)
    await meeting.world.run(for: .seconds(1))
    let octets = try #require(meeting.app.values(of: Self.hours).last)
    let steps = try Pedometer.Hours(octets).steps
    #expect(octets.count == 48 && steps[7] == 60 && (29...32).contains(steps[8]))
    #expect(steps.enumerated().allSatisfy { [7, 8].contains($0.offset) || $0.element == 0 })
  }

  @Test("An app collects the stored days from a date on, the oldest first, and then gets their number")
  func collecting() async throws {
    var pedometer = Pedometer(startTime: time(3, 3, 12, 0), pastDays: [100, 200, 300, 400, 500])
    pedometer.capacity = 4
    let meeting = Encounter(pedometer)
    #expect(await meeting.prepare(subscribing: [Self.days, Self.control]))
    meeting.app.write([1], to: Self.control, .withResponse)
    #expect(await meeting.world.run(until: { !meeting.app.values(of: Self.control).isEmpty }, limit: .seconds(5)))
    let expected = try [(2, 28, 200), (2, 29, 300), (3, 1, 400), (3, 2, 500)].map {
      Pedometer.Day(try date($0, $1), steps: $2)
    }
    #expect(try values(meeting.app, Self.days) == expected, "all days precede the response")
    #expect(meeting.app.values(of: Self.control) == [[0x80, 1, 1, 4, 0]])

    let cases: [(Pedometer.Date, Int)] = [
      (try date(3, 1), 2), (try date(3, 3), 0), (try date(2, 1), 4),
      (try #require(Pedometer.Date(year: 2023, month: 12, day: 31)), 4),
    ]
    for (since, count) in cases {
      let before = try values(meeting.app, Self.days).count
      let command = Pedometer.Control.reportDays(since: since).octets
      #expect(await meeting.command(command, to: Self.control) == .response(0x80, 1, 1, UInt8(count), 0), "\(since)")
      #expect(try values(meeting.app, Self.days).dropFirst(before) == expected.suffix(count), "\(since)")
    }
  }

  @Test(
    "A malformed command to a pedometer gets its response, or the error of its length",
    arguments: [
      ([], .rejected(0x0D)), ([0], .response(0x80, 0, 2, 0, 0)), ([2], .response(0x80, 2, 2, 0, 0)),
      ([1, 0xE8], .response(0x80, 1, 3, 0, 0)), ([1, 0xE8, 7, 1, 1, 0], .response(0x80, 1, 3, 0, 0)),
      ([1, 0xE8, 7, 13, 1], .response(0x80, 1, 3, 0, 0)), ([1, 0xE8, 7, 1, 32], .response(0x80, 1, 3, 0, 0)),
      ([1, 0, 0, 1, 1], .response(0x80, 1, 3, 0, 0)), ([0x80, 1, 1, 0, 0], .response(0x80, 0x80, 2, 0, 0)),
    ] as [([UInt8], CommandResult)])
  func malformed(command: [UInt8], expected: CommandResult) async throws {
    let meeting = Encounter(Pedometer(pastDays: [1]))
    #expect(await meeting.prepare(subscribing: [Self.days, Self.control]))
    #expect(await meeting.command(command, to: Self.control) == expected)
    // The pedometer is ready for the next command.
    #expect(await meeting.command([1], to: Self.control) == .response(0x80, 1, 1, 1, 0))
  }

  @Test("A report needs both subscriptions, excludes another one, and ends with the subscription or the link")
  func procedures() async throws {
    var pedometer = Pedometer(pastDays: Array(1...5_000))
    pedometer.capacity = 5_000
    let meeting = Encounter(pedometer)
    #expect(await meeting.prepare())
    #expect(await meeting.command([1], to: Self.control) == .rejected(0xFD))
    #expect(await meeting.subscribe(Self.control))
    #expect(await meeting.command([1], to: Self.control) == .rejected(0xFD))
    #expect(await meeting.subscribe(Self.days))
    func begin() async throws -> Int {
      let before = meeting.app.values(of: Self.days).count
      meeting.app.write([1], to: Self.control, .withResponse)
      try #require(
        await meeting.world.run(until: { meeting.app.values(of: Self.days).count > before + 5 }, limit: .seconds(5)))
      return before
    }
    let start = try await begin()
    #expect(await meeting.command([1], to: Self.control, for: .zero) == .rejected(0xFE))
    #expect(await meeting.subscribe(Self.days, false))
    await meeting.world.run(for: .seconds(1))
    #expect(meeting.app.values(of: Self.control) == [[0x80, 1, 4, 0, 0]])
    let count = meeting.app.values(of: Self.days).count
    #expect(count - start < 5_000)
    #expect(try values(meeting.app, Self.days).map(\.steps) == (1...UInt32(count)).map { $0 }, "none is left out")

    #expect(await meeting.subscribe(Self.days))
    _ = try await begin()
    meeting.accessory.act { _, context in context.disconnect() }
    #expect(await meeting.world.run(until: { meeting.app.has(.disconnected) }, limit: .seconds(5)))
    let tablet = PhoneApp(on: meeting.world.makeDevice(named: "tablet", at: Position(x: 1)))
    #expect(await meeting.world.run(until: { tablet.isReady }, limit: .seconds(20)))
    tablet.subscribe(Self.days)
    tablet.subscribe(Self.control)
    await meeting.world.run(for: .seconds(1))
    let last = Pedometer.Control.reportDays(since: Pedometer.Date(year: 2023, month: 12, day: 31)).octets
    #expect(await tablet.command(last, to: Self.control, in: meeting.world) == .response(0x80, 1, 1, 1, 0))
    #expect(try values(tablet, Self.days).map(\.steps) == [5_000])
  }

  @Test("The values of a pedometer are rebuilt from their octets, and malformed octets are errors")
  func octets() throws {
    let day = Pedometer.Day(try date(2, 29), steps: 70_000)
    #expect(day.octets == [0xE8, 7, 2, 29, 0x70, 0x11, 1, 0])
    #expect(try Pedometer.Day(day.octets) == day)
    #expect(throws: ValueError.tooShort) { try Pedometer.Day(day.octets.dropLast()) }
    #expect(throws: ValueError.tooLong) { try Pedometer.Day(day.octets + [0]) }
    #expect(throws: ValueError.outOfRange(field: "Date")) { try Pedometer.Date([0xE8, 7, 0, 1]) }
    let hours = try #require(Pedometer.Hours(steps: Array(300..<324)))
    #expect(try Pedometer.Hours(hours.octets) == hours && hours.octets.count == 48)
    #expect(Pedometer.Hours(steps: [1]) == nil)
    let controls: [Pedometer.Control] = [
      .reportDays(since: nil), .reportDays(since: day.date), .response(to: 1, .notCompleted, days: 258),
    ]
    for control in controls { #expect(try Pedometer.Control(control.octets) == control) }
    #expect(throws: ValueError.outOfRange(field: "Op Code")) { try Pedometer.Control([9]) }
    #expect(throws: ValueError.outOfRange(field: "Result")) { try Pedometer.Control([0x80, 1, 9, 0, 0]) }
  }
}

extension Characteristic {
  fileprivate var uuidString: String { path.characteristic.description }
}
