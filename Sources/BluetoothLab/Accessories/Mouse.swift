import BluetoothProfiles

/// A mouse with three buttons and a wheel: Human Interface Device (0x1812), with Battery and Device Information
/// · HID over GATT Profile 1.0, 3.
///
/// ```swift
/// let mouse = world.add(Mouse(), named: "mouse")
/// mouse.act { $0.move(x: 10, y: -5, in: &$1) }
/// ```
public struct Mouse: Accessory {
  /// A movement.
  public struct Movement: Hashable, Sendable {
    /// The movement to the right, at most ±10,000.
    public var x: Int
    /// The movement towards the user, at most ±10,000.
    public var y: Int
    /// The rotation of the wheel away from the user, at most ±10,000.
    public var wheel: Int

    /// Creates a movement.
    public init(x: Int = 0, y: Int = 0, wheel: Int = 0) { (self.x, self.y, self.wheel) = (x, y, wheel) }
  }

  /// The UUID of the Human Interface Device service.
  public static let service: BluetoothUUID = 0x1812
  /// HID Information: HID 1.11, not localized, normally connectable.
  public static let information = Characteristic<HIDInformation>(of: service)
  /// Report Map: three buttons, two axes and a wheel, with the Report ID 1.
  public static let reportMap = Characteristic<ReportMap>(of: service)
  /// HID Control Point: Suspend and Exit Suspend.
  public static let controlPoint = Characteristic<HIDControlPoint>(of: service)
  /// Protocol Mode: Boot Protocol Mode or Report Protocol Mode.
  public static let protocolMode = Characteristic<ProtocolMode>(of: service)
  /// The Report with the buttons, the movement and the wheel, notified in Report Protocol Mode.
  public static let inputReport = Characteristic<HIDReport>(of: service)
  /// Boot Mouse Input Report: the same values, notified in Boot Protocol Mode.
  public static let bootInputReport = Characteristic<BootMouseInputReport>(of: service)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The link security that the characteristics of the service require. The profile requires encryption.
  public var protection = CharacteristicProtection.encrypted
  /// The connection parameters that the mouse requests; nil for none.
  public var connection: PreferredConnectionParameters? = PreferredConnectionParameters(
    interval: .milliseconds(11.25), latency: 20, supervisionTimeout: .seconds(4))
  /// The movements that the mouse makes by itself, in turn and again from the first, while an HID host is subscribed to
  /// its reports.
  public var movements: [Movement] = []
  /// The time before each of the `movements`, at least 1 ms.
  public var movementInterval = Duration.milliseconds(100)
  /// The number of `movements` made.
  private var movementCount = 0
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service. The profile requires the PnP ID.
  public var deviceInformation = DeviceInformation.inputDevice("Mouse")
  private var buttons: BootMouseInputReport.Buttons = []
  private var reports = InputReports(idle: BootMouseInputReport(x: 0, y: 0, more: [0]))

  /// Creates a mouse without pressed buttons.
  public init(name: String = "Mouse") { self.name = name }

  /// The protocol that the HID host has chosen.
  public var mode: ProtocolMode { reports.mode }

  /// True if the HID host has entered the suspend state.
  public var isSuspended: Bool { reports.isSuspended }

  /// The time between two reports, at least 1 ms.
  public var reportInterval: Duration {
    get { reports.interval }
    set { reports.interval = newValue }
  }

  // MARK: Movement and buttons

  /// Moves the mouse. A movement of more than 127 in a direction is split into several reports.
  ///
  /// - Parameters:
  ///   - x: the movement to the right, at most ±10,000.
  ///   - y: the movement towards the user, at most ±10,000.
  ///   - wheel: the rotation of the wheel away from the user, at most ±10,000.
  ///   - context: the context of the callback.
  public mutating func move(x: Int = 0, y: Int = 0, wheel: Int = 0, in context: inout AccessoryContext) {
    var rest = [x, y, wheel].map { min(max($0, -10_000), 10_000) }
    var moves: [BootMouseInputReport] = []
    repeat {
      let step = rest.map { Int8(min(max($0, -127), 127)) }
      for index in rest.indices { rest[index] -= Int(step[index]) }
      moves.append(
        BootMouseInputReport(buttons: buttons, x: step[0], y: step[1], more: [UInt8(bitPattern: step[2])]))
    } while rest != [0, 0, 0]
    reports.append(moves, in: &context)
  }

  /// Presses buttons, and releases all others.
  public mutating func press(_ buttons: BootMouseInputReport.Buttons, in context: inout AccessoryContext) {
    self.buttons = buttons
    move(in: &context)
  }

  /// Presses and releases a button.
  public mutating func click(_ button: BootMouseInputReport.Buttons = .first, in context: inout AccessoryContext) {
    press(button, in: &context)
    press([], in: &context)
  }

  // MARK: Services

  /// Connectable advertising with Flags, Appearance, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(
        fitting: [.flags(), .appearance(appearance.rawValue), .services([Self.service]), .name(name)]),
      schedule: advertisingSchedule)
  }

  /// Mouse.
  public var appearance: Appearance { Appearance(rawValue: 0x03C2) }

  /// The Human Interface Device, Battery and Device Information services.
  public var services: [AccessoryService<Self>] {
    [
      .humanInterfaceDevice(\.reports, map: Self.map, boot: Self.bootInputReport, protection: protection),
      .battery(level: \.batteryLevel), .deviceInformation(deviceInformation),
    ]
  }

  /// The format of the reports · Device Class Definition for HID 1.11, Appendix E.10, with a Report ID and a wheel.
  private static let map = ReportMap(descriptor: [
    0x05, 0x01, 0x09, 0x02, 0xA1, 0x01, 0x85, 0x01,  // Generic Desktop, Mouse, Collection, Report ID 1
    0x09, 0x01, 0xA1, 0x00,  // Pointer, Collection
    0x05, 0x09, 0x19, 0x01, 0x29, 0x03, 0x15, 0x00, 0x25, 0x01,  // three buttons
    0x95, 0x03, 0x75, 0x01, 0x81, 0x02,  // three bits of input
    0x95, 0x01, 0x75, 0x05, 0x81, 0x01,  // five reserved bits
    0x05, 0x01, 0x09, 0x30, 0x09, 0x31, 0x09, 0x38,  // X, Y and wheel
    0x15, 0x81, 0x25, 0x7F, 0x75, 0x08, 0x95, 0x03, 0x81, 0x06,  // −127 to 127, relative
    0xC0, 0xC0,  // End Collection, twice
  ])

  // MARK: Behaviour

  /// Begins in Report Protocol Mode, and requests the connection parameters.
  public mutating func connected(in context: inout AccessoryContext) {
    reports.reset()
    if let connection { context.requestConnection(connection) }
  }

  /// Drops the reports that have not been sent.
  public mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {
    reports.reset()
  }

  /// Waits for `movementInterval` when an HID host has subscribed.
  public mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext
  ) {
    if isOn { waitForMovement(in: &context) }
  }

  /// Sends the next report, or makes the next of the `movements`.
  public mutating func timeReached(in context: inout AccessoryContext) {
    if reports.isIdle {
      guard !movements.isEmpty, isHeard(context) else { return }
      let next = movements[movementCount % movements.count]
      movementCount += 1
      move(x: next.x, y: next.y, wheel: next.wheel, in: &context)
    } else {
      reports.sendNext(as: Self.inputReport, boot: Self.bootInputReport, in: &context)
      waitForMovement(in: &context)
    }
  }

  private func isHeard(_ context: AccessoryContext) -> Bool {
    context.hasSubscribers(Self.inputReport) || context.hasSubscribers(Self.bootInputReport)
  }

  private func waitForMovement(in context: inout AccessoryContext) {
    if reports.isIdle, !movements.isEmpty, isHeard(context) { context.wake(after: movementInterval) }
  }
}
