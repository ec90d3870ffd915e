import BluetoothProfiles

/// A telephone that serves accessories: Alert Notification (0x1811), Phone Alert Status (0x180E), Current Time (0x1805),
/// Next DST Change (0x1807) and Reference Time Update (0x1806) · Alert Notification Profile 1.0, Phone Alert Status
/// Profile 1.0 and Time Profile 1.0, 3.
///
/// In a world, the telephone is a peripheral; the app under test is the client, as a watch would be. `Device.serve(_:)`
/// adds the services to a device, which serves them to the watch over the link that the device has made.
public struct Telephone: Accessory {
  /// The UUID of the Alert Notification service.
  public static let alerts: BluetoothUUID = 0x1811
  /// Supported New Alert Category: the value of `categories`.
  public static let supportedNewAlerts = Characteristic<SupportedNewAlertCategory>(of: alerts)
  /// Supported Unread Alert Category: the value of `categories`.
  public static let supportedUnreadAlerts = Characteristic<SupportedUnreadAlertCategory>(of: alerts)
  /// New Alert, notified for each alert of a category that the client has enabled.
  public static let newAlert = Characteristic<NewAlert>(of: alerts)
  /// Unread Alert Status, notified when the number of unread alerts of an enabled category changes.
  public static let unreadAlerts = Characteristic<UnreadAlertStatus>(of: alerts)
  /// Alert Notification Control Point: it enables and disables categories, and requests notifications.
  public static let alertControlPoint = Characteristic<AlertNotificationControlPoint>(of: alerts)

  /// The UUID of the Phone Alert Status service.
  public static let phoneAlert: BluetoothUUID = 0x180E
  /// Alert Status: the value of `alertStatus`, notified when it changes.
  public static let alertStatusValue = Characteristic<AlertStatus>(of: phoneAlert)
  /// Ringer Setting: the value of `ringer`, notified when it changes.
  public static let ringerSetting = Characteristic<RingerSetting>(of: phoneAlert)
  /// Ringer Control Point: Silent Mode, Mute Once and Cancel Silent Mode.
  public static let ringerControlPoint = Characteristic<RingerControlPoint>(of: phoneAlert)

  /// The UUID of the Current Time service.
  public static let time: BluetoothUUID = 0x1805
  /// Current Time, which clients may set, and which is notified when the clock is adjusted.
  public static let currentTime = Characteristic<CurrentTime>(of: time)
  /// Local Time Information: the value of `localTime`.
  public static let localTimeInformation = Characteristic<LocalTimeInformation>(of: time)
  /// Reference Time Information: the source of the time, and the age of the last update.
  public static let referenceTimeInformation = Characteristic<ReferenceTimeInformation>(of: time)
  /// Time with DST of Next DST Change (0x1807): the value of `nextDSTChange`.
  public static let timeWithDST = Characteristic<TimeWithDST>(of: 0x1807)
  /// Time Update Control Point of Reference Time Update (0x1806).
  public static let timeUpdateControlPoint = Characteristic<TimeUpdateControlPoint>(of: 0x1806)
  /// Time Update State of Reference Time Update (0x1806).
  public static let timeUpdateState = Characteristic<TimeUpdateState>(of: 0x1806)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The categories of alerts that the telephone supports.
  public var categories: [AlertCategory] = [.email, .call, .missedCall, .sms, .schedule, .instantMessage]
  /// The state of the ringer, the vibration and the display.
  public var alertStatus: AlertStatus = []
  /// The ringer setting.
  public var ringer = RingerSetting.normal
  /// The time zone and the daylight saving time.
  public var localTime = LocalTimeInformation(timeZone: TimeZoneOffset(clamping: 4), dstOffset: .standardTime)
  /// The next change of the daylight saving time; nil if it is not known: then there is no such service.
  public var nextDSTChange = DateTime(year: 2024, month: 3, day: 31, hours: 2).map {
    TimeWithDST(dateTime: $0, dstOffset: .daylightTime)
  }
  /// The alerts that the telephone gives by itself. A change applies when the telephone is turned on the next time.
  public var scheduledAlerts: [ScheduledAlert] = []
  /// The time that an update from the reference takes.
  public var updateTime = Duration.seconds(2)
  /// True if the telephone has a connection to the reference of the time.
  public var hasReference = true
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service.
  public var information = DeviceInformation(model: "Telephone")
  private var newAlerts: [(category: AlertCategory, alert: NewAlert)] = []
  private var unread: [(category: AlertCategory, count: UInt8)] = []
  private var clients: [Client] = []
  /// The scheduled alerts that are still to come, in the order of their times.
  private var alertsToCome: ArraySlice<ScheduledAlert> = []
  /// The world's time at which the telephone was turned on.
  private var startOfSchedule = Duration.zero
  private var timers = AccessoryTimers<Purpose>()
  /// The world's time at the last tick, and the time of the clock since 1970 at the world's time 0.
  private var now = Duration.zero
  private var epoch: Duration
  private var adjustReason: CurrentTime.AdjustReason = []
  private var lastUpdate: Duration?
  private var update = TimeUpdateState(currentState: .idle, result: .updateNotAttemptedAfterReset)

  private enum Purpose { case tick, update, alert }

  /// An alert that the telephone gives by itself.
  public struct ScheduledAlert: Hashable, Sendable {
    /// The time after the telephone is turned on.
    public var time: Duration
    /// The category; without effect if the telephone does not support it.
    public var category: AlertCategory
    /// The name or title, of which at most 18 octets of UTF-8 are sent.
    public var text: String
    /// The number of unread alerts of the category from then on; nil: unchanged.
    public var unread: UInt8?
    /// The state of the ringer, the vibration and the display from then on; nil: unchanged.
    public var alertStatus: AlertStatus?

    /// Creates an alert.
    public init(
      at time: Duration, _ category: AlertCategory, text: String = "", unread: UInt8? = nil,
      alertStatus: AlertStatus? = nil
    ) {
      (self.time, self.category, self.text) = (time, category, text)
      (self.unread, self.alertStatus) = (unread, alertStatus)
    }
  }

  /// The categories that a client has enabled.
  private struct Client {
    let client: AccessoryClient
    var new: Set<AlertCategory> = []
    var unread: Set<AlertCategory> = []
  }

  /// Creates a telephone.
  ///
  /// - Parameters:
  ///   - name: the advertised name.
  ///   - startTime: the local time at the world's time 0; 2024-01-01 by default, also for a time without a date.
  public init(name: String = "Telephone", startTime: DateTime? = nil) {
    self.name = name
    // 19,723 days after 1970-01-01.
    epoch = .seconds(startTime?.secondsSince1970 ?? 19_723 * 86_400)
  }

  // MARK: Alerts

  /// Counts a new alert of a category, and notifies the clients that have enabled it.
  ///
  /// - Parameters:
  ///   - category: the category; without effect if the telephone does not support it.
  ///   - text: the name or title, of which at most 18 octets of UTF-8 are sent.
  ///   - context: the context of the callback.
  public mutating func alert(_ category: AlertCategory, text: String = "", in context: inout AccessoryContext) {
    guard categories.contains(category) else { return }
    var short = text
    while short.utf8.count > 18 { short.removeLast() }
    let count = newAlerts.first { $0.category == category }?.alert.count ?? 0
    let alert = NewAlert(category: category, count: count == .max ? count : count + 1, text: short)
    newAlerts.removeAll { $0.category == category }
    newAlerts.append((category, alert))
    for client in clients where client.new.contains(category) {
      context.send(alert, of: Self.newAlert, to: client.client)
    }
  }

  /// Sets the number of unread alerts of a category, and notifies the clients that have enabled it.
  public mutating func setUnread(_ count: UInt8, of category: AlertCategory, in context: inout AccessoryContext) {
    guard categories.contains(category) else { return }
    unread.removeAll { $0.category == category }
    unread.append((category, count))
    for client in clients where client.unread.contains(category) {
      context.send(UnreadAlertStatus(category: category, count: count), of: Self.unreadAlerts, to: client.client)
    }
  }

  /// Gives the scheduled alerts that are due, and schedules the next one.
  private mutating func giveScheduledAlerts(in context: inout AccessoryContext) {
    while let next = alertsToCome.first, startOfSchedule + next.time <= now {
      alertsToCome.removeFirst()
      alert(next.category, text: next.text, in: &context)
      if let count = next.unread { setUnread(count, of: next.category, in: &context) }
      if let status = next.alertStatus, status != alertStatus {
        alertStatus = status
        context.notify(Self.alertStatusValue)
      }
    }
    guard let next = alertsToCome.first else { return }
    timers.set(.alert, after: startOfSchedule + next.time - now, in: &context)
  }

  /// Performs a command of the Alert Notification Control Point. Throws Command Not Supported (0xA0) for a command or a
  /// category that is not supported · Alert Notification Service 1.0, 1.6 and 3.5.
  private mutating func perform(
    _ value: AlertNotificationControlPoint, in context: inout AccessoryContext
  ) throws(ATTErrorCode) {
    guard value.command.name != nil, value.category == .all || categories.contains(value.category),
      let client = context.client
    else { throw ATTErrorCode(rawValue: 0xA0) }
    let selected = value.category == .all ? categories : [value.category]
    if !clients.contains(where: { $0.client == client }) { clients.append(Client(client: client)) }
    guard let index = clients.firstIndex(where: { $0.client == client }) else { return }
    switch value.command {
    case .enableNewAlert: clients[index].new.formUnion(selected)
    case .enableUnreadStatus: clients[index].unread.formUnion(selected)
    case .disableNewAlert: clients[index].new.subtract(selected)
    case .disableUnreadStatus: clients[index].unread.subtract(selected)
    case .notifyNewAlertImmediately:
      for category in selected where clients[index].new.contains(category) {
        let alert = newAlerts.first { $0.category == category }?.alert
        context.send(alert ?? NewAlert(category: category, count: 0), of: Self.newAlert, to: client)
      }
    default:
      for category in selected where clients[index].unread.contains(category) {
        let count = unread.first { $0.category == category }?.count ?? 0
        context.send(UnreadAlertStatus(category: category, count: count), of: Self.unreadAlerts, to: client)
      }
    }
  }

  /// Performs a command of the Ringer Control Point; a reserved command has no effect · Phone Alert Status Service 1.0,
  /// 3.3.
  private mutating func perform(_ command: RingerControlPoint, in context: inout AccessoryContext) {
    let before = (ringer, alertStatus)
    switch command {
    case .silentMode:
      ringer = .silent
      alertStatus.remove(.ringer)
    case .muteOnce: alertStatus.remove(.ringer)
    case .cancelSilentMode: ringer = .normal
    default: break
    }
    if ringer != before.0 { context.notify(Self.ringerSetting) }
    if alertStatus != before.1 { context.notify(Self.alertStatusValue) }
  }

  // MARK: Time

  /// Returns the time of the clock at the world's time.
  private func clock(at now: Duration) -> CurrentTime {
    let (seconds, attoseconds) = (epoch + now).components
    // The clock is never before 1970 or after 9999: `setClock` takes only such times, and a world ends before 9999.
    let time = DateTime(secondsSince1970: Int(min(max(0, seconds), 253_402_300_799)))
    let fraction = UInt8(clamping: attoseconds / (1_000_000_000_000_000_000 / 256))
    let dayDateTime = DayDateTime(
      dateTime: time ?? Self.unknownTime, dayOfWeek: Self.dayOfWeek(Int(seconds)))
    return CurrentTime(
      exactTime: ExactTime256(dayDateTime: dayDateTime, fractions256: fraction), adjustReason: adjustReason)
  }

  private static let unknownTime: DateTime = {
    // Zero means "not known" in each of these fields, so the initializer accepts this constant.
    guard let time = DateTime(year: 0, month: 0, day: 0) else { fatalError("a time without a date is permitted") }
    return time
  }()

  /// Returns the day of the week; 1970-01-01 was a Thursday.
  private static func dayOfWeek(_ seconds: Int) -> DayOfWeek {
    DayOfWeek(rawValue: UInt8((max(0, seconds) / 86_400 + 3) % 7 + 1))
  }

  /// Sets the clock. Throws Value Not Allowed (0x13) for a time without a date or with a day that its month does not
  /// have, and Data Field Ignored (0x80), although the clock is set, for a day of the week that does not match the date
  /// · Current Time Service 1.1, 1.5 and 3.1.
  private mutating func setClock(_ value: CurrentTime, in context: inout AccessoryContext) throws(ATTErrorCode) {
    let day = value.exactTime.dayDateTime
    guard let seconds = day.dateTime.secondsSince1970, DateTime(secondsSince1970: seconds) == day.dateTime else {
      throw .valueNotAllowed
    }
    now = context.now
    let fraction = Duration.nanoseconds(Int64(value.exactTime.fractions256) * 3_906_250)
    epoch = .seconds(seconds) + fraction - now
    adjustReason = .manualTimeUpdate
    context.notify(Self.currentTime)
    let isIgnored = day.dayOfWeek != .unknown && day.dayOfWeek != Self.dayOfWeek(seconds)
    if isIgnored { throw ATTErrorCode(rawValue: 0x80) }
  }

  /// The source of the time, and the age of the last update.
  private var reference: ReferenceTimeInformation {
    let hours = lastUpdate.map { (now - $0).components.seconds / 3_600 } ?? .max
    let isOld = hours >= 255 * 24
    return ReferenceTimeInformation(
      source: lastUpdate == nil ? .notSynchronized : .cellularNetwork,
      accuracy: lastUpdate.flatMap { _ in TimeAccuracy(rawValue: 8) } ?? TimeAccuracy(clamping: 253),
      daysSinceUpdate: isOld ? 255 : UInt8(hours / 24), hoursSinceUpdate: isOld ? 255 : UInt8(hours % 24))
  }

  /// Starts or cancels an update from the reference · Reference Time Update Service 1.0, 3.1.
  private mutating func perform(_ command: TimeUpdateControlPoint, in context: inout AccessoryContext) {
    switch command {
    case .getReferenceUpdate where update.currentState == .idle:
      update.currentState = .updatePending
      timers.set(.update, after: updateTime, in: &context)
    case .cancelReferenceUpdate where update.currentState == .updatePending:
      update = TimeUpdateState(currentState: .idle, result: .canceled)
      timers.set(.update, after: nil, in: &context)
    default: break
    }
  }

  // MARK: Services

  /// Connectable advertising with Flags, three service UUIDs and the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(fitting: [.flags(), .services([Self.alerts, Self.phoneAlert, Self.time]), .name(name)]),
      schedule: advertisingSchedule)
  }

  /// Phone.
  public var appearance: Appearance { Appearance(rawValue: 0x0040) }

  /// The services of the telephone, Battery and Device Information.
  public var services: [AccessoryService<Self>] {
    var services = [alertService, phoneAlertService, timeService]
    if let nextDSTChange {
      services.append(
        AccessoryService(0x1807, [AccessoryCharacteristic(Self.timeWithDST, .read, value: { _ in nextDSTChange })]))
    }
    services.append(
      AccessoryService(
        0x1806,
        [
          AccessoryCharacteristic(Self.timeUpdateControlPoint, .writeWithoutResponse) { telephone, command, context in
            telephone.perform(command, in: &context)
          },
          AccessoryCharacteristic(Self.timeUpdateState, .read, value: \.update),
        ]))
    return services + [.battery(level: \.batteryLevel), .deviceInformation(information)]
  }

  private var alertService: AccessoryService<Self> {
    AccessoryService(
      Self.alerts,
      [
        AccessoryCharacteristic(
          Self.supportedNewAlerts, .read, value: { SupportedNewAlertCategory($0.categories) }),
        // The values are sent to one client at a time, so they have no current value.
        AccessoryCharacteristic(octetsOf: Self.newAlert.path, .notify),
        AccessoryCharacteristic(
          Self.supportedUnreadAlerts, .read, value: { SupportedUnreadAlertCategory($0.categories) }),
        AccessoryCharacteristic(octetsOf: Self.unreadAlerts.path, .notify),
        AccessoryCharacteristic(Self.alertControlPoint, .write) {
          (telephone, command, context) throws(ATTErrorCode) in try telephone.perform(command, in: &context)
        },
      ])
  }

  private var phoneAlertService: AccessoryService<Self> {
    AccessoryService(
      Self.phoneAlert,
      [
        AccessoryCharacteristic(Self.alertStatusValue, [.read, .notify], value: \.alertStatus),
        AccessoryCharacteristic(Self.ringerSetting, [.read, .notify], value: \.ringer),
        AccessoryCharacteristic(Self.ringerControlPoint, .writeWithoutResponse) { telephone, command, context in
          telephone.perform(command, in: &context)
        },
      ])
  }

  private var timeService: AccessoryService<Self> {
    var clock: AccessoryCharacteristic<Self> = AccessoryCharacteristic(
      Self.currentTime, [.read, .write, .notify], value: { $0.clock(at: $0.now) },
      written: { (telephone, time, context) throws(ATTErrorCode) in try telephone.setClock(time, in: &context) })
    clock.readAtTime = { telephone, time in telephone.clock(at: time).octets }
    return AccessoryService(
      Self.time,
      [
        clock,
        AccessoryCharacteristic(Self.localTimeInformation, .read, value: \.localTime),
        AccessoryCharacteristic(Self.referenceTimeInformation, .read, value: \.reference),
      ])
  }

  // MARK: Behaviour

  /// Starts the clock and the schedule of alerts.
  public mutating func started(in context: inout AccessoryContext) {
    now = context.now
    timers.set(.tick, after: .seconds(1), in: &context)
    startOfSchedule = now
    alertsToCome = scheduledAlerts.sorted { $0.time < $1.time }[...]
    giveScheduledAlerts(in: &context)
  }

  /// Forgets the categories of the client.
  public mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {
    clients.removeAll { $0.client == context.client }
  }

  /// Advances the clock, gives scheduled alerts, or ends an update from the reference.
  public mutating func timeReached(in context: inout AccessoryContext) {
    now = context.now
    for purpose in timers.takeDue(in: &context) {
      switch purpose {
      case .tick: timers.set(.tick, after: .seconds(1), in: &context)
      case .alert: giveScheduledAlerts(in: &context)
      case .update:
        update = TimeUpdateState(
          currentState: .idle, result: hasReference ? .successful : .noConnectionToReference)
        guard hasReference else { break }
        lastUpdate = now
        adjustReason = .externalReferenceTimeUpdate
        context.notify(Self.currentTime)
      }
    }
  }
}
