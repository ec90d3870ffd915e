import BluetoothProfiles

/// A weight scale: Weight Scale (0x181D), with Battery and Device Information · Weight Scale Profile 1.0, 3.
///
/// A person steps on the scale, and after `settlingTime` the scale has a measurement. It indicates the measurement to
/// the subscribed clients, and stores it until a client has confirmed it: measurements that nobody has received come
/// first, the oldest one before the others, and each waits for the confirmation of the one before. A scale without a
/// clock stores nothing, because a client could not tell when such a measurement was taken.
///
/// ```swift
/// let world = World(seed: 1)
/// let scale = world.add(WeightScale(), named: "scale")
/// scale.act { scale, context in scale.stepOn(WeightScale.Person(weight: 72.4, userID: 1), in: &context) }
/// ```
public struct WeightScale: Accessory {
  /// The UUID of the Weight Scale service.
  public static let service: BluetoothUUID = 0x181D
  /// Weight Scale Feature: the value of `features`.
  public static let feature = Characteristic<WeightScaleFeature>(of: service)
  /// Weight Measurement, indicated for each weighing.
  public static let measurement = Characteristic<WeightMeasurement>(of: service)

  /// A person who steps on the scale.
  public struct Person: Hashable, Sendable {
    /// The weight in kilograms.
    public var weight: Double
    /// The user as whom the scale knows the person, 0 to 254; nil if the scale does not know the person.
    public var userID: UInt8?
    /// The height in metres that the scale knows; nil if it does not know the height.
    public var height: Double?

    /// Creates a person.
    public init(weight: Double, userID: UInt8? = nil, height: Double? = nil) {
      (self.weight, self.userID, self.height) = (weight, userID, height)
    }
  }

  /// A weighing that takes place by itself.
  public struct ScheduledWeighing: Hashable, Sendable {
    /// The time after the scale is turned on at which the person steps on it.
    public var time: Duration
    /// The person.
    public var person: Person
    /// The time for which the person stays on the scale.
    public var duration: Duration

    /// Creates a weighing.
    public init(at time: Duration, _ person: Person, for duration: Duration = .seconds(5)) {
      (self.time, self.person, self.duration) = (time, person, duration)
    }
  }

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The units in which weights and heights are reported.
  public var units = WeightUnits.international
  /// The resolution of the reported weights.
  public var weightResolution = WeightResolution.grams50
  /// The resolution of the reported heights.
  public var heightResolution = HeightResolution.millimetres10
  /// The local time at the world's time 0, for time stamps; nil if the scale has no clock.
  public var startTime: DateTime?
  /// True if the scale distinguishes users: each measurement has a user, 255 for an unknown one.
  public var distinguishesUsers = true
  /// True if the scale reports the body mass index of persons whose height it knows.
  public var reportsBodyMassIndex = true
  /// The time for which a person must stand on the scale.
  public var settlingTime = Duration.seconds(2)
  /// The number of measurements that the scale stores. A further one replaces the oldest.
  public var capacity = 32
  /// The weighings that take place by themselves. A change applies when the scale is turned on the next time.
  public var scheduledWeighings: [ScheduledWeighing] = []
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service.
  public var information = DeviceInformation.health(model: "Weight Scale")
  /// The measurements that no client has confirmed, the oldest first.
  public private(set) var stored: [WeightMeasurement] = []
  /// The person on the scale; nil if it is empty.
  public private(set) var person: Person?
  /// The clients that have not confirmed the first stored measurement, which has been sent to them.
  private var receivers: [AccessoryClient] = []
  /// True if a client has confirmed the first stored measurement.
  private var isConfirmed = false
  private var timers = AccessoryTimers<Purpose>()
  /// The scheduled weighings that are still to come, in the order of their times.
  private var weighingsToCome: ArraySlice<ScheduledWeighing> = []
  /// The world's time at which the scale was turned on.
  private var startOfSchedule = Duration.zero

  private enum Purpose { case settled, leaving, weighing }

  /// Creates a scale.
  ///
  /// - Parameters:
  ///   - name: the advertised name.
  ///   - startTime: the local time at the world's time 0; nil for a scale without a clock.
  public init(
    name: String = "Weight Scale", startTime: DateTime? = DateTime(year: 2024, month: 1, day: 1)
  ) {
    (self.name, self.startTime) = (name, startTime)
  }

  // MARK: Services

  /// The features.
  public var features: WeightScaleFeature {
    WeightScaleFeature(
      timeStamp: startTime?.secondsSince1970 != nil, multipleUsers: distinguishesUsers,
      bodyMassIndex: reportsBodyMassIndex, weightResolution: weightResolution,
      heightResolution: reportsBodyMassIndex ? heightResolution : .notSpecified)
  }

  /// Connectable advertising with Flags, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(fitting: [.flags(), .services([Self.service]), .name(name)]),
      schedule: advertisingSchedule)
  }

  /// Weight Scale.
  public var appearance: Appearance { Appearance(rawValue: 0x0C80) }

  /// The Weight Scale, Battery and Device Information services.
  public var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        Self.service,
        [
          AccessoryCharacteristic(Self.feature, .read, value: \.features),
          // Each measurement is sent by itself, so there is no current value.
          AccessoryCharacteristic(octetsOf: Self.measurement.path, .indicate),
        ]),
      .battery(level: \.batteryLevel),
      .deviceInformation(information),
    ]
  }

  // MARK: Weighing

  /// Puts a person on the scale, in place of the one who stands on it. After `settlingTime` the scale has a measurement.
  public mutating func stepOn(_ person: Person, in context: inout AccessoryContext) {
    if self.person != nil { stepOff(in: &context) }
    self.person = person
    timers.set(.settled, after: settlingTime, in: &context)
  }

  /// Takes the person off the scale. Before `settlingTime` has passed, the measurement is unsuccessful. An empty scale
  /// does nothing.
  public mutating func stepOff(in context: inout AccessoryContext) {
    guard let person else { return }
    self.person = nil
    timers.set(.leaving, after: nil, in: &context)
    guard timers.has(.settled) else { return }
    timers.set(.settled, after: nil, in: &context)
    add(measurement(of: person, isSuccessful: false, at: context.now), in: &context)
  }

  private func measurement(of person: Person, isSuccessful: Bool, at now: Duration) -> WeightMeasurement {
    var rawWeight = WeightMeasurement.unsuccessful
    if isSuccessful, let weight = weightResolution.rawWeight(kilograms: person.weight, in: units) { rawWeight = weight }
    var value = WeightMeasurement(rawWeight: rawWeight, units: units, timeStamp: clock(at: now))
    if distinguishesUsers { value.userID = person.userID ?? 255 }
    guard reportsBodyMassIndex, rawWeight != WeightMeasurement.unsuccessful, let height = person.height, height > 0,
      let rawHeight = heightResolution.rawHeight(metres: height, in: units)
    else { return value }
    let index = (person.weight / (height * height) * 10).limited(to: 0...65_535)
    value.body = WeightMeasurement.Body(
      bodyMassIndex: Scalar(clamping: Int(index.rounded())), rawHeight: rawHeight)
    return value
  }

  /// Returns the time of the scale's clock; nil if it has none.
  private func clock(at now: Duration) -> DateTime? {
    startTime?.secondsSince1970.flatMap { DateTime(secondsSince1970: $0 + Int(now.components.seconds)) }
  }

  /// Begins the scheduled weighings that are due, and schedules the next one.
  private mutating func beginWeighings(in context: inout AccessoryContext) {
    while let next = weighingsToCome.first, startOfSchedule + next.time <= context.now {
      weighingsToCome.removeFirst()
      stepOn(next.person, in: &context)
      timers.set(.leaving, after: next.duration, in: &context)
    }
    guard let next = weighingsToCome.first else { return }
    timers.set(.weighing, after: startOfSchedule + next.time - context.now, in: &context)
  }

  // MARK: Stored measurements

  /// Stores a measurement, and sends it if no other one is before it.
  private mutating func add(_ measurement: WeightMeasurement, in context: inout AccessoryContext) {
    stored.append(measurement)
    sendNext(in: &context)
    discard(in: context)
  }

  /// Sends the oldest measurement to the subscribed clients, unless one of them has still to confirm it.
  private mutating func sendNext(in context: inout AccessoryContext) {
    guard receivers.isEmpty, let oldest = stored.first else { return }
    receivers = Array(context.subscribedClients(to: Self.measurement))
    isConfirmed = false
    for client in receivers { context.send(oldest, of: Self.measurement, to: client) }
  }

  /// Removes what the scale can't store: the oldest measurements beyond the capacity, except for one that has been sent,
  /// and measurements without a time stamp that no client will receive.
  private mutating func discard(in context: AccessoryContext) {
    let sent = receivers.isEmpty ? 0 : 1
    while stored.count - sent > max(0, capacity) { stored.remove(at: sent) }
    if !context.hasSubscribers(Self.measurement) { stored.removeAll { $0.timeStamp == nil } }
  }

  /// Notes that the client of the callback has confirmed the sent measurement, or will not confirm it. When no client is
  /// left, a confirmed measurement is removed, and the next one is sent.
  private mutating func removeReceiver(isConfirmed: Bool, in context: inout AccessoryContext) {
    guard let client = context.client, let index = receivers.firstIndex(of: client) else { return }
    receivers.remove(at: index)
    if isConfirmed { self.isConfirmed = true }
    guard receivers.isEmpty else { return }
    if self.isConfirmed, !stored.isEmpty { stored.removeFirst() }
    sendNext(in: &context)
  }

  // MARK: Behaviour

  /// Starts the schedule of weighings.
  public mutating func started(in context: inout AccessoryContext) {
    startOfSchedule = context.now
    weighingsToCome = scheduledWeighings.sorted { $0.time < $1.time }[...]
    (person, receivers) = (nil, [])
    timers = AccessoryTimers()
    beginWeighings(in: &context)
  }

  /// Sends stored measurements to a client that has subscribed.
  public mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext
  ) {
    guard characteristic == Self.measurement.path else { return }
    if isOn { sendNext(in: &context) } else { removeReceiver(isConfirmed: false, in: &context) }
    discard(in: context)
  }

  /// Keeps the measurement that the client has not confirmed.
  public mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {
    removeReceiver(isConfirmed: false, in: &context)
    discard(in: context)
  }

  /// Removes the measurement that the client has confirmed, and sends the next one.
  public mutating func valueSent(of characteristic: CharacteristicPath, in context: inout AccessoryContext) {
    if characteristic == Self.measurement.path { removeReceiver(isConfirmed: true, in: &context) }
  }

  /// Measures, or lets persons step on the scale or off.
  public mutating func timeReached(in context: inout AccessoryContext) {
    for purpose in timers.takeDue(in: &context) {
      switch purpose {
      case .settled:
        if let person { add(measurement(of: person, isSuccessful: true, at: context.now), in: &context) }
      case .leaving: stepOff(in: &context)
      case .weighing: beginWeighings(in: &context)
      }
    }
  }
}
