import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import Requirements
import TestSupport
import Testing

@Suite("Location sensor")
struct LocationSensorTests {
  private static let (location, navigation, controlPoint) = ("2A67", "2A68", "2A6B")

  /// A sensor with a route: 20 m to the east, and then 20 m to the north.
  private static var sensor: LocationSensor {
    // A degree has 111,195 m; at 60° of latitude a degree of longitude has half of that.
    let step = 20 / 111_195.0
    let route = NavigationRoute(
      "Home",
      waypoints: [
        GeographicPosition(latitude: 60, longitude: 10 + 2 * step),
        GeographicPosition(latitude: 60 + step, longitude: 10 + 2 * step),
      ])
    return LocationSensor(
      position: GeographicPosition(latitude: 60, longitude: 10), speed: 5, heading: 0, elevation: 519, routes: [route])
  }

  private func meet(
    _ sensor: LocationSensor = sensor, subscribing uuids: [String] = [controlPoint]
  ) async throws -> Encounter<LocationSensor> {
    let meeting = Encounter(sensor)
    try #require(await meeting.prepare(subscribing: uuids))
    return meeting
  }

  @Test(
    "A location sensor notifies speed, distance, position, elevation and heading in 20 octets, and its quality",
    .requirement("L190"))
  func locations() async throws {
    let meeting = try await meet(subscribing: [Self.location])
    meeting.app.read("2A6A")
    meeting.app.read("2A69")
    await meeting.world.run(for: .milliseconds(3_500))
    let values = try meeting.app.values(of: Self.location).map { octets in
      #expect(octets.count == 20)
      return try LocationAndSpeed(octets)
    }
    let (first, last) = (try #require(values.first), try #require(values.last))
    #expect(last.speed?.value == 5 && last.heading?.value == 0 && last.elevation?.value == 519)
    #expect(last.positionStatus == .positionOK)
    let seconds = Double(values.count - 1)
    let distance = try #require(last.totalDistance?.value) - (try #require(first.totalDistance?.value))
    #expect(abs(distance - 5 * seconds) < 0.2)
    // To the north: 5 m are 4.4966 · 10⁻⁵°.
    let latitude = Double(
      try #require(last.position).latitude.rawValue - (try #require(first.position).latitude.rawValue))
    #expect(abs(latitude - 449.66 * seconds) < 2)
    #expect(last.position?.longitude == first.position?.longitude)
    let quality = try PositionQuality(try #require(meeting.app.values(of: "2A69").first))
    #expect(quality.beaconsInSolution == 8 && quality.horizontalError?.value == 3)
    let feature = try LNFeature(try #require(meeting.app.values(of: "2A6A").first))
    #expect(feature.isSuperset(of: [.location, .contentMasking, .fixRateSetting]) && !feature.contains(.utcTime))
  }

  @Test("A location sensor that knows the time sends it with each position")
  func time() async throws {
    var sensor = Self.sensor
    sensor.startTime = DateTime(year: 2024, month: 12, day: 31, hours: 23, minutes: 59, seconds: 59)
    let meeting = try await meet(sensor, subscribing: [Self.location])
    await meeting.world.run(for: .seconds(2))
    let value = try LocationAndSpeed(try #require(meeting.app.values(of: Self.location).last))
    #expect("\(try #require(value.utcTime))".hasPrefix("2025-01-01 00:00:0"))
  }

  @Test(
    "A location sensor navigates along a route that a client has selected, and reports what it has reached",
    .requirement("L190"))
  func navigation() async throws {
    let meeting = try await meet(subscribing: [Self.navigation, Self.controlPoint])
    #expect(await meeting.command([4], to: Self.controlPoint) == .response(0x20, 4, 1, 1, 0))
    #expect(
      await meeting.command([5, 0, 0], to: Self.controlPoint) == .response(0x20, 5, 1, 0x48, 0x6F, 0x6D, 0x65))
    #expect(await meeting.command([3, 1], to: Self.controlPoint) == .response(0x20, 3, 4), "no route is selected")
    #expect(await meeting.command([6, 1, 0], to: Self.controlPoint) == .response(0x20, 6, 3), "there is one route")
    #expect(await meeting.command([6, 0, 0], to: Self.controlPoint) == .response(0x20, 6, 1))
    for command: UInt8 in [0, 2, 3, 4] {
      #expect(await meeting.command([3, command], to: Self.controlPoint) == .response(0x20, 3, 4), "not navigating")
    }
    #expect(meeting.app.values(of: Self.navigation).isEmpty)
    // The sensor has moved to the north since it was turned on; the way to the first waypoint is longer by that.
    #expect(await meeting.command([3, 1], to: Self.controlPoint) == .response(0x20, 3, 1))
    // Bit 8 of the flags.
    func isThere() -> Bool { (meeting.app.values(of: Self.navigation).last?[1] ?? 0) & 1 == 1 }
    try #require(await meeting.world.run(until: isThere, limit: .seconds(60)))
    let end = meeting.accessory.accessory.position
    await meeting.world.run(for: .seconds(3))
    #expect(meeting.accessory.accessory.waypoint == nil)
    let values = try meeting.app.values(of: Self.navigation).map { try Navigation($0) }
    let (first, last) = (try #require(values.first), try #require(values.last))
    let distances = values.compactMap(\.remainingDistance?.value)
    #expect(distances.count == values.count && distances.last == 0)
    #expect(!first.isToDestination && last.isToDestination)
    #expect(values.filter(\.waypointReached).count == 1)
    #expect(values.filter(\.destinationReached).count == 1 && last.destinationReached)
    #expect(
      abs(end.latitude.rawValue - 600_000_000 - 1_799) <= 2 && abs(end.longitude.rawValue - 100_000_000 - 3_597) <= 2)
  }

  @Test("Navigation pauses, resumes, skips a waypoint, starts from the nearest one and stops")
  func control() async throws {
    let meeting = try await meet()
    #expect(await meeting.command([6, 0, 0], to: Self.controlPoint) == .response(0x20, 6, 1))
    #expect(await meeting.command([3, 1], to: Self.controlPoint) == .response(0x20, 3, 1))
    #expect(meeting.accessory.accessory.waypoint == 0)
    #expect(await meeting.command([3, 2], to: Self.controlPoint) == .response(0x20, 3, 1))
    #expect(await meeting.command([3, 3], to: Self.controlPoint) == .response(0x20, 3, 1))
    #expect(await meeting.command([3, 4], to: Self.controlPoint) == .response(0x20, 3, 1))
    #expect(meeting.accessory.accessory.waypoint == 1)
    #expect(await meeting.command([3, 4], to: Self.controlPoint) == .response(0x20, 3, 4), "it was the last one")
    #expect(await meeting.command([3, 0], to: Self.controlPoint) == .response(0x20, 3, 1))
    #expect(meeting.accessory.accessory.waypoint == nil)
    #expect(await meeting.command([3, 5], to: Self.controlPoint) == .response(0x20, 3, 1))
    #expect(meeting.accessory.accessory.waypoint != nil)
  }

  @Test("A client masks fields, and sets distance, elevation and the rate of fixes", .requirement("L190"))
  func settings() async throws {
    let meeting = try await meet(subscribing: [Self.location, Self.controlPoint])
    meeting.accessory.update { $0.speed = 0 }
    #expect(await meeting.command([1, 0x10, 0x27, 0], to: Self.controlPoint) == .response(0x20, 1, 1))
    #expect(
      await meeting.command([8, 0x10, 0x27, 0], to: Self.controlPoint, for: .seconds(1)) == .response(0x20, 8, 1))
    let value = try LocationAndSpeed(try #require(meeting.app.values(of: Self.location).last))
    #expect(value.totalDistance?.value == 1_000 && value.elevation?.value == 100)
    #expect(await meeting.command([2, 0x7F, 0], to: Self.controlPoint, for: .seconds(1)) == .response(0x20, 2, 1))
    // The flags alone, with the status of the position.
    #expect(meeting.app.values(of: Self.location).last == [0x80, 0])
    #expect(await meeting.command([7, 4], to: Self.controlPoint, for: .seconds(2)) == .response(0x20, 7, 1))
    let before = meeting.app.values(of: Self.location).count
    await meeting.world.run(for: .seconds(5))
    #expect((19...21).contains(meeting.app.values(of: Self.location).count - before))
  }

  @Test(
    "A location sensor reports each elevation that a client can set",
    arguments: [([0, 0, 0x80], -8_388_608), ([0xFF, 0xFF, 0x7F], 8_388_607)] as [([UInt8], Int)])
  func extremeElevation(octets: [UInt8], hundredths: Int) async throws {
    let meeting = try await meet(subscribing: [Self.location, Self.controlPoint])
    let result = await meeting.command([8] + octets, to: Self.controlPoint, for: .milliseconds(1_500))
    #expect(result == .response(0x20, 8, 1))
    let value = try LocationAndSpeed(try #require(meeting.app.values(of: Self.location).last))
    #expect(value.elevation?.rawValue == hundredths)
  }

  @Test(
    "A malformed command to a location sensor gets its response code, or the error of its length", .requirement("L190"),
    arguments: [
      ([], .rejected(0x0D)), ([1, 0], .response(0x20, 1, 3)), ([2, 0x80, 0], .response(0x20, 2, 3)),
      ([3], .response(0x20, 3, 3)), ([3, 9], .response(0x20, 3, 3)), ([4, 0], .response(0x20, 4, 3)),
      ([5, 0], .response(0x20, 5, 3)), ([5, 9, 9], .response(0x20, 5, 3)), ([7, 0], .response(0x20, 7, 3)),
      ([8, 0], .response(0x20, 8, 3)), ([9], .response(0x20, 9, 2)), ([0x20, 1, 1], .response(0x20, 0x20, 2)),
    ] as [([UInt8], CommandResult)])
  func malformed(command: [UInt8], expected: CommandResult) async throws {
    let meeting = try await meet()
    #expect(await meeting.command(command, to: Self.controlPoint) == expected)
    #expect(await meeting.command([4], to: Self.controlPoint) == .response(0x20, 4, 1, 1, 0))
    #expect(await meeting.subscribe(Self.controlPoint, false))
    #expect(await meeting.command([4], to: Self.controlPoint) == .rejected(0xFD))
  }
}
