import BluetoothProfiles

/// A keyboard: Human Interface Device (0x1812), with Battery and Device Information · HID over GATT Profile 1.0, 3.
///
/// ```swift
/// let keyboard = world.add(Keyboard(), named: "keyboard")
/// keyboard.act { $0.type("Hello", in: &$1) }
/// ```
public struct Keyboard: Accessory {
  /// The UUID of the Human Interface Device service.
  public static let service: BluetoothUUID = 0x1812
  /// HID Information: HID 1.11, not localized, normally connectable.
  public static let information = Characteristic<HIDInformation>(of: service)
  /// Report Map: modifiers, six keys and five LEDs, with the Report ID 1.
  public static let reportMap = Characteristic<ReportMap>(of: service)
  /// HID Control Point: Suspend and Exit Suspend.
  public static let controlPoint = Characteristic<HIDControlPoint>(of: service)
  /// Protocol Mode: Boot Protocol Mode or Report Protocol Mode.
  public static let protocolMode = Characteristic<ProtocolMode>(of: service)
  /// The Report with the pressed keys, notified in Report Protocol Mode.
  public static let inputReport = Characteristic<HIDReport>(of: service)
  /// The Report with the LEDs.
  public static let outputReport = Characteristic<HIDReport>(of: service, instance: 1)
  /// Boot Keyboard Input Report: the pressed keys, notified in Boot Protocol Mode.
  public static let bootInputReport = Characteristic<BootKeyboardInputReport>(of: service)
  /// Boot Keyboard Output Report: the LEDs.
  public static let bootOutputReport = Characteristic<BootKeyboardOutputReport>(of: service)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The LEDs that the HID host has turned on; none after a disconnection, because a host sets them on each connection.
  public private(set) var leds: BootKeyboardOutputReport = []
  /// The link security that the characteristics of the service require. The profile requires encryption.
  public var protection = CharacteristicProtection.encrypted
  /// The connection parameters that the keyboard requests; nil for none.
  public var connection: PreferredConnectionParameters? = PreferredConnectionParameters(
    interval: .milliseconds(15), latency: 20, supervisionTimeout: .seconds(4))
  /// The text that the keyboard types by itself, again and again, while an HID host is subscribed to its reports; empty:
  /// none. Characters that the layout of the United States does not have are left out.
  public var typedText = ""
  /// The time before each typing of `typedText`, at least 1 ms.
  public var typingInterval = Duration.seconds(5)
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service. The profile requires the PnP ID.
  public var deviceInformation = DeviceInformation.inputDevice("Keyboard")
  private var reports = InputReports(idle: BootKeyboardInputReport.released)

  /// Creates a keyboard without pressed keys.
  public init(name: String = "Keyboard") { self.name = name }

  /// The protocol that the HID host has chosen.
  public var mode: ProtocolMode { reports.mode }

  /// True if the HID host has entered the suspend state.
  public var isSuspended: Bool { reports.isSuspended }

  /// The time between two reports, at least 1 ms.
  public var reportInterval: Duration {
    get { reports.interval }
    set { reports.interval = newValue }
  }

  // MARK: Keys

  /// Presses keys, and releases all others.
  ///
  /// - Parameters:
  ///   - keys: usages of the Keyboard page, such as 0x04 for A; more than six are reported as ErrorRollOver (0x01)
  ///     · Device Class Definition for HID 1.11, Appendix C.
  ///   - modifiers: the pressed modifiers.
  ///   - context: the context of the callback.
  public mutating func press(
    _ keys: [UInt8], modifiers: BootKeyboardInputReport.Modifiers = [], in context: inout AccessoryContext
  ) {
    let rollOver = [UInt8](repeating: 1, count: 6)
    guard let report = BootKeyboardInputReport(modifiers: modifiers, keys: keys.count > 6 ? rollOver : keys) else {
      return
    }
    reports.append([report], in: &context)
  }

  /// Releases all keys.
  public mutating func release(in context: inout AccessoryContext) {
    reports.append([BootKeyboardInputReport.released], in: &context)
  }

  /// Presses and releases the keys for this text on a keyboard with the layout of the United States. Characters that
  /// the layout does not have are left out.
  public mutating func type(_ text: String, in context: inout AccessoryContext) {
    reports.append(
      text.compactMap(BootKeyboardInputReport.init(typing:)).flatMap { [$0, .released] }, in: &context)
  }

  // MARK: Services

  /// Connectable advertising with Flags, Appearance, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(
        fitting: [.flags(), .appearance(appearance.rawValue), .services([Self.service]), .name(name)]),
      schedule: advertisingSchedule)
  }

  /// Keyboard.
  public var appearance: Appearance { Appearance(rawValue: 0x03C1) }

  /// The Human Interface Device, Battery and Device Information services.
  public var services: [AccessoryService<Self>] {
    var output = AccessoryCharacteristic<Self>(
      Self.outputReport, [.read, .write, .writeWithoutResponse], value: { HIDReport(content: $0.leds.octets) },
      written: { (keyboard, report, _) throws(ATTErrorCode) in
        keyboard.leds = try Self.bootOutputReport.value(of: report.content)
      })
    output.descriptors = [.reportReference(1, .output)]
    let bootOutput = AccessoryCharacteristic<Self>(
      Self.bootOutputReport, [.read, .write, .writeWithoutResponse], value: \.leds,
      written: { keyboard, leds, _ in keyboard.leds = leds })
    return [
      .humanInterfaceDevice(
        \.reports, map: Self.map, outputs: [output], boot: Self.bootInputReport, bootOutputs: [bootOutput],
        protection: protection),
      .battery(level: \.batteryLevel), .deviceInformation(deviceInformation),
    ]
  }

  /// The format of the reports · Device Class Definition for HID 1.11, Appendix E.6, with a Report ID.
  private static let map = ReportMap(descriptor: [
    0x05, 0x01, 0x09, 0x06, 0xA1, 0x01, 0x85, 0x01,  // Generic Desktop, Keyboard, Collection, Report ID 1
    0x05, 0x07, 0x19, 0xE0, 0x29, 0xE7, 0x15, 0x00, 0x25, 0x01,  // the modifiers: usages E0 to E7
    0x75, 0x01, 0x95, 0x08, 0x81, 0x02,  // eight bits of input
    0x95, 0x01, 0x75, 0x08, 0x81, 0x01,  // a reserved octet
    0x95, 0x05, 0x75, 0x01, 0x05, 0x08, 0x19, 0x01, 0x29, 0x05, 0x91, 0x02,  // five LEDs of output
    0x95, 0x01, 0x75, 0x03, 0x91, 0x01,  // three reserved bits
    0x95, 0x06, 0x75, 0x08, 0x15, 0x00, 0x25, 0x65,  // six keys
    0x05, 0x07, 0x19, 0x00, 0x29, 0x65, 0x81, 0x00, 0xC0,  // usages 0 to 65, End Collection
  ])

  // MARK: Behaviour

  /// Begins in Report Protocol Mode, and requests the connection parameters.
  public mutating func connected(in context: inout AccessoryContext) {
    reports.reset()
    if let connection { context.requestConnection(connection) }
  }

  /// Drops the reports that have not been sent, and turns the LEDs off.
  public mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {
    reports.reset()
    leds = []
  }

  /// Waits for `typingInterval` when an HID host has subscribed.
  public mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext
  ) {
    if isOn { waitForTyping(in: &context) }
  }

  /// Sends the next report, or types `typedText`.
  public mutating func timeReached(in context: inout AccessoryContext) {
    if reports.isIdle {
      if isHeard(context) { type(typedText, in: &context) }
    } else {
      reports.sendNext(as: Self.inputReport, boot: Self.bootInputReport, in: &context)
      waitForTyping(in: &context)
    }
  }

  private func isHeard(_ context: AccessoryContext) -> Bool {
    context.hasSubscribers(Self.inputReport) || context.hasSubscribers(Self.bootInputReport)
  }

  private func waitForTyping(in context: inout AccessoryContext) {
    if reports.isIdle, !typedText.isEmpty, isHeard(context) { context.wake(after: typingInterval) }
  }
}

extension DeviceInformation {
  /// Returns the values for an input device, with a PnP ID of a vendor without an assigned number.
  static func inputDevice(_ model: String) -> DeviceInformation {
    var information = DeviceInformation(model: model)
    information.pnpID = PnPID(vendorIDSource: .bluetoothSIG, vendorID: 0xFFFF, productID: 1, productVersion: 0x0100)
    return information
  }
}

extension BootKeyboardInputReport {
  /// The report without pressed keys.
  static let released: Self = {
    // The initializer refuses only more than six keys, so this constant always exists.
    guard let report = Self(keys: []) else { fatalError("six keys are permitted") }
    return report
  }()

  /// Creates the report for a character on a keyboard with the layout of the United States; nil if no key has it
  /// · HID Usage Tables, Keyboard Page.
  init?(typing character: Character) {
    guard character != "\0" else { return nil }
    if let index = Self.plain.firstIndex(of: character) {
      self.init(keys: [Self.usage(index)])
    } else if let index = Self.shifted.firstIndex(of: character) {
      self.init(modifiers: .leftShift, keys: [Self.usage(index)])
    } else {
      return nil
    }
  }

  /// The characters of the usages from 0x04 on. U+0000 stands for a key without a character.
  private static let plain = Array("abcdefghijklmnopqrstuvwxyz1234567890\n\0\0\t -=[]\\\0;'`,./")
  private static let shifted = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ!@#$%^&*()\0\0\0\0\0_+{}|\0:\"~<>?")

  private static func usage(_ index: Int) -> UInt8 { UInt8(0x04 + index) }
}
