import BluetoothProfiles

/// A board of digital and analog pins with a switch and LEDs, which an app reads and drives over the air. The service
/// and the formats of the values are those of Konashi (229BFF00-03FB-40DA-98A7-B0DEF65C2D4B), without I²C, UART and the
/// notification of a low battery, and with Battery and Device Information.
///
/// The switch S1 is at `PIO0`, the LEDs 2 to 5 are at `PIO1` to `PIO4`. A test presses the switch, applies levels to
/// other pins, and reads the LEDs:
///
/// ```swift
/// let board = world.add(PinBoard(), named: "board")
/// board.update { $0.press(.s1) }
/// print(board.accessory.brightness(of: .led2))
/// ```
///
/// Software for Konashi looks for names that begin with "konashi": set `name`. The pins keep their state when the
/// client disconnects.
public struct PinBoard: Accessory {
  /// A press of a switch by itself.
  public struct Press: Hashable, Sendable {
    /// The pin of the switch.
    public var pin: Pin
    /// The time of the press after power-on.
    public var time: Duration
    /// The time for which the switch is pressed.
    public var duration: Duration

    /// Creates a press of the switch at this pin.
    public init(_ pin: Pin = .s1, at time: Duration, for duration: Duration = .milliseconds(200)) {
      (self.pin, self.time, self.duration) = (pin, time, duration)
    }
  }

  /// The UUID of the board's service.
  public static let service: BluetoothUUID = uuid(0xFF00)
  /// PIO Setting: the pins that are outputs; the others are inputs.
  public static let setting = Characteristic<Pins>(uuid(0x3000), of: service)
  /// PIO Pull-up: the pins whose pull-up resistors are on.
  public static let pullUp = Characteristic<Pins>(uuid(0x3001), of: service)
  /// PIO Output: the levels of the outputs; 1 is high.
  public static let output = Characteristic<Pins>(uuid(0x3002), of: service)
  /// PIO Input Notification: the levels of the inputs; 1 is high. The bits of outputs are 0.
  public static let input = Characteristic<Pins>(uuid(0x3003), of: service)
  /// PWM Config: the pins with pulse-width modulation, which are then outputs.
  public static let pulsedPins = Characteristic<Pins>(uuid(0x3004), of: service)
  /// PWM Parameter: sets the period of a pin.
  public static let pulsePeriod = Characteristic<PulseTime>(uuid(0x3005), of: service)
  /// PWM Duty: sets the time of each period in which a pin is high.
  public static let pulseDuty = Characteristic<PulseTime>(uuid(0x3006), of: service)
  /// Analog Drive: makes an analog pin an output with this voltage.
  public static let analogDrive = Characteristic<AnalogOutput>(uuid(0x3007), of: service)
  /// Hardware Reset: writing 1 restarts the board.
  public static let hardwareReset = Characteristic<Reset>(uuid(0x3014), of: service)

  /// Returns the characteristic Analog Read of a pin: its voltage.
  public static func analogRead(_ pin: AnalogPin) -> Characteristic<Voltage> {
    Characteristic(uuid(0x3008 + UInt16(pin.rawValue)), of: service)
  }

  private static func uuid(_ number: UInt16) -> BluetoothUUID {
    BluetoothUUID(high: 0x229B_0000_03FB_40DA | UInt64(number) << 32, low: 0x98A7_B0DE_F65C_2D4B)
  }

  /// The highest voltage of the analog pins in millivolts.
  public static let analogReference: UInt16 = 1_300

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The presses of switches by themselves. A change applies when the board is turned on the next time.
  public var scheduledPresses: [Press] = []
  /// The voltages that the outside applies to the analog pins, in millivolts. Above `analogReference`, that is read.
  public var analogInputs: [AnalogPin: UInt16] = [:]
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service.
  public var information: DeviceInformation
  /// The levels that the outside applies to the digital pins; none for an open pin.
  private var applied: [Pin: Level] = [:]
  private var state = State()
  /// The changes of switches that are still to come, in the order of their times.
  private var changesToCome: ArraySlice<Change> = []
  /// The world's time at which the board was turned on.
  private var startOfSchedule = Duration.zero

  /// The state that a reset clears.
  private struct State {
    var outputs: Pins = []
    var pullUps: Pins = []
    var outputLevels: Pins = []
    var pulsed: Pins = []
    var periods: [Pin: UInt32] = [:]
    var duties: [Pin: UInt32] = [:]
    var analogOutputs: [AnalogPin: UInt16] = [:]
  }

  /// A change of a switch by itself.
  private struct Change {
    let time: Duration
    let pin: Pin
    let isPressed: Bool
  }

  /// Creates a board whose digital pins are open inputs.
  public init(name: String = "Pin Board") {
    self.name = name
    information = DeviceInformation(model: "Pin Board")
    information.softwareRevision = "1.0.0"
  }

  // MARK: Outside

  /// Applies a level to a digital pin from outside; nil: the pin is open.
  public mutating func apply(_ level: Level?, to pin: Pin) { applied[pin] = level }

  /// Presses a switch that applies a high level to its pin, as S1 does.
  public mutating func press(_ pin: Pin) { apply(.high, to: pin) }

  /// Releases a switch: its pin is open.
  public mutating func release(_ pin: Pin) { apply(nil, to: pin) }

  // MARK: Pins

  /// The digital pins that are outputs, with or without pulse-width modulation.
  public var outputs: Pins { state.outputs.union(state.pulsed) }

  /// The digital pins whose pull-up resistors are on.
  public var pullUps: Pins { state.pullUps }

  /// The inputs with a high level.
  public var inputLevels: Pins {
    var levels: Pins = []
    for pin in Pin.allCases where !outputs.contains(pin) && level(of: pin) == .high { levels.insert(Pins(pin)) }
    return levels
  }

  /// Returns the level of a digital pin. An open input has a high level if its pull-up resistor is on. A pin with
  /// pulse-width modulation is high if a part of the period is.
  public func level(of pin: Pin) -> Level {
    if outputs.contains(pin) { return brightness(of: pin) > 0 ? .high : .low }
    return applied[pin] ?? (state.pullUps.contains(pin) ? .high : .low)
  }

  /// Returns the brightness of an LED at a digital pin, 0 to 1: the share of the time in which the output is high. An
  /// input lights no LED.
  public func brightness(of pin: Pin) -> Double {
    if state.pulsed.contains(pin) {
      guard let period = state.periods[pin], period > 0 else { return 0 }
      return Double(state.duties[pin] ?? 0) / Double(period)
    }
    return state.outputs.contains(pin) && state.outputLevels.contains(pin) ? 1 : 0
  }

  /// Returns the voltage of an analog pin in millivolts: that of an output, or the one that the outside applies.
  public func millivolts(of pin: AnalogPin) -> UInt16 {
    min(state.analogOutputs[pin] ?? analogInputs[pin] ?? 0, Self.analogReference)
  }

  // MARK: Accessory

  /// Connectable advertising with Flags and the service UUID; the scan response has the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(fitting: [.flags()] + ADStructure.serviceLists([Self.service])),
      scanResponse: AdvertisingPayload(fitting: [.name(name)]), schedule: advertisingSchedule)
  }

  /// The board's service, Battery and Device Information.
  public var services: [AccessoryService<Self>] {
    let writes: CharacteristicProperties = [.write, .writeWithoutResponse]
    return [
      AccessoryService(
        Self.service,
        [
          Self.pins(Self.setting, \.outputs), Self.pins(Self.pullUp, \.pullUps),
          Self.pins(Self.output, \.outputLevels),
          AccessoryCharacteristic(Self.input, [.read, .notify], value: \.inputLevels),
          Self.pins(Self.pulsedPins, \.pulsed),
          AccessoryCharacteristic(Self.pulsePeriod, writes) { (board, time, _) throws(ATTErrorCode) in
            guard board.state.duties[time.pin] ?? 0 <= time.microseconds else { throw .valueNotAllowed }
            board.state.periods[time.pin] = time.microseconds
          },
          AccessoryCharacteristic(Self.pulseDuty, writes) { (board, time, _) throws(ATTErrorCode) in
            guard time.microseconds <= board.state.periods[time.pin] ?? 0 else { throw .valueNotAllowed }
            board.state.duties[time.pin] = time.microseconds
          },
          AccessoryCharacteristic(Self.analogDrive, writes) { (board, output, _) throws(ATTErrorCode) in
            guard output.millivolts <= Self.analogReference else { throw .valueNotAllowed }
            board.state.analogOutputs[output.pin] = output.millivolts
          },
        ] + AnalogPin.allCases.map(Self.reading)
          + [
            AccessoryCharacteristic(Self.hardwareReset, writes) { board, _, context in board.restart(in: &context) }
          ]),
      .battery(level: \.batteryLevel),
      .deviceInformation(information),
    ]
  }

  /// Returns a readable and writable set of pins.
  private static func pins(
    _ characteristic: Characteristic<Pins>, _ pins: WritableKeyPath<State, Pins> & Sendable
  ) -> AccessoryCharacteristic<Self> {
    AccessoryCharacteristic(
      characteristic, [.read, .write, .writeWithoutResponse], value: { $0.state[keyPath: pins] },
      written: { board, value, context in
        board.change(in: &context) { $0.state[keyPath: pins] = value }
      })
  }

  /// Returns the readable voltage of an analog pin.
  private static func reading(of pin: AnalogPin) -> AccessoryCharacteristic<Self> {
    AccessoryCharacteristic(analogRead(pin), .read, value: { Voltage(millivolts: $0.millivolts(of: pin)) })
  }

  /// Runs `body`, and notifies the levels of the inputs if they have changed.
  private mutating func change(in context: inout AccessoryContext, _ body: (inout Self) -> Void) {
    let before = inputLevels
    body(&self)
    if inputLevels != before { context.notify(Self.input) }
  }

  /// Clears the state of the pins, and ends the connections, as a restart does.
  private mutating func restart(in context: inout AccessoryContext) {
    state = State()
    context.disconnect()
  }

  /// Clears the state of the pins, and begins the schedule.
  public mutating func started(in context: inout AccessoryContext) {
    state = State()
    startOfSchedule = context.now
    let changes = scheduledPresses.flatMap { press in
      [
        Change(time: press.time, pin: press.pin, isPressed: true),
        Change(time: press.time + press.duration, pin: press.pin, isPressed: false),
      ]
    }
    // Changes at the same time are performed in the order of the list.
    changesToCome =
      changes.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)[...]
    performChanges(in: &context)
  }

  /// Presses and releases the switches that are due.
  public mutating func timeReached(in context: inout AccessoryContext) { performChanges(in: &context) }

  private mutating func performChanges(in context: inout AccessoryContext) {
    while let next = changesToCome.first, startOfSchedule + next.time <= context.now {
      changesToCome.removeFirst()
      change(in: &context) { next.isPressed ? $0.press(next.pin) : $0.release(next.pin) }
    }
    let elapsed = context.now - startOfSchedule
    context.wake(after: changesToCome.first.map { $0.time - elapsed })
  }
}
