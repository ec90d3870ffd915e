import BluetoothDaemon
import BluetoothProfiles
import BluetoothWire
import DequeModule

/// A phone that serves its notifications to accessories such as watches, with Battery and Device Information · Apple
/// Notification Center Service (ANCS) Specification.
///
/// In a world, the phone is a peripheral; the app or firmware under test is the watch, which connects to it. The phone
/// shares its notifications with each watch that has encrypted the link, and asks no user. A `Device` whose policy has
/// `PlatformPolicy.offersNotifications` serves the notifications of its system instead, also to a watch to which it has
/// connected, and asks its user.
///
/// ```swift
/// var email = DeviceNotification("1", app: "com.example.mail", title: "Ann", message: "Lunch?")
/// email.category = .email
/// var phone = NotifyingPhone()
/// phone.scheduledNotifications = [NotifyingPhone.ScheduledNotification(email, at: .seconds(5))]
/// world.add(phone, named: "phone")
/// ```
public struct NotifyingPhone: Accessory {
  /// The UUID of the Apple Notification Center Service.
  public static let service: BluetoothUUID = AppleNotificationService.service
  /// Notification Source, notified when a notification is added, modified or removed.
  public static let notificationSource = CharacteristicPath(AppleNotificationService.notificationSource, of: service)
  /// Control Point: commands that request attributes and perform actions.
  public static let controlPoint = CharacteristicPath(AppleNotificationService.controlPoint, of: service)
  /// Data Source, notified with the responses to commands, in parts.
  public static let dataSource = CharacteristicPath(AppleNotificationService.dataSource, of: service)

  /// A notification that appears, and may be removed, by itself.
  public struct ScheduledNotification: Hashable, Sendable {
    /// The notification. If the phone has one with the same identifier, this one replaces it.
    public var notification: DeviceNotification
    /// The time after the phone is turned on at which the notification appears.
    public var time: Duration
    /// The value of the Date attribute; nil: the time of the phone's clock at which the notification appears. A date
    /// with an unknown year, month or day is an empty value.
    public var date: DateTime?
    /// The time after the phone is turned on at which the notification is removed, unless a later one of the schedule has
    /// replaced it; nil: it stays.
    public var removalTime: Duration?

    /// Creates a notification that appears at this time.
    public init(
      _ notification: DeviceNotification, at time: Duration = .zero, date: DateTime? = nil,
      removedAt removalTime: Duration? = nil
    ) {
      (self.notification, self.time) = (notification, time)
      (self.date, self.removalTime) = (date, removalTime)
    }
  }

  /// An action on a notification that a watch has performed.
  public struct Action: Hashable, Sendable {
    /// The identifier of the notification.
    public var notification: String
    /// True for the positive action; false for the negative one.
    public var isPositive: Bool

    /// Creates an action.
    public init(notification: String, isPositive: Bool) {
      (self.notification, self.isPositive) = (notification, isPositive)
    }
  }

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The notifications that appear by themselves. A change applies when the phone is turned on the next time.
  public var scheduledNotifications: [ScheduledNotification]
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service.
  public var information = DeviceInformation(model: "Phone")
  /// The actions that watches have performed, oldest first; the latest 256. Each has ended its notification.
  public private(set) var actions: [Action] = []
  private var store = NotificationStore()
  private var watches: [Watch] = []
  /// The changes of the schedule that are still to come, in the order of their times.
  private var changesToCome: ArraySlice<Change> = []
  /// The world's time at which the phone was turned on.
  private var startOfSchedule = Duration.zero
  /// The time of the clock since 1970 at the world's time 0.
  private let epoch: Duration

  /// A change of the schedule.
  private struct Change {
    enum Content {
      case post(DeviceNotification, date: DateTime?)
      case remove(String)
    }
    let time: Duration
    /// The index of the notification in the schedule.
    let index: Int
    let content: Content
  }

  /// A value for a watch.
  private struct Output {
    let path: CharacteristicPath
    let octets: [UInt8]
  }

  /// A client that has subscribed to a characteristic of the service.
  private struct Watch {
    let client: AccessoryClient
    var wantsEvents = false
    var wantsData = false
    var waiting: Deque<Output> = []
    /// The characteristic whose value is being sent; nil: none.
    var sending: CharacteristicPath?
  }

  private static let maximumActionCount = 256
  /// The maximum number of values that wait for transmission to one watch.
  private static let maximumWaitingCount = 4_096

  /// Creates a phone.
  ///
  /// - Parameters:
  ///   - name: the advertised name.
  ///   - notifications: the notifications that the phone has when it is turned on.
  ///   - startTime: the local time at the world's time 0; 2024-01-01 by default, also for a time without a date.
  public init(name: String = "Phone", notifications: [DeviceNotification] = [], startTime: DateTime? = nil) {
    self.name = name
    scheduledNotifications = notifications.map { ScheduledNotification($0) }
    // 19,723 days after 1970-01-01.
    epoch = .seconds(startTime?.secondsSince1970 ?? 19_723 * 86_400)
  }

  // MARK: Notifications

  /// The notifications that the phone has, oldest first; at most 256.
  public var notifications: [DeviceNotification] { store.entries.map { DeviceNotification($0.notification) } }

  /// Adds a notification, or replaces the one with the same identifier, and notifies the subscribed watches. The oldest
  /// of more than 256 notifications is removed.
  ///
  /// - Parameters:
  ///   - notification: the notification.
  ///   - date: the value of the Date attribute; nil: the time of the phone's clock.
  ///   - context: the context of the callback.
  public mutating func post(
    _ notification: DeviceNotification, date: DateTime? = nil, in context: inout AccessoryContext
  ) {
    let date = date ?? clock(at: context.now)
    for event in store.post(SystemNotification(notification), date: date?.notificationDate ?? "") {
      tell(event, in: &context)
    }
  }

  /// Removes a notification, as a user does, and notifies the subscribed watches. Does nothing if there is none with this
  /// identifier.
  public mutating func remove(_ identifier: String, in context: inout AccessoryContext) {
    if let event = store.remove(identifier) { tell(event, in: &context) }
  }

  /// Returns the time of the phone's clock at the world's time.
  private func clock(at now: Duration) -> DateTime? {
    // A clock that reaches the year 10000 stops.
    DateTime(secondsSince1970: Int(min((epoch + now).components.seconds, 253_402_300_799)))
  }

  /// Performs the changes of the schedule that are due, and schedules the next one.
  private mutating func performChanges(in context: inout AccessoryContext) {
    while let next = changesToCome.first, startOfSchedule + next.time <= context.now {
      changesToCome.removeFirst()
      switch next.content {
      case .post(let notification, let date): post(notification, date: date, in: &context)
      case .remove(let identifier): remove(identifier, in: &context)
      }
    }
    let elapsed = context.now - startOfSchedule
    context.wake(after: changesToCome.first.map { $0.time - elapsed })
  }

  // MARK: Watches

  private func index(of client: AccessoryClient?) -> Int? { watches.firstIndex { $0.client == client } }

  private mutating func tell(_ event: [UInt8], in context: inout AccessoryContext) {
    for watch in watches.indices where watches[watch].wantsEvents { send(event, to: watch, in: &context) }
  }

  private mutating func send(_ event: [UInt8], to watch: Int, in context: inout AccessoryContext) {
    // A watch that takes no values keeps its oldest events.
    guard watches[watch].waiting.count < Self.maximumWaitingCount else { return }
    watches[watch].waiting.append(Output(path: Self.notificationSource, octets: event))
    sendNext(to: watch, in: &context)
  }

  /// Sends the next value if the latest one has been sent. The later ones wait here, so that a watch that unsubscribes
  /// from Data Source drops the rest of a response.
  private mutating func sendNext(to watch: Int, in context: inout AccessoryContext) {
    guard watches[watch].sending == nil, let next = watches[watch].waiting.popFirst() else { return }
    watches[watch].sending = next.path
    context.send(octets: next.octets, of: next.path, to: watches[watch].client)
  }

  /// Performs a command of Control Point.
  ///
  /// - Throws: one of the errors 0xA0 to 0xA3; Insufficient Resources (0x11) if too many values wait.
  private mutating func perform(_ octets: [UInt8], in context: inout AccessoryContext) throws(ATTErrorCode) {
    switch try store.answer(ByteSlice(octets)) {
    case .response(let response):
      guard let watch = index(of: context.client), watches[watch].wantsData else { return }
      let length = context.maximumValueLength
      guard watches[watch].waiting.count + response.count / length < Self.maximumWaitingCount else {
        throw .insufficientResources
      }
      var rest = response[...]
      while !rest.isEmpty {
        watches[watch].waiting.append(Output(path: Self.dataSource, octets: Array(rest.prefix(length))))
        rest = rest.dropFirst(length)
      }
      sendNext(to: watch, in: &context)
    case .performed(let notification, let isPositive, let event):
      if actions.count == Self.maximumActionCount { actions.removeFirst() }
      actions.append(Action(notification: notification, isPositive: isPositive))
      tell(event, in: &context)
    }
  }

  // MARK: Accessory

  /// Connectable advertising with Flags, the UUID of the service and the name; a name that does not fit is in the scan
  /// response.
  public var advertising: Advertising {
    let structures: [ADStructure] = [.flags(), .services([Self.service])]
    if let whole = try? AdvertisingPayload(structures + [.name(name)]) {
      return Advertising(whole, schedule: advertisingSchedule)
    }
    return Advertising(
      AdvertisingPayload(fitting: structures), scanResponse: AdvertisingPayload(fitting: [.name(name)]),
      schedule: advertisingSchedule)
  }

  /// Phone.
  public var appearance: Appearance { Appearance(rawValue: 0x0040) }

  /// The Apple Notification Center Service, whose characteristics require encryption, Battery and Device Information.
  public var services: [AccessoryService<Self>] {
    var characteristics: [AccessoryCharacteristic<Self>] = [
      // The values are sent to one client at a time, so they have no current value.
      AccessoryCharacteristic(octetsOf: Self.notificationSource, .notify),
      AccessoryCharacteristic(
        octetsOf: Self.controlPoint, .write,
        write: { (phone, octets, context) throws(ATTErrorCode) in try phone.perform(octets, in: &context) }),
      AccessoryCharacteristic(octetsOf: Self.dataSource, .notify),
    ]
    for index in characteristics.indices { characteristics[index].protection = .encrypted }
    characteristics[0].clientEvent = { phone, event, client, context in
      if event == .subscribedAgain { phone.sendEarlierEvents(to: client, in: &context) }
    }
    return [
      AccessoryService(Self.service, characteristics), .battery(level: \.batteryLevel),
      .deviceInformation(information),
    ]
  }

  /// Begins the schedule. Notifications of an earlier run of the schedule are gone.
  public mutating func started(in context: inout AccessoryContext) {
    var changes: [Change] = []
    for (index, scheduled) in scheduledNotifications.enumerated() {
      store.remove(scheduled.notification.identifier)
      changes.append(
        Change(time: scheduled.time, index: index, content: .post(scheduled.notification, date: scheduled.date)))
      if let time = scheduled.removalTime {
        changes.append(Change(time: time, index: index, content: .remove(scheduled.notification.identifier)))
      }
    }
    // Changes at the same time are performed in the order of the list.
    let inOrder =
      changes.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    // The removal of a notification that another one has replaced would remove the other one.
    var latest: [String: Int] = [:]
    changesToCome =
      inOrder.filter { change in
        switch change.content {
        case .post(let notification, _):
          latest[notification.identifier] = change.index
          return true
        case .remove(let identifier): return latest[identifier] == change.index
        }
      }[...]
    startOfSchedule = context.now
    performChanges(in: &context)
  }

  /// Performs the changes of the schedule that are due.
  public mutating func timeReached(in context: inout AccessoryContext) { performChanges(in: &context) }

  /// Sends an event for each notification to a watch that has subscribed to Notification Source, and drops the values
  /// that wait for a watch that has unsubscribed.
  public mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext
  ) {
    guard let client = context.client,
      characteristic == Self.notificationSource || characteristic == Self.dataSource
    else { return }
    if index(of: client) == nil { watches.append(Watch(client: client)) }
    guard let watch = index(of: client) else { return }
    if !isOn {
      watches[watch].waiting.removeAll { $0.path == characteristic }
      if watches[watch].sending == characteristic { watches[watch].sending = nil }
    }
    if characteristic == Self.dataSource {
      watches[watch].wantsData = isOn
    } else if isOn != watches[watch].wantsEvents {
      watches[watch].wantsEvents = isOn
      if isOn { sendEarlierEvents(to: client, in: &context) }
    }
    sendNext(to: watch, in: &context)
  }

  /// Sends an event for each notification that the phone has, in place of the events that wait.
  private mutating func sendEarlierEvents(to client: AccessoryClient, in context: inout AccessoryContext) {
    guard let watch = index(of: client) else { return }
    watches[watch].waiting.removeAll { $0.path == Self.notificationSource }
    for event in store.earlierEvents { send(event, to: watch, in: &context) }
  }

  /// Sends the next value.
  public mutating func valueSent(of characteristic: CharacteristicPath, in context: inout AccessoryContext) {
    guard let watch = index(of: context.client), watches[watch].sending == characteristic else { return }
    watches[watch].sending = nil
    sendNext(to: watch, in: &context)
  }

  /// Forgets the watch.
  public mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {
    watches.removeAll { $0.client == context.client }
  }
}

extension DateTime {
  /// The value of the Date attribute, such as 20240229T083059; empty for a date with unknown parts · Apple Notification
  /// Center Service Specification, Table NotificationAttributeID Values.
  fileprivate var notificationDate: String {
    guard year > 0, month > 0, day > 0 else { return "" }
    return description.replacing("-", with: "").replacing(":", with: "").replacing(" ", with: "T")
  }
}
