import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import Requirements
import TestSupport
import Testing

@Suite("Weight scale")
struct WeightScaleTests {
  private static let (feature, measurement) = ("2A9E", "2A9D")

  private func measurements(_ app: PhoneApp) throws -> [WeightMeasurement] {
    try app.values(of: Self.measurement).map { try WeightMeasurement($0) }
  }

  /// The weights that an app has received, in kilograms; nil for an unsuccessful measurement.
  private func weights(_ app: PhoneApp) throws -> [Double?] { try measurements(app).map(\.kilograms) }

  private func stepOn(_ meeting: Encounter<WeightScale>, _ weight: Double, userID: UInt8? = nil) {
    meeting.accessory.act { scale, context in
      scale.stepOn(WeightScale.Person(weight: weight, userID: userID), in: &context)
    }
  }

  /// Weighs persons one after the other.
  private func weigh(_ meeting: Encounter<WeightScale>, _ weights: Double...) async {
    for weight in weights {
      stepOn(meeting, weight)
      await meeting.world.run(for: .seconds(3))
      meeting.accessory.act { scale, context in scale.stepOff(in: &context) }
    }
    await meeting.world.run(for: .milliseconds(100))
  }

  @Test(
    "A person on a scale is weighed once after the settling time, with the time, the user and the body mass index",
    .requirement("L218"))
  func weighing() async throws {
    let meeting = Encounter(WeightScale(startTime: DateTime(year: 2024, month: 2, day: 29, hours: 23)))
    #expect(await meeting.prepare(subscribing: [Self.measurement]))
    #expect(meeting.app.peripheral?.name == "Weight Scale")
    meeting.accessory.act { scale, context in
      scale.stepOn(WeightScale.Person(weight: 72.43, userID: 4, height: 1.784), in: &context)
    }
    await meeting.world.run(for: .milliseconds(1_900))
    #expect(meeting.app.values(of: Self.measurement).isEmpty && meeting.accessory.accessory.person?.userID == 4)
    await meeting.world.run(for: .milliseconds(100))
    let seconds = meeting.world.now.components.seconds
    await meeting.world.run(for: .seconds(20))
    let value = try #require(try measurements(meeting.app).first)
    #expect(try measurements(meeting.app).count == 1)
    #expect(value.weight?.description == "72.45" && value.units == .international && value.userID == 4)
    #expect(value.body?.bodyMassIndex.description == "22.8 kg/m²" && value.height?.description == "1.78")
    #expect(
      value.timeStamp == DateTime(year: 2024, month: 2, day: 29, hours: 23, seconds: UInt8(clamping: seconds)))
    meeting.app.read(Self.feature)
    await meeting.world.run(for: .milliseconds(300))
    #expect(meeting.app.values(of: Self.feature) == [[0xA7, 0, 0, 0]])
  }

  @Test("A scale reports pounds and inches, and leaves out what it does not know")
  func imperial() async throws {
    var scale = WeightScale(startTime: nil)
    (scale.units, scale.distinguishesUsers, scale.settlingTime) = (.imperial, false, .milliseconds(500))
    let meeting = Encounter(scale)
    #expect(await meeting.prepare(subscribing: [Self.measurement]))
    meeting.app.read(Self.feature)
    for height in [1.784, nil, 0] {
      meeting.accessory.act { scale, context in
        scale.stepOn(WeightScale.Person(weight: 72.43, userID: 4, height: height), in: &context)
      }
      await meeting.world.run(for: .seconds(1))
    }
    // 159.7 lb; 22.8 kg/m² and 70 in.
    #expect(
      meeting.app.values(of: Self.measurement) == [
        [0x09, 0x62, 0x3E, 0xE4, 0, 0xBC, 0x02], [0x01, 0x62, 0x3E], [0x01, 0x62, 0x3E],
      ])
    #expect(meeting.app.values(of: Self.feature) == [[0xA4, 0, 0, 0]])
  }

  @Test(
    "A measurement is unsuccessful if the person leaves early, makes room for another one, or is too heavy",
    .requirement("L218"))
  func unsuccessful() async throws {
    let meeting = Encounter(WeightScale())
    #expect(await meeting.prepare(subscribing: [Self.measurement]))
    func act(_ body: @escaping @Sendable (inout WeightScale, inout AccessoryContext) -> Void) async {
      meeting.accessory.act(body)
      await meeting.world.run(for: .seconds(1))
    }
    await act { $0.stepOn(WeightScale.Person(weight: 60, userID: 1, height: 1.7), in: &$1) }
    await act { $0.stepOff(in: &$1) }
    await act { $0.stepOff(in: &$1) }
    await act { $0.stepOn(WeightScale.Person(weight: 61, userID: 2, height: 1.7), in: &$1) }
    await act { $0.stepOn(WeightScale.Person(weight: 62, userID: 3, height: 1.7), in: &$1) }
    await meeting.world.run(for: .seconds(3))
    await act { $0.stepOn(WeightScale.Person(weight: 400, height: 1.7), in: &$1) }
    await meeting.world.run(for: .seconds(3))
    let values = try measurements(meeting.app)
    #expect(values.map(\.kilograms) == [nil, nil, 62, nil])
    #expect(values.map(\.userID) == [1, 2, 3, 255])
    #expect(values.map { $0.body != nil } == [false, false, true, false])
    #expect(values.allSatisfy { $0.timeStamp != nil })
  }

  @Test(
    "Stored measurements come before new ones, the oldest first, and each is kept until it is confirmed",
    .requirement("L218"))
  func storedMeasurements() async throws {
    let meeting = Encounter(WeightScale())
    #expect(await meeting.prepare())
    await weigh(meeting, 60, 61, 62)
    #expect(meeting.accessory.accessory.stored.map(\.kilograms) == [60, 61, 62])
    #expect(meeting.app.values(of: Self.measurement).isEmpty, "no client has subscribed")
    // The new measurement is ready while the stored ones are sent.
    stepOn(meeting, 63)
    await meeting.world.run(for: .milliseconds(1_950))
    meeting.app.subscribe(Self.measurement)
    var counts: Set<Int> = []
    // Each millisecond of two seconds.
    for _ in 0..<2_000 {
      await meeting.world.run(for: .milliseconds(1))
      let received = meeting.app.values(of: Self.measurement).count
      let stored = meeting.accessory.accessory.stored
      let all = stored.last?.kilograms == 63 || received == 4 ? 4 : 3
      #expect(all - stored.count <= received, "a measurement is removed before the client has it")
      #expect(received <= all - stored.count + 1, "a measurement is sent before the one before is confirmed")
      counts.insert(stored.count)
    }
    #expect(try weights(meeting.app) == [60, 61, 62, 63])
    #expect(counts.isSuperset(of: [0, 1, 2, 3]))
    let times = try measurements(meeting.app).compactMap { $0.timeStamp?.description }
    #expect(times == times.sorted() && Set(times).count == 4)
  }

  /// A scale that measures and sends before a link is lost whose client has gone.
  private static var fast: WeightScale {
    var scale = WeightScale()
    scale.settlingTime = .milliseconds(100)
    return scale
  }

  @Test(
    "A measurement that the client has not confirmed is sent again on the next link, and a confirmed one is not",
    .requirement("L218"))
  func lostConfirmation() async throws {
    var plan = PhoneApp.Plan.explore
    plan.reconnects = true
    let meeting = Encounter(Self.fast, plan: plan)
    #expect(await meeting.prepare(subscribing: [Self.measurement]))
    await weigh(meeting, 60)
    #expect(try weights(meeting.app) == [60] && meeting.accessory.accessory.stored.isEmpty)
    meeting.phone.move(to: Position(x: 5_000))
    await weigh(meeting, 61)
    #expect(await meeting.world.run(until: { meeting.app.has(.disconnected) }, limit: .seconds(30)))
    await weigh(meeting, 62)
    #expect(meeting.accessory.accessory.stored.map(\.kilograms) == [61, 62])
    meeting.phone.move(to: Position(x: 2))
    let before = meeting.app.events.count
    #expect(
      await meeting.world.run(until: { meeting.app.events.dropFirst(before).contains(.ready) }, limit: .seconds(30)))
    #expect(await meeting.subscribe(Self.measurement))
    await meeting.world.run(for: .seconds(1))
    #expect(try weights(meeting.app) == [60, 61, 62])
    #expect(meeting.accessory.accessory.stored.isEmpty)
  }

  @Test("Each subscribed client gets a measurement, and one that has gone does not keep the next one from the other")
  func twoClients() async throws {
    let meeting = Encounter(Self.fast)
    #expect(await meeting.prepare(subscribing: [Self.measurement]))
    meeting.accessory.act { accessory, context in context.advertise(accessory.advertising) }
    let tablet = meeting.world.makeDevice(named: "tablet", at: Position(x: 1))
    let other = PhoneApp(on: tablet)
    #expect(await meeting.world.run(until: { other.isReady }, limit: .seconds(20)))
    other.subscribe(Self.measurement)
    await meeting.world.run(for: .seconds(1))
    await weigh(meeting, 60)
    #expect(try weights(meeting.app) == [60] && (try weights(other)) == [60])
    tablet.move(to: Position(x: 5_000))
    await weigh(meeting, 61, 62)
    // The tablet has confirmed nothing since, and its link is lost in the end.
    await meeting.world.run(for: .seconds(30))
    #expect(try weights(meeting.app) == [60, 61, 62] && (try weights(other)) == [60])
    #expect(meeting.accessory.accessory.stored.isEmpty)
    #expect(await meeting.subscribe(Self.measurement, false))
    await weigh(meeting, 63)
    #expect(meeting.accessory.accessory.stored.map(\.kilograms) == [63])
  }

  @Test("A full scale forgets its oldest measurements, and a scale without a clock stores none")
  func capacity() async throws {
    var scale = WeightScale()
    scale.capacity = 2
    let meeting = Encounter(scale)
    #expect(await meeting.prepare())
    await weigh(meeting, 60, 61, 62)
    #expect(meeting.accessory.accessory.stored.map(\.kilograms) == [61, 62])
    #expect(await meeting.subscribe(Self.measurement))
    await weigh(meeting, 63)
    #expect(try weights(meeting.app) == [61, 62, 63])

    var clockless = Self.fast
    clockless.startTime = nil
    let simple = Encounter(clockless)
    #expect(await simple.prepare())
    await weigh(simple, 60)
    #expect(simple.accessory.accessory.stored.isEmpty)
    #expect(await simple.subscribe(Self.measurement))
    await weigh(simple, 61)
    #expect(try weights(simple.app) == [61] && (try measurements(simple.app)).allSatisfy { $0.timeStamp == nil })
    // A link that is lost before the confirmation loses the measurement.
    simple.phone.move(to: Position(x: 5_000))
    await weigh(simple, 62)
    #expect(await simple.world.run(until: { simple.app.has(.disconnected) }, limit: .seconds(30)))
    #expect(simple.accessory.accessory.stored.isEmpty)
  }

  @Test("Scheduled weighings take place at their times, in order, each for its duration")
  func scheduled() async throws {
    var scale = WeightScale(startTime: DateTime(year: 2024, month: 1, day: 1))
    func weighing(_ time: Int, _ weight: Double, _ duration: Duration) -> WeightScale.ScheduledWeighing {
      WeightScale.ScheduledWeighing(at: .seconds(time), WeightScale.Person(weight: weight), for: duration)
    }
    scale.scheduledWeighings = [
      weighing(20, 63, .seconds(5)), weighing(10, 61, .seconds(1)), weighing(0, 60, .seconds(5)),
      weighing(15, 62, .seconds(5)),
    ]
    let meeting = Encounter(scale)
    func second(_ seconds: UInt8) -> DateTime? { DateTime(year: 2024, month: 1, day: 1, seconds: seconds) }
    await meeting.world.run(for: .seconds(4))
    #expect(meeting.accessory.accessory.person?.weight == 60)
    await meeting.world.run(for: .seconds(2))
    #expect(meeting.accessory.accessory.person == nil)
    await meeting.world.run(for: .seconds(20))
    let stored = meeting.accessory.accessory.stored
    #expect(stored.map(\.kilograms) == [60, nil, 62, 63])
    #expect(stored.map(\.timeStamp) == [second(2), second(11), second(17), second(22)])
    #expect(meeting.accessory.accessory.person == nil)
    // Off and on: the stored measurements stay, and the schedule begins again.
    meeting.accessory.setPower(false)
    await meeting.world.run(for: .seconds(1))
    meeting.accessory.setPower(true)
    await meeting.world.run(for: .seconds(3))
    #expect(meeting.accessory.accessory.stored.map(\.kilograms) == [60, nil, 62, 63, 60])
  }
}
