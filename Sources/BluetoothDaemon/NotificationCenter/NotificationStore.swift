import BluetoothWire
import DequeModule

/// The notifications of a device with the UIDs by which accessories know them, the values of Notification Source for
/// their changes, and the answers to commands of Control Point · Apple Notification Center Service Specification.
package struct NotificationStore: Sendable {
  /// The maximum number of notifications; the oldest is removed.
  package static let maximumCount = 256

  package struct Entry: Sendable {
    let uid: UInt32
    package var notification: SystemNotification
    /// The value of the Date attribute.
    var date: String
  }

  /// The answer to a command of Control Point.
  package enum Answer: Sendable {
    /// The response for Data Source.
    case response([UInt8])
    /// An action has ended the notification with this identifier. `event` is the value of Notification Source.
    case performed(notification: String, isPositive: Bool, event: [UInt8])
  }

  /// The notifications, oldest first.
  package private(set) var entries: Deque<Entry> = []
  private var lastUID: UInt32 = 0

  package init() {}

  // MARK: Notifications

  /// Adds a notification, or replaces the one with the same identifier.
  ///
  /// - Parameter date: the value of the Date attribute.
  /// - Returns: the values of Notification Source, in the order of the changes.
  package mutating func post(_ notification: SystemNotification, date: String) -> [[UInt8]] {
    var events: [[UInt8]] = []
    if let index = entries.firstIndex(where: { $0.notification.identifier == notification.identifier }) {
      let former = entries[index].notification
      // The category of a notification is a part of its events, so that a change is a new notification.
      if former.category == notification.category {
        entries[index].notification = notification
        entries[index].date = date
        return [event(.modified, entries[index])]
      }
      events.append(remove(at: index))
    }
    if entries.count == Self.maximumCount { events.append(remove(at: 0)) }
    lastUID &+= 1
    let entry = Entry(uid: lastUID, notification: notification, date: date)
    entries.append(entry)
    events.append(event(.added, entry))
    return events
  }

  /// Removes a notification.
  ///
  /// - Returns: the value of Notification Source; nil: there is no notification with this identifier.
  @discardableResult
  package mutating func remove(_ identifier: String) -> [UInt8]? {
    entries.firstIndex { $0.notification.identifier == identifier }.map { remove(at: $0) }
  }

  private mutating func remove(at index: Int) -> [UInt8] {
    let entry = entries.remove(at: index)
    return event(.removed, entry)
  }

  /// The values of Notification Source with which the session of an accessory begins: an event for each notification.
  package var earlierEvents: [[UInt8]] { entries.map { event(.added, $0, isEarlier: true) } }

  /// Returns the value of Notification Source for an event, with the present number of notifications of the category.
  private func event(
    _ event: AppleNotificationService.EventID, _ entry: Entry, isEarlier: Bool = false
  ) -> [UInt8] {
    var flags = AppleNotificationService.EventFlags(of: entry.notification)
    if isEarlier { flags.insert(.preExisting) }
    let category = entry.notification.category
    return AppleNotificationService.event(
      event, flags, category, count: entries.count { $0.notification.category == category }, uid: entry.uid)
  }

  // MARK: Commands

  /// Answers a command that an accessory has written to Control Point. An action ends its notification.
  ///
  /// - Throws: one of the errors 0xA0 to 0xA3 · Apple Notification Center Service Specification, Error Codes.
  package mutating func answer(_ value: ByteSlice) throws(ATT.ErrorCode) -> Answer {
    typealias Command = AppleNotificationService.Command
    switch try Command(value) {
    case .getNotificationAttributes(let uid, let requests):
      let entry = try entries[index(of: uid)]
      return .response(Command.response(to: requests, of: entry.notification, date: entry.date, uid: uid))
    case .getAppAttributes(let app, let attributes):
      guard let notification = entries.last(where: { $0.notification.app == app })?.notification else {
        throw AppleNotificationService.Failure.invalidParameter
      }
      return .response(Command.response(to: attributes, of: app, name: notification.appName ?? app))
    case .performAction(let uid, let isPositive):
      let index = try index(of: uid)
      let notification = entries[index].notification
      guard (isPositive ? notification.positiveAction : notification.negativeAction) != nil else {
        throw AppleNotificationService.Failure.actionFailed
      }
      return .performed(notification: notification.identifier, isPositive: isPositive, event: remove(at: index))
    }
  }

  /// Returns the index of a notification.
  ///
  /// - Throws: Invalid Parameter (0xA2) if there is no such notification.
  private func index(of uid: UInt32) throws(ATT.ErrorCode) -> Int {
    guard let index = entries.firstIndex(where: { $0.uid == uid }) else {
      throw AppleNotificationService.Failure.invalidParameter
    }
    return index
  }
}
