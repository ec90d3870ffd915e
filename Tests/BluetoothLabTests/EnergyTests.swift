import BluetoothLab
import CoreBluetooth
import Requirements
import TestSupport
import Testing

@Suite("Energy")
struct EnergyTests {
  private let profile = CurrentProfile.modern

  /// Returns the average current in milliamperes of a radio that sends and listens for the given microseconds in each
  /// period and sleeps for the rest.
  private func average(sending: Double, listening: Double, period: Double) -> Double {
    let sleeping = period - sending - listening
    return
      (sending * profile.transmittingMilliamperes(at: 0) + listening * profile.receivingMilliamperes + sleeping
      * profile.sleepingMicroamperes / 1_000)
      / period
  }

  @Test("Advertising at 1 s has the calculated cost", .requirement("L207"))
  func advertising() async {
    let payload = AdvertisingPayload(fitting: [.flags(), .name("Beacon")])
    var advertising = Advertising(payload)
    advertising.schedule = [.every(.seconds(1))]
    let world = World(seed: 1)
    let beacon = world.add(Broadcaster(advertising), named: "beacon")
    await world.run(for: .seconds(600))
    let report = beacon.statistics.energy(profile)
    // Three packets: preamble, access address, header, address, data and CRC at 8 µs an octet; after each one the radio
    // waits the interframe space and 6 µs for a request. The link layer adds 5 ms on average to the interval.
    let packet = Double(8 * (1 + 4 + 2 + 6 + payload.octets.count + 3))
    let expected = average(sending: 3 * packet, listening: 3 * 156, period: 1_005_000)
    #expect(abs(report.averageMilliamperes / expected - 1) < 0.05)
    #expect(abs(report.milliampereHoursPerDay / (expected * 24) - 1) < 0.05)
    // 220 mAh, of which pulses of 4.8 mA leave 97.36 %, and self-discharge takes 2.2 in a year.
    #expect(abs(report.batteryLifeInDays / (220 * 0.9736 / (expected * 24 + 2.2 / 365)) - 1) < 0.05)
    #expect(report.share(of: .advertising) > 0.5)
    #expect(report.share(of: .scanning) == 0)
    #expect(report.warning == nil)
  }

  @Test("With 1 mAh a chip of the first generation advertises at 1 s for one to two days", .requirement("L206"))
  func onePerDay() async {
    var advertising = Advertising(AdvertisingPayload(fitting: [.flags(), .name("Beacon")]))
    advertising.schedule = [.every(.seconds(1))]
    let world = World(seed: 1)
    let beacon = world.add(Broadcaster(advertising), named: "beacon")
    await world.run(for: .seconds(600))
    let days = beacon.statistics.energy(.firstSingleMode, cell: Cell(milliampereHours: 1, peakMilliamperes: 20))
      .batteryLifeInDays
    #expect((1...2).contains(days))
  }

  @Test("A connection at 1 s with a latency of 4 has the calculated cost")
  func connection() async {
    var fob = KeyFob()
    fob.fast = nil
    fob.fastTime = .seconds(2)
    fob.slow = PreferredConnectionParameters(interval: .seconds(1), latency: 4, supervisionTimeout: .seconds(20))
    let meeting = Encounter(fob)
    #expect(await meeting.prepare())
    await meeting.world.run(for: .seconds(30))
    let before = meeting.accessory.statistics
    await meeting.world.run(for: .seconds(600))
    let report = meeting.accessory.statistics.since(before).energy(profile)
    // One event in 5 s: both clocks may be 50 ppm off, which opens the window 500 µs before the packet, and 16 µs more;
    // two empty packets of 80 µs, 150 µs apart.
    let expected = average(sending: 80, listening: 516 + 80, period: 5_000_000)
    #expect(abs(report.averageMilliamperes / expected - 1) < 0.05)
    #expect(report.share(of: .connections) > 0.2)
  }

  @Test(
    "Continuous scanning uses nearly all of a telephone's charge, and more than a coin cell delivers",
    .requirement("L005", "L072", "L208"))
  func scanning() async throws {
    let meeting = Encounter(
      IBeacon(proximityUUID: try #require(UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"))), plan: .listen)
    await meeting.world.run(for: .seconds(60))
    let report = meeting.phone.statistics.energy(.bcm4330)
    #expect(report.share(of: .scanning) > 0.99)
    #expect(abs(report.averageMilliamperes - 68) < 1)
    #expect(report.warning == "phone needs a peak current of 68.0 mA; its cell supplies at most 20.0 mA")
    let later = meeting.phone.statistics.energy(.bcm4334, cell: .telephone)
    #expect(abs(later.averageMilliamperes - 36) < 1)
    #expect(later.warning == nil)
  }

  @Test(
    "A connection at 300 ms lasts one to two years on a coin cell, with a chip of the first generation",
    .requirement("L164"))
  func coinCell() async {
    var fob = KeyFob()
    fob.fast = nil
    fob.fastTime = .seconds(2)
    fob.slow = PreferredConnectionParameters(interval: .milliseconds(300), supervisionTimeout: .seconds(6))
    var options = DeviceOptions()
    options.generation = .bluetooth40
    let meeting = Encounter(fob, options)
    #expect(await meeting.prepare())
    await meeting.world.run(for: .seconds(30))
    let before = meeting.accessory.statistics
    await meeting.world.run(for: .seconds(600))
    let statistics = meeting.accessory.statistics.since(before)
    #expect((1_990...2_010).contains(statistics.transmitted.packets))
    #expect((365...730).contains(statistics.energy(.firstSingleMode, cell: .cr2032).batteryLifeInDays))
  }

  @Test(
    "The chip of a phone draws more to receive than to transmit at 0 dBm, and scanning costs more than advertising",
    .requirement("L005"))
  func receiving() async {
    for chip in [CurrentProfile.bcm4330, .bcm4334] {
      var statistics = DeviceStatistics(name: "phone", time: .seconds(1))
      statistics.uses[.scanning] = DeviceStatistics.Use()
      statistics.uses[.scanning]?.receiving = .milliseconds(1)
      statistics.uses[.advertising] = DeviceStatistics.Use()
      statistics.uses[.advertising]?.transmitting = [0: .milliseconds(1)]
      let report = statistics.energy(chip)
      #expect(report.share(of: .scanning) > report.share(of: .advertising))
      #expect(report.peakMilliamperes == chip.receivingMilliamperes)
    }
    let world = World(seed: 1)
    var options = DeviceOptions()
    options.chip = .bcm4330
    let beacon = world.add(BatteryPack(), named: "beacon", options)
    options.position = Position(x: 1)
    let phone = world.makeDevice(named: "phone", options)
    let app = PhoneApp(on: phone, .listen)
    await world.run(for: .seconds(60))
    #expect(app.sightings.count > 0)
    // Advertising uses a few per mille of the time, scanning all of it.
    #expect(phone.statistics.energy().averageMilliamperes > 50 * beacon.statistics.energy().averageMilliamperes)
  }

  @Test("Advertising on one channel uses a third of the charge of three channels", .requirement("L090"))
  func channels() async throws {
    func charge(_ channels: Advertising.Channels) async -> Double? {
      var advertising = Advertising(AdvertisingPayload(fitting: [.name("Channels")]))
      advertising.kind = .broadcast
      advertising.channels = channels
      let world = World(seed: 1)
      let beacon = world.add(Broadcaster(advertising), named: "beacon")
      await world.run(for: .seconds(60))
      return beacon.statistics.energy(profile).milliampereSeconds[.advertising]
    }
    let (all, one) = (try #require(await charge(.all)), try #require(await charge(.channel38)))
    #expect(one > 0 && abs(all / one / 3 - 1) < 0.05)
  }

  @Test(
    "A coin cell delivers a peak of 15 mA, not of 21 mA; advertising at 1 s draws less than its load of 0.2 mA",
    .requirement("L208"))
  func coinCellPeak() async {
    var advertising = Advertising(AdvertisingPayload(fitting: [.flags(), .name("Beacon")]))
    advertising.schedule = [.every(.seconds(1))]
    let world = World(seed: 1)
    let beacon = world.add(Broadcaster(advertising), named: "beacon")
    await world.run(for: .seconds(60))
    let chip = CurrentProfile(
      receivingMilliamperes: 15, transmitting: [.init(at: 0, milliamperes: 15)], sleepingMicroamperes: 1)
    let report = beacon.statistics.energy(chip, cell: .cr2032)
    #expect(report.peakMilliamperes == 15 && report.warning == nil)
    #expect(report.averageMilliamperes > 0 && report.averageMilliamperes < 0.2)
    let first = beacon.statistics.energy(.firstSingleMode, cell: .cr2032)
    #expect(first.warning == "beacon needs a peak current of 21.0 mA; its cell supplies at most 20.0 mA")
  }

  @Test("The current is interpolated between two powers and constant beyond them", .requirement("L072"))
  func interpolation() {
    let profile = CurrentProfile(
      receivingMilliamperes: 1, transmitting: [.init(at: 0, milliamperes: 10), .init(at: -10, milliamperes: 5)],
      sleepingMicroamperes: 1)
    #expect([-20, -10, -5, 0, 10].map { profile.transmittingMilliamperes(at: $0) } == [5, 5, 7.5, 10, 10])
  }

  @Test("A cell without a load loses a hundredth of its charge a year", .requirement("L209"))
  func selfDischarge() {
    #expect(abs(Cell.cr2032.lifeInDays(atMilliamperes: 0) - 36_500) < 1)
  }

  @Test(
    "Of a CR2032, pulses of 30 mA leave 9 % less than pulses of 15 mA, as SWRA349 measured over six makers",
    .requirement("L209"))
  func pulses() {
    let cell = Cell.cr2032
    let (low, high) = (
      cell.usableMilliampereHours(atPeakMilliamperes: 15), cell.usableMilliampereHours(atPeakMilliamperes: 30)
    )
    #expect(abs(high / low - 0.91) < 0.002)
    #expect(cell.usableMilliampereHours() == 220)
    #expect(cell.usableMilliampereHours(atPeakMilliamperes: 1_000) == 0)
    #expect(Cell.twoAAA.usableMilliampereHours(atPeakMilliamperes: 30) == 1_200)
    // The same average current, drawn in higher pulses, empties the cell earlier.
    #expect(
      abs(
        cell.lifeInDays(atMilliamperes: 0.01, peakMilliamperes: 30)
          / cell.lifeInDays(atMilliamperes: 0.01, peakMilliamperes: 15) - high / low) < 1e-9)
  }

  @Test("In the cold less of a cell is usable; with each 10 °C its self-discharge doubles", .requirement("L209"))
  func temperature() {
    var cell = Cell(
      milliampereHours: 100, peakMilliamperes: 20, selfDischargePerYear: 1,
      capacityPoints: [.init(at: 20, factor: 1), .init(at: 0, factor: 0.8), .init(at: -20, factor: 0.5)])
    func usable(at temperature: Double) -> Double {
      cell.temperature = temperature
      return cell.usableMilliampereHours()
    }
    let expected = [(-40, 50), (-20, 50), (-10, 65), (0, 80), (5, 85), (20, 100), (60, 100)] as [(Double, Double)]
    for (temperature, capacity) in expected { #expect(abs(usable(at: temperature) - capacity) < 1e-9) }
    func emptyAfter(at temperature: Double) -> Double {
      cell.temperature = temperature
      return cell.lifeInDays(atMilliamperes: 0)
    }
    #expect(abs(emptyAfter(at: 20) - 36_500) < 1)
    #expect(abs(emptyAfter(at: 30) - 18_250) < 1)
    #expect(abs(emptyAfter(at: 60) - 36_500 / 16) < 1)
    // At 0 °C a quarter of the loss, from 80 % of the capacity.
    #expect(abs(emptyAfter(at: 0) - 36_500 * 4 * 0.8) < 1)
  }

  @Test("A device in the cold has a shorter battery life than the same device in a room", .requirement("L209"))
  func coldDevice() async {
    let world = World(seed: 1)
    var options = DeviceOptions()
    world.add(BatteryPack(), named: "room", options)
    options.cell.temperature = -20
    world.add(BatteryPack(), named: "cold", options)
    await world.run(for: .seconds(60))
    let reports = world.statistics.energy()
    #expect(reports[1].cell.temperature == -20)
    #expect(reports[1].batteryLifeInDays < 0.75 * reports[0].batteryLifeInDays)
  }

  @Test("A world's report has a line for each device")
  func worldReport() async {
    let meeting = Encounter(BatteryPack())
    #expect(await meeting.prepare())
    #expect(meeting.world.statistics.energy(.modern).map(\.name) == ["accessory", "phone"])
  }

  @Test("Each device uses the profile of its own chip and its own battery")
  func ownChips() async {
    let world = World(seed: 1)
    var options = DeviceOptions()
    world.add(BatteryPack(), named: "modern", options)
    options.chip = .bcm4330
    options.cell = .telephone
    world.add(BatteryPack(), named: "old", options)
    await world.run(for: .seconds(60))
    let reports = world.statistics.energy()
    #expect(reports.map(\.cell) == [.cr2032, .telephone])
    #expect(reports.map(\.peakMilliamperes) == [4.8, 68])
    #expect(reports[1].averageMilliamperes > 5 * reports[0].averageMilliamperes)
    #expect(world.statistics.energy(.modern, cell: .cr2032).map(\.peakMilliamperes) == [4.8, 4.8])
  }

  @Test("A report is one line with the shares of the radio's activities")
  func description() {
    var statistics = DeviceStatistics(name: "hub", time: .seconds(10))
    statistics.uses[.scanning] = DeviceStatistics.Use()
    statistics.uses[.scanning]?.receiving = .milliseconds(60)
    statistics.uses[.connections] = DeviceStatistics.Use()
    statistics.uses[.connections]?.receiving = .milliseconds(20)
    // 80 ms at 5 mA, and 10 µA for the rest.
    let chip = CurrentProfile(receivingMilliamperes: 5, transmitting: [], sleepingMicroamperes: 10)
    let report = statistics.energy(chip)
    #expect(
      report.description
        == "hub: 50 µA on average, 1.20 mAh a day, 178 days; advertising 0 %, scanning 60 %, connections 20 %")
  }
}
