import BluetoothProfiles
import BluetoothWire

/// A pedometer in a pocket, with a custom service, Battery and Device Information. It counts the steps of today, and
/// stores those of past days until an app comes near and collects them.
///
/// An app subscribes to `today`, which is notified once and then while the wearer walks, and reads the steps of each hour from `hours`.
/// For the past days it subscribes to `storedDays` and to `controlPoint`, and writes the first date that it does not
/// have, in `Control.reportDays(since:)`. The pedometer notifies the days one after the other, the oldest first, and
/// indicates the response. It keeps the days, so that several apps can collect them.
///
/// ```swift
/// let world = World(seed: 1)
/// let pedometer = world.add(Pedometer(cadence: 110), named: "pedometer")
/// pedometer.update { $0.cadence = 0 }
/// ```
public struct Pedometer: Accessory {
  /// The UUID of the pedometer's service.
  public static let service: BluetoothUUID = "C0A2144D-18C8-437F-85A6-7A0F19B1C300"
  /// The date and the steps of today, readable and notified.
  public static let today = Characteristic<Day>("C0A2144D-18C8-437F-85A6-7A0F19B1C301", of: service)
  /// The steps of each hour of today, readable. The value is longer than the smallest ATT_MTU.
  public static let hours = Characteristic<Hours>("C0A2144D-18C8-437F-85A6-7A0F19B1C302", of: service)
  /// The stored days, notified for a command of the control point.
  public static let storedDays = Characteristic<Day>("C0A2144D-18C8-437F-85A6-7A0F19B1C303", of: service)
  /// The control point: it reports the stored days.
  public static let controlPoint = Characteristic<Control>("C0A2144D-18C8-437F-85A6-7A0F19B1C304", of: service)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The steps per minute of the wearer, 0 to 1,000; 0 while the wearer rests.
  public var cadence: Double
  /// The time between two notifications of `today` while a client is subscribed and the steps change.
  public var interval = Duration.seconds(1)
  /// The number of past days that are stored. A further one replaces the oldest.
  public var capacity = 30
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service.
  public var information = DeviceInformation(model: "Pedometer")
  private let startDay: Int
  /// The time of the day at the world's time 0, in nanoseconds.
  private let startNanoseconds: Int64
  /// The steps of the days before the start.
  private let pastDays: [UInt32]
  private var counter: StepCounter
  /// The world's time until which steps have been counted; nil before the pedometer has been turned on.
  private var countedTime: Duration?
  /// The cadence with which steps are counted from `countedTime` on.
  private var countedCadence: Double
  private var timers = AccessoryTimers<Purpose>()
  private var control = ControlPoint(Self.controlPoint)
  /// The days that are being reported; nil if no procedure is in progress.
  private var report: (days: ArraySlice<Day>, count: UInt16)?

  /// The value of `today` that has been notified last; nil if a client has subscribed since.
  private var notifiedDay: Day?

  private enum Purpose { case notification, midnight }

  /// Creates a pedometer.
  ///
  /// - Parameters:
  ///   - name: the advertised name.
  ///   - cadence: the steps per minute of the wearer.
  ///   - startTime: the local time at the world's time 0; 2024-01-01 by default, also for a time without a date.
  ///   - pastDays: the steps of the days before the pedometer is turned on, the oldest first.
  public init(
    name: String = "Pedometer", cadence: Double = 100, startTime: DateTime? = nil, pastDays: [UInt32] = []
  ) {
    self.name = name
    self.cadence = cadence
    countedCadence = cadence
    // 19,723 days after 1970-01-01 is 2024-01-01.
    let seconds = startTime?.secondsSince1970 ?? 19_723 * 86_400
    startDay = seconds / 86_400
    startNanoseconds = Int64(seconds % 86_400) * 1_000_000_000
    self.pastDays = pastDays
    counter = StepCounter(day: startDay, nanoseconds: startNanoseconds, pastDays: pastDays)
  }

  // MARK: Counting

  /// Returns the counter at a time of the world.
  private func counter(at now: Duration) -> StepCounter {
    var counter = counter
    guard let countedTime else { return counter }
    counter.walk(for: TimeSpan(now - countedTime).nanoseconds, cadence: countedCadence, capacity: capacity)
    return counter
  }

  /// Counts the steps until now.
  private mutating func count(until now: Duration) {
    counter = counter(at: now)
    countedTime = now
    countedCadence = cadence
  }

  private static func day(_ counter: StepCounter) -> Day {
    Day(Date(daysSince1970: counter.today), steps: counter.stepsToday)
  }

  /// Returns the date and the steps of the day at a time of the world, such as `World.now`. Before the pedometer has been
  /// turned on it counts nothing.
  public func today(at time: Duration) -> Day { Self.day(counter(at: time)) }

  /// Returns the past days that are stored at a time of the world, the oldest first.
  public func storedDays(at time: Duration) -> [Day] { counter(at: time).days }

  // MARK: Services

  /// Connectable advertising with Flags and the service UUID; the scan response has the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(fitting: [.flags()] + ADStructure.serviceLists([Self.service])),
      scanResponse: AdvertisingPayload(fitting: [.name(name)]), schedule: advertisingSchedule)
  }

  /// On-Hip Running Walking Sensor.
  public var appearance: Appearance { Appearance(rawValue: 0x0443) }

  /// The pedometer's service, Battery and Device Information.
  public var services: [AccessoryService<Self>] {
    var today: AccessoryCharacteristic<Self> = AccessoryCharacteristic(
      Self.today, [.read, .notify], value: { Self.day($0.counter) })
    today.readAtTime = { pedometer, time in pedometer.today(at: time).octets }
    var hours: AccessoryCharacteristic<Self> = AccessoryCharacteristic(
      Self.hours, .read, value: { Hours($0.counter) })
    hours.readAtTime = { pedometer, time in Hours(pedometer.counter(at: time)).octets }
    return [
      AccessoryService(
        Self.service,
        [
          today, hours,
          // The days are sent to one client at a time, so there is no current value.
          AccessoryCharacteristic(octetsOf: Self.storedDays.path, .notify),
          AccessoryCharacteristic(
            controlPoint: Self.controlPoint, \.control,
            command: { (pedometer, octets, context) throws(ATTErrorCode) in
              try pedometer.perform(octets, in: &context)
            },
            cancelled: { pedometer, _ in pedometer.report = nil }),
        ]),
      .battery(level: \.batteryLevel),
      .deviceInformation(information),
    ]
  }

  // MARK: Control point

  /// Begins the report of stored days, or returns the response to a malformed command.
  private mutating func perform(
    _ octets: [UInt8], in context: inout AccessoryContext
  ) throws(ATTErrorCode) -> Control? {
    func respond(_ result: Control.Result) -> Control { .response(to: octets[0], result, days: 0) }
    guard octets[0] == Control.reportOpCode else { return respond(.opCodeNotSupported) }
    guard case .reportDays(since: let date)? = try? Control(octets) else { return respond(.invalidParameter) }
    guard let client = control.client, context.isSubscribed(client, to: Self.storedDays) else {
      throw ControlPointErrors.common.notSubscribed
    }
    count(until: context.now)
    let selected = counter.days.filter { day in date.map { day.date >= $0 } ?? true }
    report = (selected[...], UInt16(clamping: selected.count))
    reportNext(in: &context)
    return nil
  }

  /// Reports the next day, or responds after the last one.
  private mutating func reportNext(in context: inout AccessoryContext) {
    guard let client = control.client, let report else { return }
    guard let day = report.days.first else { return end(.success, days: report.count, in: &context) }
    self.report?.days.removeFirst()
    context.send(day, of: Self.storedDays, to: client)
  }

  private mutating func end(_ result: Control.Result, days: UInt16, in context: inout AccessoryContext) {
    report = nil
    control.respond(.response(to: Control.reportOpCode, result, days: days), in: &context)
  }

  /// Reports the next day when the latest one has been sent.
  public mutating func valueSent(of characteristic: CharacteristicPath, in context: inout AccessoryContext) {
    guard characteristic == Self.storedDays.path, context.client == control.client else { return }
    reportNext(in: &context)
  }

  // MARK: Behaviour

  /// Schedules the next notification while a client is subscribed, and the end of the day.
  private mutating func schedule(in context: inout AccessoryContext) {
    timers.run(.notification, every: interval, while: context.hasSubscribers(Self.today), in: &context)
    timers.set(.midnight, after: .nanoseconds(counter.untilMidnight), in: &context)
  }

  /// Starts counting when the pedometer is turned on the first time. While its radio is off it counts on.
  public mutating func started(in context: inout AccessoryContext) {
    if countedTime == nil {
      counter = StepCounter(
        day: startDay, nanoseconds: startNanoseconds + TimeSpan(context.now).nanoseconds, pastDays: pastDays)
    }
    count(until: context.now)
    timers = AccessoryTimers()
    schedule(in: &context)
  }

  /// Notifies today's steps while a client is subscribed. Responds that a report has not been completed if its client has
  /// unsubscribed from the days.
  public mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext
  ) {
    if !isOn, characteristic == Self.storedDays.path, context.client == control.client, report != nil {
      end(.notCompleted, days: 0, in: &context)
    }
    if isOn, characteristic == Self.today.path { notifiedDay = nil }
    count(until: context.now)
    schedule(in: &context)
  }

  /// Stops the notifications when no subscription is left.
  public mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {
    count(until: context.now)
    schedule(in: &context)
  }

  /// Counts the steps until now with the cadence before, and applies the new cadence and interval.
  public mutating func updated(in context: inout AccessoryContext) {
    guard countedTime != nil else {
      countedCadence = cadence
      return
    }
    let before = Self.day(counter)
    count(until: context.now)
    // The device notifies a value that has changed.
    if Self.day(counter) != before { notifiedDay = Self.day(counter) }
    schedule(in: &context)
  }

  /// Notifies today's steps if they have changed, also when a new day has begun.
  public mutating func timeReached(in context: inout AccessoryContext) {
    _ = timers.takeDue(in: &context)
    count(until: context.now)
    let day = Self.day(counter)
    if day != notifiedDay {
      notifiedDay = day
      context.notify(Self.today)
    }
    schedule(in: &context)
  }
}
