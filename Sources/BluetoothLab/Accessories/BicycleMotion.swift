import BluetoothProfiles

/// The motion of a bicycle: the revolutions of its wheel and its crank, and the times of the last complete ones.
struct BicycleMotion: Sendable {
  /// The distance since power-on, in metres.
  private(set) var distance = 0.0
  /// The number of crank revolutions since power-on.
  private(set) var crankRevolutions = 0.0
  private var wheelRevolutions = 0.0
  /// The difference between the reported number of wheel revolutions and that since power-on.
  private var wheelOffset: Int64 = 0
  private var lastTime: Duration?
  private var wheelEventTime = 0.0
  private var crankEventTime = 0.0

  /// Starts the motion, or continues it after a time that does not count, in which the device was off.
  mutating func start(at now: Duration) {
    if lastTime == nil { (wheelEventTime, crankEventTime) = (now.seconds, now.seconds) }
    lastTime = now
  }

  /// Adds the distance and the revolutions of the time since the last call. Returns that time in seconds.
  ///
  /// - Parameters:
  ///   - now: the time.
  ///   - speed: the speed in metres per second.
  ///   - cadence: the crank revolutions per minute.
  ///   - circumference: the circumference of the wheel in metres.
  @discardableResult
  mutating func advance(to now: Duration, speed: Double, cadence: Double, circumference: Double) -> Double {
    let seconds = (now - (lastTime ?? now)).seconds
    start(at: now)
    // Implausible values are clamped; beyond these limits the profile's counters would carry no information.
    let speed = speed.isFinite ? min(max(0, speed), 1_000) : 0
    let cadence = cadence.isFinite ? min(max(0, cadence), 10_000) : 0
    distance += speed * seconds
    let before = (wheel: Int64(wheelRevolutions), crank: Int64(crankRevolutions))
    if circumference >= 0.01 { wheelRevolutions += speed * seconds / circumference }
    crankRevolutions += cadence / 60 * seconds
    // The end of the last complete revolution: now, minus the time spent on the current one. It stays until the next
    // complete revolution, because the current one may have begun at another speed.
    if Int64(wheelRevolutions) > before.wheel {
      wheelEventTime = now.seconds - wheelRevolutions.truncatingRemainder(dividingBy: 1) * circumference / speed
    }
    if Int64(crankRevolutions) > before.crank {
      crankEventTime = now.seconds - crankRevolutions.truncatingRemainder(dividingBy: 1) * 60 / cadence
    }
    return seconds
  }

  /// Sets the reported number of wheel revolutions.
  mutating func setWheelRevolutions(_ number: UInt32) { wheelOffset = Int64(number) - Int64(wheelRevolutions) }

  /// Returns the wheel revolutions.
  ///
  /// - Parameter rate: the number of units of the event time in a second.
  func wheel<Time>(rate: Double) -> WheelRevolutions<Time> {
    WheelRevolutions(
      cumulative: UInt32(clamping: Int64(wheelRevolutions) + wheelOffset),
      lastEventTime: Self.ticks(wheelEventTime, rate))
  }

  /// The crank revolutions.
  var crank: CrankRevolutions {
    CrankRevolutions(
      cumulative: UInt16(truncatingIfNeeded: Int64(crankRevolutions)), lastEventTime: Self.ticks(crankEventTime, 1_024))
  }

  /// Returns a time in units of 1/`rate` s, which wraps around after 65,536 units.
  private static func ticks<Time>(_ seconds: Double, _ rate: Double) -> Scalar<Time> {
    Scalar(clamping: Int(UInt16(truncatingIfNeeded: Int64(seconds.limited(to: 0...1e12) * rate))))
  }
}

/// The location of a sensor, and those that a client may choose.
struct SensorPlacement: Sendable {
  var location: SensorLocation
  var supported: [SensorLocation]

  /// True if the sensor may be mounted in several places.
  var hasSeveral: Bool { supported.count > 1 }

  /// Sets the location. Returns the response value: Invalid Parameter for a location that is not supported.
  mutating func choose(_ location: SensorLocation) -> ControlPointResponse {
    guard supported.contains(location) else { return .invalidParameter }
    self.location = location
    return .success
  }
}
