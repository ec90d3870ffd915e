import BluetoothHost
import BluetoothWire
import DequeModule

/// The state of the Apple Notification Center Service of one adapter: the notifications, and the accessories that get
/// them. The adapter has this object only once it has a notification, or a bond with a possible accessory.
final class NotificationProvider {
  /// The maximum number of actions that are kept; the oldest is dropped.
  static let maximumActionCount = 256
  /// The maximum number of values that wait for transmission to one accessory.
  static let maximumWaitingCount = 256

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
  private var store = NotificationStore()
  var clients: [Client] = []
  /// The actions that accessories have performed, oldest first.
  private(set) var actions: Deque<NotificationAction> = []
  /// The number of alerts so far.
  private(set) var alertCount: UInt32 = 0

  func handle(of characteristic: AppleNotificationService.Characteristic) -> AttributeHandle? {
    placement?.values[characteristic.rawValue]
  }

  // MARK: Notifications

  /// The notifications, oldest first.
  var entries: Deque<NotificationStore.Entry> { store.entries }

  /// Adds a notification, or replaces the one with the same identifier.
  func post(_ notification: SystemNotification, date: String) {
    for event in store.post(notification, date: date) { tell(event) }
  }

  func post(_ alert: Alert, date: String) {
    alertCount &+= 1
    post(SystemNotification(alert, number: alertCount), date: date)
  }

  /// Removes a notification.
  func remove(_ identifier: String) {
    if let event = store.remove(identifier) { tell(event) }
  }

  /// Answers a command of an accessory. An action ends its notification.
  ///
  /// - Returns: the response for Data Source; nil: the command has performed an action.
  /// - Throws: one of the errors of Control Point.
  func answer(_ command: ByteSlice, of peer: PeerIdentifier) throws(ATT.ErrorCode) -> [UInt8]? {
    switch try store.answer(command) {
    case .response(let response): return response
    case .performed(let notification, let isPositive, let event):
      if actions.count == Self.maximumActionCount { actions.removeFirst() }
      actions.append(NotificationAction(notification: notification, isPositive: isPositive, peer: peer))
      tell(event)
      return nil
    }
  }

  // MARK: Accessories

  func client(_ connection: HCI.ConnectionHandle) -> Int? { clients.firstIndex { $0.connection == connection } }

  /// Begins the session of an accessory: it gets an event for each earlier notification.
  func beginSession(of client: Int) {
    guard clients[client].wantsEvents, !clients[client].hasSession else { return }
    clients[client].hasSession = true
    for event in store.earlierEvents { send(event, to: client) }
  }

  /// Notes that an accessory has subscribed to the events. One that repeats its subscription gets them from the beginning.
  func restartSession(of client: Int) {
    clients[client].wantsEvents = true
    clients[client].hasSession = false
    clients[client].waiting.removeAll { $0.0 == handle(of: .notificationSource) }
  }

  /// Ends the session of an accessory, with the values that wait.
  func endSession(of client: Int) {
    clients[client].hasSession = false
    clients[client].waiting.removeAll()
  }

  private func tell(_ event: [UInt8]) {
    for client in clients.indices where clients[client].hasSession { send(event, to: client) }
  }

  private func send(_ event: [UInt8], to client: Int) {
    guard let handle = handle(of: .notificationSource) else { return }
    // An accessory that takes no values keeps its oldest events, and learns of the others in its next session.
    if clients[client].waiting.count < Self.maximumWaitingCount {
      clients[client].waiting.append((handle, ByteSlice(event)))
    }
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
