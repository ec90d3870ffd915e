import BluetoothHost
import BluetoothWire

/// The Apple Notification Center Service: its UUIDs, formats and errors, as in Apple's specification of the service. All
/// numbers are little-endian, all texts UTF-8.
package enum AppleNotificationService {
  package static let service: BluetoothUUID = "7905F431-B5CE-4E99-A40F-4B1E122D00D0"
  package static let notificationSource: BluetoothUUID = "9FBF120D-6301-42D9-8C58-25E699A21DBD"
  package static let controlPoint: BluetoothUUID = "69D1D8F3-45E1-49A8-9821-9BBDFDAAD9D9"
  package static let dataSource: BluetoothUUID = "22EAC6E9-24D6-4BB5-BE44-B36ACE7C7BFB"

  /// The service, with the characteristics in the order of `Characteristic`. All of them need an encrypted link.
  static var definition: GATTServiceDefinition {
    func source(_ uuid: BluetoothUUID) -> GATTCharacteristicDefinition {
      GATTCharacteristicDefinition(
        uuid: uuid, properties: .notify, permissions: [], value: nil, subscriptionNeedsEncryption: true)
    }
    let controlPoint = GATTCharacteristicDefinition(
      uuid: controlPoint, properties: .write, permissions: [.writeable, .writeEncryptionRequired], value: nil)
    return GATTServiceDefinition(
      uuid: service, isPrimary: true, includes: [],
      characteristics: [source(notificationSource), controlPoint, source(dataSource)])
  }

  enum Characteristic: Int { case notificationSource, controlPoint, dataSource }

  /// The kind of an event of Notification Source · Table EventID Values.
  enum EventID: UInt8 { case added, modified, removed }

  /// The flags of an event of Notification Source · Table EventFlags.
  struct EventFlags: OptionSet {
    let rawValue: UInt8
    static let silent = EventFlags(rawValue: 1 << 0)
    static let important = EventFlags(rawValue: 1 << 1)
    static let preExisting = EventFlags(rawValue: 1 << 2)
    static let positiveAction = EventFlags(rawValue: 1 << 3)
    static let negativeAction = EventFlags(rawValue: 1 << 4)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(of notification: SystemNotification) {
      self = []
      if notification.isSilent { insert(.silent) }
      if notification.isImportant { insert(.important) }
      if notification.positiveAction != nil { insert(.positiveAction) }
      if notification.negativeAction != nil { insert(.negativeAction) }
    }
  }

  /// An attribute of a notification · Table NotificationAttributeID Values.
  enum Attribute: UInt8 {
    case appIdentifier, title, subtitle, message, messageSize, date, positiveActionLabel, negativeActionLabel

    /// True if a maximum length follows the attribute in a request.
    var hasMaximumLength: Bool { self == .title || self == .subtitle || self == .message }
  }

  /// An attribute of an app · Table AppAttributeID Values.
  enum AppAttribute: UInt8 { case displayName }

  /// The errors that answer a write of Control Point · Error Codes.
  enum Failure {
    static let unknownCommand = ATT.ErrorCode(rawValue: 0xA0)
    static let invalidCommand = ATT.ErrorCode(rawValue: 0xA1)
    static let invalidParameter = ATT.ErrorCode(rawValue: 0xA2)
    static let actionFailed = ATT.ErrorCode(rawValue: 0xA3)
  }

  /// Returns the value of Notification Source for an event.
  ///
  /// - Parameter count: the number of notifications in the category.
  static func event(
    _ event: EventID, _ flags: EventFlags, _ category: SystemNotification.Category, count: Int, uid: UInt32
  ) -> [UInt8] {
    [event.rawValue, flags.rawValue, category.rawValue, UInt8(clamping: count)] + uid.octets(4)
  }
}

// MARK: Commands

extension AppleNotificationService {
  /// A command that an accessory has written to Control Point.
  enum Command: Equatable {
    struct Request: Equatable {
      var attribute: Attribute
      /// The maximum length in octets; nil: the attribute has none.
      var maximumLength: Int?
    }

    case getNotificationAttributes(UInt32, [Request])
    case getAppAttributes(app: String, [AppAttribute])
    case performAction(UInt32, isPositive: Bool)

    /// The first octet of the command and of its response.
    private enum ID: UInt8 { case getNotificationAttributes, getAppAttributes, performNotificationAction }

    /// Decodes a command.
    ///
    /// - Throws: one of `Failure`.
    init(_ value: ByteSlice) throws(ATT.ErrorCode) {
      var octets = value.bytes[...]
      guard let first = octets.popFirst() else { throw Failure.invalidCommand }
      guard let id = ID(rawValue: first) else { throw Failure.unknownCommand }
      switch id {
      case .getNotificationAttributes:
        guard let uid = octets.popNumber(of: 4), !octets.isEmpty else { throw Failure.invalidCommand }
        var requests: [Request] = []
        while let number = octets.popFirst() {
          guard let attribute = Attribute(rawValue: number) else { throw Failure.invalidParameter }
          var request = Request(attribute: attribute)
          if attribute.hasMaximumLength {
            guard let length = octets.popNumber(of: 2) else { throw Failure.invalidCommand }
            request.maximumLength = Int(length)
          }
          requests.append(request)
        }
        self = .getNotificationAttributes(uid, requests)
      case .getAppAttributes:
        guard let end = octets.firstIndex(of: 0), end + 1 < octets.endIndex,
          let app = String(validating: octets[..<end], as: UTF8.self)
        else { throw Failure.invalidCommand }
        var attributes: [AppAttribute] = []
        for number in octets[(end + 1)...] {
          guard let attribute = AppAttribute(rawValue: number) else { throw Failure.invalidParameter }
          attributes.append(attribute)
        }
        self = .getAppAttributes(app: app, attributes)
      case .performNotificationAction:
        guard let uid = octets.popNumber(of: 4), let action = octets.popFirst(), octets.isEmpty else {
          throw Failure.invalidCommand
        }
        guard action <= 1 else { throw Failure.invalidParameter }
        self = .performAction(uid, isPositive: action == 0)
      }
    }

    /// Returns the response to Get Notification Attributes, for Data Source.
    static func response(
      to requests: [Request], of notification: SystemNotification, date: String, uid: UInt32
    ) -> [UInt8] {
      var response = [ID.getNotificationAttributes.rawValue] + uid.octets(4)
      for request in requests {
        let text =
          switch request.attribute {
          case .appIdentifier: notification.app
          case .title: notification.title
          case .subtitle: notification.subtitle
          case .message: notification.message
          case .messageSize: "\(notification.message.utf8.count)"
          case .date: date
          case .positiveActionLabel: notification.positiveAction ?? ""
          case .negativeActionLabel: notification.negativeAction ?? ""
          }
        append(request.attribute.rawValue, text, atMost: request.maximumLength, to: &response)
      }
      return response
    }

    /// Returns the response to Get App Attributes, for Data Source.
    static func response(to attributes: [AppAttribute], of app: String, name: String) -> [UInt8] {
      var response = [ID.getAppAttributes.rawValue] + Array(app.utf8) + [0]
      for attribute in attributes { append(attribute.rawValue, name, atMost: nil, to: &response) }
      return response
    }

    /// Appends an attribute with its length. A text that is too long ends with a whole character.
    private static func append(_ attribute: UInt8, _ text: String, atMost maximum: Int?, to response: inout [UInt8]) {
      let value = Array(text.utf8Prefix(min(maximum ?? 0xFFFF, 0xFFFF)).bytes)
      response.append(attribute)
      response += value.count.octets(2)
      response += value
    }
  }
}

extension Collection where SubSequence == Self, Element == UInt8 {
  /// Removes and returns a little-endian number of `count` octets; nil: there are fewer octets.
  fileprivate mutating func popNumber(of count: Int) -> UInt32? {
    guard self.count >= count else { return nil }
    var number: UInt32 = 0
    for index in 0..<count { number |= UInt32(popFirst() ?? 0) << (8 * UInt32(index)) }
    return number
  }
}

/// Returns a time as the Date attribute has it, in UTC: 20010101T000000.
///
/// - Parameter seconds: the seconds since 2001-01-01 00:00:00 UTC.
func notificationDate(_ seconds: Int64) -> String {
  let (days, rest) = (seconds / 86_400, seconds % 86_400)
  var (year, day): (Int64, Int64) = (2001, days)
  func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
  while day >= (isLeap(year) ? 366 : 365) {
    day -= isLeap(year) ? 366 : 365
    year += 1
  }
  var month = 0
  let lengths: [Int64] = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  while day >= lengths[month] {
    day -= lengths[month]
    month += 1
  }
  func digits(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
  let time = digits(rest / 3_600) + digits(rest / 60 % 60) + digits(rest % 60)
  return "\(year)" + digits(Int64(month + 1)) + digits(day + 1) + "T" + time
}
