import BluetoothProfiles

/// A key fob that sounds an alarm on command or when its link is lost, and whose button makes the phone sound:
/// Immediate Alert (0x1802), Link Loss (0x1803) and Tx Power (0x1804), with Battery and Device Information. It is a
/// Find Me Target, a Find Me Locator and a Proximity Reporter · Find Me Profile 1.0, 3 and 4, and Proximity Profile
/// 1.0, 3.
///
/// As a locator, the key fob is the client of the Immediate Alert service of the phone, which an app publishes with
/// `CBPeripheralManager`:
///
/// ```swift
/// let fob = world.add(KeyFob(), named: "keys")
/// fob.act { fob, context in fob.pressButton(in: &context) }
/// ```
///
/// After a central connects, the key fob requests a short connection interval, which speeds up service discovery, and
/// later a long one.
public struct KeyFob: Accessory {
  /// Alert Level of Immediate Alert (0x1802): a write starts or stops the alarm at once. The button writes it to the
  /// phone.
  public static let immediateAlert = Characteristic<AlertLevel>(of: 0x1802)
  /// Alert Level of Link Loss (0x1803): the alarm to sound when the link is lost.
  public static let linkLoss = Characteristic<AlertLevel>(of: 0x1803)
  /// Tx Power Level of Tx Power (0x1804).
  public static let transmitPowerLevel = Characteristic<TxPowerLevel>(of: 0x1804)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = [
    Advertising.Phase.every(.milliseconds(20), for: .seconds(30)), .every(.milliseconds(1_022.5)),
  ]
  /// The alarm that sounds now.
  public var alert = AlertLevel.noAlert
  /// The alarm that starts when the link is lost.
  public var linkLossAlert = AlertLevel.noAlert
  /// The value of Tx Power Level, −100 to 20 dBm. It does not set the radio's transmit power,
  /// `DeviceOptions.transmitPower`, which a world file takes as the default of this value.
  public var transmitPower: Int8
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service.
  public var information = DeviceInformation(model: "Key Fob")
  /// The connection parameters requested first; nil for none. Like every peripheral, the key fob waits at least 5 s
  /// after the connection.
  public var fast: PreferredConnectionParameters? = PreferredConnectionParameters(interval: .milliseconds(15))
  /// The time for which the key fob keeps the parameters in `fast`.
  public var fastTime: Duration = .seconds(5)
  /// The connection parameters requested after `fastTime`; nil for none.
  public var slow: PreferredConnectionParameters? = PreferredConnectionParameters(
    interval: .milliseconds(500), latency: 4, supervisionTimeout: .seconds(6))

  /// The result of a press of the button.
  public enum PressResult: Hashable, Sendable {
    /// No phone is connected, so nothing was sent.
    case notConnected
    /// The key fob looks for the Immediate Alert service of the phone, or writes to it.
    case pending
    /// The alert level has been sent to the phone.
    case sent
    /// The alert level was not written, for example because the phone has no Immediate Alert service.
    case failed(CentralWriteError)
  }

  /// The alert level that a press of the button writes to the phone.
  public var buttonAlert = AlertLevel.highAlert
  /// The time after power-on at which the button is pressed by itself, and between two such presses; nil: it is pressed
  /// by `pressButton(in:)` only.
  public var buttonInterval: Duration?
  /// The result of the last press of the button; nil: the button was not pressed.
  public private(set) var lastPress: PressResult?
  private var timers = AccessoryTimers<Purpose>()

  private enum Purpose {
    case slowConnection, button
  }

  /// Creates a key fob whose alarm is off.
  public init(name: String = "Key Fob", transmitPower: Int8 = 0) {
    self.name = name
    self.transmitPower = transmitPower
  }

  /// Connectable advertising with Flags, service UUIDs, transmit power and name.
  public var advertising: Advertising {
    var result = Advertising(
      AdvertisingPayload(
        fitting: [
          .flags(),
          .services([Self.immediateAlert.path, Self.linkLoss.path, Self.transmitPowerLevel.path].map(\.service)),
          .transmitPower(transmitPower), .name(name),
        ]))
    result.schedule = advertisingSchedule
    return result
  }

  /// Generic Keyring.
  public var appearance: Appearance { Appearance(rawValue: 0x0240) }

  /// The Immediate Alert, Link Loss, Tx Power, Battery and Device Information services.
  public var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        0x1802,
        [
          AccessoryCharacteristic(Self.immediateAlert, .writeWithoutResponse) {
            (fob, level, _) throws(ATTErrorCode) in fob.alert = try Self.accepted(level)
          }
        ]),
      AccessoryService(
        0x1803,
        [
          AccessoryCharacteristic(
            Self.linkLoss, [.read, .write], value: \.linkLossAlert,
            written: { (fob, level, _) throws(ATTErrorCode) in fob.linkLossAlert = try Self.accepted(level) })
        ]),
      AccessoryService(
        0x1804,
        [
          AccessoryCharacteristic(
            Self.transmitPowerLevel, .read, value: { TxPowerLevel(clamping: $0.transmitPower) })
        ]),
      .battery(level: \.batteryLevel),
      .deviceInformation(information),
    ]
  }

  /// Returns the level. Throws Value Not Allowed (0x13) if it is reserved for future use.
  private static func accepted(_ level: AlertLevel) throws(ATTErrorCode) -> AlertLevel {
    guard level.name != nil else { throw .valueNotAllowed }
    return level
  }

  /// Presses the button: writes `buttonAlert` to the Immediate Alert service of the phone. If no phone is connected, or
  /// the phone lacks the service, `lastPress` says so, and nothing else happens.
  public mutating func pressButton(in context: inout AccessoryContext) {
    guard context.connections > 0 else {
      lastPress = .notConnected
      return
    }
    lastPress = .pending
    context.writeToCentrals(buttonAlert, of: Self.immediateAlert)
  }

  /// Notes the result of a press of the button.
  public mutating func centralWriteEnded(
    of characteristic: CharacteristicPath, because error: CentralWriteError?, in context: inout AccessoryContext
  ) {
    lastPress = error.map { .failed($0) } ?? .sent
  }

  /// Schedules the first press of the button by itself.
  public mutating func started(in context: inout AccessoryContext) {
    timers = AccessoryTimers()
    scheduleButton(in: &context)
  }

  /// Applies a changed interval of the button, which begins now.
  public mutating func updated(in context: inout AccessoryContext) { scheduleButton(in: &context) }

  private mutating func scheduleButton(in context: inout AccessoryContext) {
    timers.run(.button, every: buttonInterval ?? .zero, while: buttonInterval != nil, in: &context)
  }

  /// TGAP(conn_pause_peripheral): the delay before the request for a fast connection · Vol 3, Part C, Appendix A.
  private static let pause = Duration.seconds(5)

  /// Requests the parameters in `fast`, and schedules those in `slow`.
  public mutating func connected(in context: inout AccessoryContext) {
    alert = .noAlert
    if let fast { context.requestConnection(fast) }
    if slow != nil { timers.set(.slowConnection, after: fast == nil ? fastTime : Self.pause + fastTime, in: &context) }
  }

  /// Requests the parameters in `slow`, and presses the button by itself.
  public mutating func timeReached(in context: inout AccessoryContext) {
    for purpose in timers.takeDue(in: &context) {
      switch purpose {
      case .slowConnection: if let slow { context.requestConnection(slow) }
      case .button:
        pressButton(in: &context)
        scheduleButton(in: &context)
      }
    }
  }

  /// Sounds `linkLossAlert` if the link was lost, such as by a supervision timeout or a MIC failure. If a device has
  /// terminated the link, an immediate alert stops: it lasts no longer than the link · Link Loss Service 1.0; Immediate
  /// Alert Service 1.0.
  public mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {
    timers.set(.slowConnection, after: nil, in: &context)
    alert = Self.isLinkLoss(reason) ? linkLossAlert : .noAlert
  }

  /// Returns true if neither device has terminated the link. The reasons that a host may give for a termination are
  /// those of the command Disconnect · Vol 4, Part E, 7.1.6. A link that was not established can't be lost.
  private static func isLinkLoss(_ reason: HCIErrorCode) -> Bool {
    switch reason {
    case .remoteUserTerminatedConnection, .remoteDeviceTerminatedLowResources, .remoteDeviceTerminatedPowerOff,
      .connectionTerminatedByLocalHost, .authenticationFailure, .unsupportedRemoteFeature,
      .unacceptableConnectionParameters, .connectionFailedToBeEstablished:
      false
    // Pairing with Unit Key Not Supported (0x29), the remaining reason of the command.
    default: reason.rawValue != 0x29
    }
  }
}
