import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A client of a keyboard, a mouse or another input device · HID over GATT Profile 1.0, 4 (HID Host).
///
/// The device requires an encrypted link: the initializer pairs if necessary.
public struct HumanInterfaceDeviceClient: Sendable {
  /// The assigned number of the Human Interface Device service.
  public static let service: UInt16 = 0x1812

  /// A report of the device in the format of its Report Map.
  public struct Report: Hashable, Sendable {
    /// The type and the Report ID.
    public let reference: ReportReference
    /// The characteristic.
    public let value: ProfileCharacteristic<HIDReport>
  }

  /// A received input report.
  public struct Input: Hashable, Sendable {
    /// The Report ID; 0 if the Report Map does not use Report IDs.
    public let reportID: UInt8
    /// The octets of the report, without the Report ID.
    public let octets: [UInt8]
  }

  /// The version and the properties of the device.
  public let information: HIDInformation
  /// The reports, in the order of their handles.
  public let reports: [Report]

  private let map: ProfileCharacteristic<ReportMap>
  private let controlPoint: ProfileCharacteristic<HIDControlPoint>
  private let mode: ProfileCharacteristic<ProtocolMode>?
  private let bootKeyboardInput: ProfileCharacteristic<BootKeyboardInputReport>?
  private let bootKeyboardOutput: ProfileCharacteristic<BootKeyboardOutputReport>?
  private let bootMouseInput: ProfileCharacteristic<BootMouseInputReport>?

  /// Discovers the service of a connected peripheral, and reads the HID Information and the Report References.
  ///
  /// - Throws: `ProfileError.missingService` and `ProfileError.missingCharacteristic`; `ProfileError.malformedValue` for
  ///   the values that it reads, beside the errors of every call.
  public init(_ peripheral: Peripheral) async throws {
    let service = try await ProfileService(Self.service, of: peripheral)
    // This read encrypts the link. On a link without encryption, the device would ignore the writes without response.
    information = try await service.require(HIDInformation.self).read()
    map = try service.require()
    controlPoint = try service.require()
    mode = service.find()
    bootKeyboardInput = service.find()
    bootKeyboardOutput = service.find()
    bootMouseInput = service.find()
    var reports: [Report] = []
    for characteristic in service.all(HIDReport.uuid) {
      guard let reference = try await characteristic.descriptor(ReportReference.self) else { continue }
      reports.append(Report(reference: reference, value: ProfileCharacteristic(characteristic)))
    }
    self.reports = reports
  }

  /// Returns the format of the reports.
  public func reportMap() async throws -> ReportMap { try await map.read() }

  // MARK: Input

  /// Subscribes to all input reports, and returns them in the order in which they arrive. The subscriptions last until
  /// the stream is released or its iteration ends. The app must retain this client meanwhile.
  ///
  /// - Throws: `ProfileError.missingCharacteristic` if there is no input report, beside the errors of every call.
  public func subscribeToInput() async throws -> AsyncThrowingStream<Input, any Error> {
    let inputs = reports.filter { $0.reference.type == .input }
    guard !inputs.isEmpty else { throw ProfileError.missingCharacteristic(HIDReport.uuid, of: Self.service) }
    let identifiers = inputs.map(\.reference.reportID)
    return try await RemoteCharacteristic.subscribe(to: inputs.map(\.value.characteristic)) { index, octets in
      Input(reportID: identifiers[index], octets: Array(octets))
    }
  }

  /// The boot reports of a keyboard, sent in Boot Protocol Mode; nil if the device is no boot keyboard.
  public var keyboardReports: Measurements<BootKeyboardInputReport>? { bootKeyboardInput?.measurements }

  /// The boot reports of a mouse, sent in Boot Protocol Mode; nil if the device is no boot mouse.
  public var mouseReports: Measurements<BootMouseInputReport>? { bootMouseInput?.measurements }

  /// The keys that are pressed and released, from the boot reports; nil if the device is no boot keyboard. The device
  /// sends boot reports in Boot Protocol Mode: call `setProtocolMode(.boot)`.
  public var keyEvents: KeyEvents? { keyboardReports.map { KeyEvents(reports: $0) } }

  // MARK: Output and control

  /// Sets the LEDs of a keyboard with the boot report, which is valid in both protocol modes.
  ///
  /// - Throws: `ProfileError.missingCharacteristic` if the device is no boot keyboard.
  public func setLEDs(_ leds: BootKeyboardOutputReport) async throws {
    try await bootKeyboardOutput.required(of: Self.service).send(leds)
  }

  /// Returns the protocol mode; nil if the device has Report Protocol Mode only.
  public func protocolMode() async throws -> ProtocolMode? { try await mode?.read() }

  /// Chooses the protocol mode of the connection. A new connection begins in Report Protocol Mode.
  ///
  /// - Throws: `ProfileError.missingCharacteristic` if the device has Report Protocol Mode only.
  public func setProtocolMode(_ value: ProtocolMode) async throws {
    try await mode.required(of: Self.service).send(value)
  }

  /// Tells the device that this host enters or leaves the suspend state.
  public func setSuspended(_ isSuspended: Bool) async throws {
    try await controlPoint.send(isSuspended ? .suspend : .exitSuspend)
  }
}

/// A key that is pressed or released.
public struct KeyEvent: Hashable, Sendable {
  /// The usage of the key on the Keyboard page of the HID Usage Tables, such as 0x04 for A. Modifiers have the usages
  /// 0xE0 to 0xE7.
  public var usage: UInt8
  /// True if the key is pressed, false if it is released.
  public var isPressed: Bool

  /// Creates an event.
  public init(usage: UInt8, isPressed: Bool) {
    self.usage = usage
    self.isPressed = isPressed
  }
}

/// The keys of a keyboard that are pressed and released.
public struct KeyEvents: AsyncSequence, Sendable {
  public typealias Element = KeyEvent
  public typealias Failure = any Error

  fileprivate let reports: Measurements<BootKeyboardInputReport>

  /// Begins an iteration, which regards all keys as released.
  public func makeAsyncIterator() -> Iterator { Iterator(base: reports.makeAsyncIterator()) }

  /// An iteration over the events.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: Measurements<BootKeyboardInputReport>.Iterator
    private var pressed: Set<UInt8> = []
    private var pending: [KeyEvent] = []

    fileprivate init(base: Measurements<BootKeyboardInputReport>.Iterator) { self.base = base }

    /// Waits for the next event. Of one report, releases precede presses, each in the order of the usages.
    ///
    /// - Throws: as the iteration over the reports does.
    public mutating func next() async throws -> KeyEvent? {
      while pending.isEmpty {
        guard let report = try await base.next() else { return nil }
        let modifiers = (0..<8).filter { report.modifiers.rawValue >> $0 & 1 == 1 }.map { 0xE0 + UInt8($0) }
        // ErrorRollOver and its neighbours: too many keys, so the keys of the report are unknown and those before stay
        // pressed. The modifiers are valid · Device Class Definition for HID 1.11, Appendix C.
        let isOverflow = report.keys.contains { 1...3 ~= $0 }
        let keys = isOverflow ? pressed.filter { $0 < 0xE0 } : Set(report.keys.filter { $0 != 0 })
        let now = keys.union(modifiers)
        pending += pressed.subtracting(now).sorted().map { KeyEvent(usage: $0, isPressed: false) }
        pending += now.subtracting(pressed).sorted().map { KeyEvent(usage: $0, isPressed: true) }
        pressed = now
      }
      return pending.removeFirst()
    }
  }
}
