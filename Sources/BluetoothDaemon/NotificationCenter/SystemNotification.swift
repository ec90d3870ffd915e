import BluetoothWire

/// A notification in the notification centre of the system, which accessories get by the Apple Notification Center
/// Service.
package struct SystemNotification: Hashable, Sendable {
  /// The category · Apple Notification Center Service Specification, Appendix, CategoryID Values.
  package enum Category: UInt8, Hashable, Sendable, CaseIterable {
    case other, incomingCall, missedCall, voicemail, social, schedule, email, news, healthAndFitness
    case businessAndFinance, location, entertainment
  }

  /// Identifies the notification on its device: a later one with this identifier replaces it.
  package var identifier: String
  /// The identifier of the app.
  package var app: String
  /// The name of the app for users; nil: its identifier.
  package var appName: String?
  package var category = Category.other
  package var title: String
  package var subtitle: String
  package var message: String
  /// The label of the positive action, such as "Answer"; nil: there is no such action.
  package var positiveAction: String?
  /// The label of the negative action, such as "Clear"; nil: there is no such action.
  package var negativeAction: String?
  package var isSilent = false
  package var isImportant = false

  package init(identifier: String, app: String, title: String = "", subtitle: String = "", message: String = "") {
    self.identifier = identifier
    self.app = app
    self.title = title
    self.subtitle = subtitle
    self.message = message
  }

  /// Creates the notification of an alert about a suspended app.
  ///
  /// - Parameter number: the number of the alert among the alerts of the device.
  init(_ alert: Alert, number: UInt32) {
    self.init(identifier: "alert \(number)", app: alert.app, title: alert.peripheral, message: alert.text)
    negativeAction = "Clear"
  }
}

/// An action on a notification that an accessory has performed.
package struct NotificationAction: Hashable, Sendable {
  /// The identifier of the notification.
  package var notification: String
  package var isPositive: Bool
  /// The identifier by which the adapter knows the accessory.
  package var peer: PeerIdentifier
  package init(notification: String, isPositive: Bool, peer: PeerIdentifier) {
    self.notification = notification
    self.isPositive = isPositive
    self.peer = peer
  }
}
