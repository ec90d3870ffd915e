import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A client that makes a device alert · Find Me Profile 1.0, 4 (Find Me Locator).
public struct FindMeClient: Sendable {
  /// The assigned number of the Immediate Alert service.
  public static let service: UInt16 = 0x1802

  private let level: ProfileCharacteristic<AlertLevel>

  /// Discovers the service of a connected peripheral.
  ///
  /// - Throws: `ProfileError.missingService` and `ProfileError.missingCharacteristic`, beside the errors of every call.
  public init(_ peripheral: Peripheral) async throws {
    level = try await ProfileService(Self.service, of: peripheral).require()
  }

  /// Starts the alert of this level, or stops it with `.noAlert`. The device does not acknowledge it.
  public func alert(_ level: AlertLevel) async throws { try await self.level.send(level) }
}

/// A client that monitors the proximity of a device · Proximity Profile 1.0, 4 (Proximity Monitor).
///
/// The device alerts by itself when the link is lost. For an alert on a fading link, compare `pathLoss` with a threshold
/// and call `alert`.
public struct ProximityClient: Sendable {
  /// The assigned number of the Link Loss service, the one that the profile requires.
  public static let service: UInt16 = 0x1803

  private let peripheral: Peripheral
  private let linkLoss: ProfileCharacteristic<AlertLevel>
  private let immediateAlert: ProfileCharacteristic<AlertLevel>?
  private let power: ProfileCharacteristic<TxPowerLevel>?

  /// Discovers the services of a connected peripheral.
  ///
  /// - Throws: `ProfileError.missingService` and `ProfileError.missingCharacteristic`, beside the errors of every call.
  public init(_ peripheral: Peripheral) async throws {
    self.peripheral = peripheral
    linkLoss = try await ProfileService(Self.service, of: peripheral).require()
    immediateAlert = try await ProfileService.optional(FindMeClient.service, of: peripheral)?.find()
    power = try await ProfileService.optional(0x1804, of: peripheral)?.find()
  }

  /// Returns the level of the alert on loss of the link.
  public func linkLossAlert() async throws -> AlertLevel { try await linkLoss.read() }

  /// Sets the level of the alert on loss of the link.
  public func setLinkLossAlert(_ level: AlertLevel) async throws { try await linkLoss.write(level) }

  /// Starts the alert of this level at once, or stops it with `.noAlert`. The device does not acknowledge it.
  ///
  /// - Throws: `ProfileError.missingService` if the device has no immediate alert.
  public func alert(_ level: AlertLevel) async throws {
    guard let immediateAlert else { throw ProfileError.missingService(FindMeClient.service) }
    try await immediateAlert.send(level)
  }

  /// Returns the transmit power of the device; nil if the device does not tell it.
  public func transmitPower() async throws -> TxPowerLevel? { try await power?.read() }

  /// Returns the path loss in decibels: the transmit power of the device minus the received signal strength; nil if one
  /// of them is not known · Proximity Profile 1.0, 5.2.
  public func pathLoss() async throws -> Int? {
    guard let power = try await transmitPower(), let rssi = try await peripheral.readRSSI() else { return nil }
    return Int(power.level) - rssi
  }
}

/// A client of the alerts of a telephone · Alert Notification Profile 1.0, 4 (Alert Notification Client).
///
/// Subscribe to the alerts, and enable the categories.
public struct AlertNotificationClient: Sendable {
  /// The assigned number of the Alert Notification service.
  public static let service: UInt16 = 0x1811

  private let supportedNew: ProfileCharacteristic<SupportedNewAlertCategory>
  private let new: ProfileCharacteristic<NewAlert>
  private let supportedUnread: ProfileCharacteristic<SupportedUnreadAlertCategory>
  private let unread: ProfileCharacteristic<UnreadAlertStatus>
  private let controlPoint: ProfileCharacteristic<AlertNotificationControlPoint>

  /// Discovers the service of a connected peripheral.
  ///
  /// - Throws: `ProfileError.missingService` and `ProfileError.missingCharacteristic`, beside the errors of every call.
  public init(_ peripheral: Peripheral) async throws {
    let service = try await ProfileService(Self.service, of: peripheral)
    supportedNew = try service.require()
    new = try service.require()
    supportedUnread = try service.require()
    unread = try service.require()
    controlPoint = try service.require()
  }

  /// Returns the categories of new alerts that the telephone supports.
  public func supportedNewAlerts() async throws -> SupportedNewAlertCategory { try await supportedNew.read() }

  /// Returns the categories of unread alerts that the telephone supports.
  public func supportedUnreadAlerts() async throws -> SupportedUnreadAlertCategory { try await supportedUnread.read() }

  /// The notified new alerts of the enabled categories.
  public var newAlerts: Measurements<NewAlert> { new.measurements }

  /// The notified numbers of unread alerts of the enabled categories.
  public var unreadAlerts: Measurements<UnreadAlertStatus> { unread.measurements }

  /// Enables or disables a category, or requests the present state of an enabled one.
  ///
  /// - Throws: `ProfileError.commandNotSupported` if the telephone does not support the command or the category.
  public func perform(
    _ command: AlertNotificationControlPoint.Command, for category: AlertCategory = .all
  ) async throws {
    try await replacing(0xA0, with: .commandNotSupported) {
      try await controlPoint.write(AlertNotificationControlPoint(command, category))
    }
  }
}

/// A client of the ringer of a telephone · Phone Alert Status Profile 1.0, 4 (Phone Alert Client).
public struct PhoneAlertStatusClient: Sendable {
  /// The assigned number of the Phone Alert Status service.
  public static let service: UInt16 = 0x180E

  private let status: ProfileCharacteristic<AlertStatus>
  private let ringer: ProfileCharacteristic<RingerSetting>
  private let controlPoint: ProfileCharacteristic<RingerControlPoint>?

  /// Discovers the service of a connected peripheral.
  ///
  /// - Throws: `ProfileError.missingService` and `ProfileError.missingCharacteristic`, beside the errors of every call.
  public init(_ peripheral: Peripheral) async throws {
    let service = try await ProfileService(Self.service, of: peripheral)
    status = try service.require()
    ringer = try service.require()
    controlPoint = service.find()
  }

  /// Returns the state of ringer, vibration and display.
  public func alertStatus() async throws -> AlertStatus { try await status.read() }

  /// The notified changes of the state.
  public var alertStatusChanges: Measurements<AlertStatus> { status.measurements }

  /// Returns the ringer setting.
  public func ringerSetting() async throws -> RingerSetting { try await ringer.read() }

  /// The notified changes of the ringer setting.
  public var ringerSettingChanges: Measurements<RingerSetting> { ringer.measurements }

  /// Sends a command for the ringer. The telephone does not acknowledge it; a change of the state is notified.
  ///
  /// - Throws: `ProfileError.missingCharacteristic` if the telephone takes no commands.
  public func perform(_ command: RingerControlPoint) async throws {
    try await controlPoint.required(of: Self.service).send(command)
  }
}
