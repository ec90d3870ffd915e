import BluetoothDaemon
import Foundation

/// A notification in the notification centre of a device, which accessories get by the Apple Notification Center Service
/// if the user lets them (`ScriptedPrompts.Kind.shareNotifications`).
public struct DeviceNotification: Hashable, Sendable {
  /// The category of a notification.
  public enum Category: Hashable, Sendable, CaseIterable {
    /// No other category.
    case other
    /// A call that has not been answered yet.
    case incomingCall
    /// A call that was not answered.
    case missedCall
    /// A message in the voicemail.
    case voicemail
    /// A message of a person.
    case social
    /// An event of a calendar.
    case schedule
    /// An email.
    case email
    /// News.
    case news
    /// Health and fitness.
    case healthAndFitness
    /// Business and finance.
    case businessAndFinance
    /// A place.
    case location
    /// Entertainment.
    case entertainment
  }

  /// Identifies the notification on its device: a later one with this identifier replaces it.
  public var identifier: String
  /// The identifier of the app.
  public var app: String
  /// The name of the app for users; nil: its identifier.
  public var appName: String?
  /// The category.
  public var category = Category.other
  /// The title.
  public var title: String
  /// The subtitle.
  public var subtitle = ""
  /// The message.
  public var message: String
  /// The label of the positive action, such as "Answer"; nil: there is no such action.
  public var positiveAction: String?
  /// The label of the negative action, such as "Clear"; nil: there is no such action.
  public var negativeAction: String?
  /// True if the notification makes no sound.
  public var isSilent = false
  /// True if the notification has a high priority.
  public var isImportant = false

  /// Creates a notification without actions.
  public init(_ identifier: String, app: String, title: String = "", message: String = "") {
    self.identifier = identifier
    self.app = app
    self.title = title
    self.message = message
  }
}

/// An action on a notification that an accessory has performed.
public struct DeviceNotificationAction: Hashable, Sendable {
  /// The identifier of the notification.
  public var notification: String
  /// True for the positive action; false for the negative one.
  public var isPositive: Bool
  /// The accessory: `BondedDevice.identifier`.
  public var accessory: UUID

  /// Creates an action.
  public init(notification: String, isPositive: Bool, accessory: UUID) {
    self.notification = notification
    self.isPositive = isPositive
    self.accessory = accessory
  }
}

extension SystemNotification {
  init(_ notification: DeviceNotification) {
    self.init(
      identifier: notification.identifier, app: notification.app, title: notification.title,
      subtitle: notification.subtitle, message: notification.message)
    appName = notification.appName
    category = Category(notification.category)
    positiveAction = notification.positiveAction
    negativeAction = notification.negativeAction
    isSilent = notification.isSilent
    isImportant = notification.isImportant
  }
}

extension DeviceNotification {
  init(_ notification: SystemNotification) {
    self.init(
      notification.identifier, app: notification.app, title: notification.title, message: notification.message)
    subtitle = notification.subtitle
    appName = notification.appName
    category = Category.allCases[Int(notification.category.rawValue)]
    positiveAction = notification.positiveAction
    negativeAction = notification.negativeAction
    isSilent = notification.isSilent
    isImportant = notification.isImportant
  }
}

extension SystemNotification.Category {
  fileprivate init(_ category: DeviceNotification.Category) {
    self =
      switch category {
      case .other: .other
      case .incomingCall: .incomingCall
      case .missedCall: .missedCall
      case .voicemail: .voicemail
      case .social: .social
      case .schedule: .schedule
      case .email: .email
      case .news: .news
      case .healthAndFitness: .healthAndFitness
      case .businessAndFinance: .businessAndFinance
      case .location: .location
      case .entertainment: .entertainment
      }
  }
}
