import BluetoothHost
import BluetoothWire
import DequeModule

/// The state of the Apple Notification Center Service of one adapter: the notifications, and the accessories that get
/// them. The adapter has this object only once it has a notification, or a bond with a possible accessory.
final class NotificationProvider {
  /// The maximum number of notifications; the oldest is removed.
  static let maximumCount = 256
  /// The maximum number of values that wait for transmission to one accessory.
  static let maximumWaitingCount = 256

  struct Entry {
    let uid: UInt32
    var notification: SystemNotification
    /// The value of the Date attribute.
    var date: String
  }

  /// An accessory with a link.
  struct Client {
    let connection: HCI.ConnectionHandle
    /// True if the accessory has subscribed to Notification Source.
    var wantsEvents = false
    /// True if the accessory has subscribed to Data Source.
    var wantsData = false
    /// True if the user has allowed the accessory to get notifications, and it has got the earlier ones.
    var hasSession = false
    var waiting: Deque<(AttributeHandle, ByteSlice)> = []
    /// True from the transmission of a value until the host has passed it to the controller.
    var isSending = false
  }

  /// The handles of the service; nil: it is not published.
  var placement: GATTServicePlacement?
  /// The notifications, oldest first.
  private(set) var entries: Deque<Entry> = []
  var clients: [Client] = []
  /// The actions that accessories have performed, oldest first.
  private(set) var actions: Deque<NotificationAction> = []
  private var lastUID: UInt32 = 0
  /// The number of alerts so far.
  private(set) var alertCount: UInt32 = 0

  func handle(of characteristic: AppleNotificationService.Characteristic) -> AttributeHandle? {
    placement?.values[characteristic.rawValue]
  }

  // MARK: Notifications

  func entry(_ uid: UInt32) -> Entry? { entries.first { $0.uid == uid } }

  /// Adds a notification, or replaces the one with the same identifier.
  func post(_ notification: SystemNotification, date: String) {
    if let index = entries.firstIndex(where: { $0.notification.identifier == notification.identifier }) {
      let former = entries[index].notification
      // The category of a notification is a part of its events, so that a change is a new notification.
      if former.category == notification.category {
        entries[index].notification = notification
        entries[index].date = date
        return tell(.modified, entries[index])
      }
      remove(notification.identifier)
    }
    if entries.count == Self.maximumCount, let oldest = entries.first { remove(oldest.notification.identifier) }
    lastUID &+= 1
    let entry = Entry(uid: lastUID, notification: notification, date: date)
    entries.append(entry)
    tell(.added, entry)
  }

  func post(_ alert: Alert, date: String) {
    alertCount &+= 1
    post(SystemNotification(alert, number: alertCount), date: date)
  }

  /// Removes a notification.
  func remove(_ identifier: String) {
    guard let index = entries.firstIndex(where: { $0.notification.identifier == identifier }) else { return }
    tell(.removed, entries.remove(at: index))
  }

  /// Performs an action of a notification, which ends the notification. Returns false if it has no such action.
  func perform(_ action: NotificationAction) -> Bool {
    guard let entry = entries.first(where: { $0.notification.identifier == action.notification }),
      (action.isPositive ? entry.notification.positiveAction : entry.notification.negativeAction) != nil
    else { return false }
    if actions.count == Self.maximumCount { actions.removeFirst() }
    actions.append(action)
    remove(action.notification)
    return true
  }

  // MARK: Accessories

  func client(_ connection: HCI.ConnectionHandle) -> Int? { clients.firstIndex { $0.connection == connection } }

  /// Begins the session of an accessory: it gets an event for each earlier notification.
  func beginSession(of client: Int) {
    guard clients[client].wantsEvents, !clients[client].hasSession else { return }
    clients[client].hasSession = true
    for entry in entries { send(.added, entry, isEarlier: true, to: client) }
  }

  /// Ends the session of an accessory, with the values that wait.
  func endSession(of client: Int) {
    clients[client].hasSession = false
    clients[client].waiting.removeAll()
  }

  private func tell(_ event: AppleNotificationService.EventID, _ entry: Entry) {
    for client in clients.indices where clients[client].hasSession { send(event, entry, to: client) }
  }

  private func send(
    _ event: AppleNotificationService.EventID, _ entry: Entry, isEarlier: Bool = false, to client: Int
  ) {
    guard let handle = handle(of: .notificationSource) else { return }
    var flags = AppleNotificationService.EventFlags(of: entry.notification)
    if isEarlier { flags.insert(.preExisting) }
    let category = entry.notification.category
    let value = AppleNotificationService.event(
      event, flags, category, count: entries.count { $0.notification.category == category }, uid: entry.uid)
    // An accessory that takes no values keeps its oldest events, and learns of the others in its next session.
    if clients[client].waiting.count < Self.maximumWaitingCount { clients[client].waiting.append((handle, value)) }
  }

  /// Enters a response for Data Source, in parts of at most `length` octets. Returns false if there is no room.
  func respond(_ response: [UInt8], to client: Int, partLength length: Int) -> Bool {
    guard let handle = handle(of: .dataSource) else { return false }
    guard clients[client].waiting.count + response.count / length < Self.maximumWaitingCount else { return false }
    var rest = response[...]
    while !rest.isEmpty {
      clients[client].waiting.append((handle, ByteSlice(rest.prefix(length))))
      rest = rest.dropFirst(length)
    }
    return true
  }
}
