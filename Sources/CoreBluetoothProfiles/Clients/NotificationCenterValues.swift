import BluetoothProfiles
import CoreBluetoothExtras

extension NotificationCenterClient {
  /// An event of a phone's notification center · Apple Notification Center Service Specification, Notification Source.
  public struct Event: AttributeValue, CustomStringConvertible {
    /// The change that an event reports.
    public struct Kind: ValueCode {
      public let rawValue: UInt8
      public init(rawValue: UInt8) { self.rawValue = rawValue }

      /// The notification is new, or older than the subscription.
      public static let added: Self = 0
      /// The notification has changed.
      public static let modified: Self = 1
      /// The notification is gone.
      public static let removed: Self = 2
      public static let names = ["added", "modified", "removed"]
    }

    /// The properties of a notification.
    public struct Flags: FeatureSet {
      public let rawValue: UInt8
      public init(rawValue: UInt8) { self.rawValue = rawValue }

      /// The notification makes no sound.
      public static let silent = Self(rawValue: 1 << 0)
      /// The notification has a high priority.
      public static let important = Self(rawValue: 1 << 1)
      /// The notification is older than the subscription.
      public static let preExisting = Self(rawValue: 1 << 2)
      /// The notification has a positive action.
      public static let positiveAction = Self(rawValue: 1 << 3)
      /// The notification has a negative action.
      public static let negativeAction = Self(rawValue: 1 << 4)
      public static let names = ["silent", "important", "pre-existing", "positive action", "negative action"]
    }

    /// The category of a notification.
    public struct Category: ValueCode {
      public let rawValue: UInt8
      public init(rawValue: UInt8) { self.rawValue = rawValue }

      /// No other category.
      public static let other: Self = 0
      /// A call that has not been answered yet.
      public static let incomingCall: Self = 1
      /// A call that was not answered.
      public static let missedCall: Self = 2
      /// A message in the voicemail.
      public static let voicemail: Self = 3
      /// A message of a person.
      public static let social: Self = 4
      /// An event of a calendar.
      public static let schedule: Self = 5
      /// An email.
      public static let email: Self = 6
      /// News.
      public static let news: Self = 7
      /// Health and fitness.
      public static let healthAndFitness: Self = 8
      /// Business and finance.
      public static let businessAndFinance: Self = 9
      /// A place.
      public static let location: Self = 10
      /// Entertainment.
      public static let entertainment: Self = 11
      public static let names = [
        "other", "incoming call", "missed call", "voicemail", "social", "schedule", "email", "news",
        "health and fitness",
        "business and finance", "location", "entertainment",
      ]
    }

    /// The change.
    public var kind: Kind
    /// The properties of the notification.
    public var flags: Flags
    /// The category of the notification.
    public var category: Category
    /// The number of notifications of the category that the phone has.
    public var count: UInt8
    /// Identifies the notification until the end of the link.
    public var uid: UInt32

    /// Creates an event.
    public init(_ kind: Kind, _ flags: Flags = [], category: Category, count: UInt8, uid: UInt32) {
      (self.kind, self.flags, self.category, self.count, self.uid) = (kind, flags, category, count, uid)
    }

    public init(from reader: inout ValueReader) throws(ValueError) {
      kind = try reader.code()
      flags = Flags(rawValue: try reader.uint8())
      category = try reader.code()
      count = try reader.uint8()
      uid = try reader.uint32()
    }

    public func write(to writer: inout ValueWriter) {
      writer.code(kind)
      writer.integer(flags.rawValue)
      writer.code(category)
      writer.integer(count)
      writer.integer(uid)
    }

    /// The event in one line, such as "added 7, category email, 1 in the category, flags none".
    public var description: String { "\(kind) \(uid), category \(category), \(count) in the category, flags \(flags)" }
  }

  /// An action of a notification.
  public enum Action: UInt8, Hashable, Sendable {
    /// Such as to answer a call.
    case positive
    /// Such as to decline a call or to clear a notification.
    case negative
  }

  /// An attribute of a notification. The maximum lengths are in octets of UTF-8.
  public enum Attribute: Hashable, Sendable {
    case appIdentifier
    case title(maximumLength: UInt16 = .max)
    case subtitle(maximumLength: UInt16 = .max)
    case message(maximumLength: UInt16 = .max)
    /// The length of the message in octets.
    case messageSize
    case date
    /// Only for notifications with the flag `positiveAction`.
    case positiveActionLabel
    /// Only for notifications with the flag `negativeAction`.
    case negativeActionLabel

    /// The number of the attribute · Table NotificationAttributeID Values.
    var id: UInt8 {
      switch self {
      case .appIdentifier: 0
      case .title: 1
      case .subtitle: 2
      case .message: 3
      case .messageSize: 4
      case .date: 5
      case .positiveActionLabel: 6
      case .negativeActionLabel: 7
      }
    }

    /// The attribute in a request.
    var octets: [UInt8] {
      switch self {
      case .title(let length), .subtitle(let length), .message(let length):
        [id, UInt8(truncatingIfNeeded: length), UInt8(length >> 8)]
      default: [id]
      }
    }
  }

  /// The requested attributes of a notification; nil for all others.
  public struct Content: Hashable, Sendable {
    /// The identifier of the app.
    public let appIdentifier: String?
    /// The title, which may be empty.
    public let title: String?
    /// The subtitle, which may be empty.
    public let subtitle: String?
    /// The message, which may be empty.
    public let message: String?
    /// The length of the message in octets.
    public let messageSize: Int?
    /// The date of the notification in the phone's time; nil also if the phone does not tell it.
    public let date: DateTime?
    /// The label of the positive action; empty if there is none.
    public let positiveActionLabel: String?
    /// The label of the negative action; empty if there is none.
    public let negativeActionLabel: String?

    init(_ values: [UInt8: [UInt8]]) throws(NotificationCenterError) {
      func text(_ attribute: Attribute) -> String? {
        values[attribute.id].map { String(received: $0) }
      }
      appIdentifier = text(.appIdentifier)
      title = text(.title())
      subtitle = text(.subtitle())
      message = text(.message())
      positiveActionLabel = text(.positiveActionLabel)
      negativeActionLabel = text(.negativeActionLabel)
      messageSize = text(.messageSize).flatMap { UInt32($0) }.map { Int($0) }
      let octets = values[Attribute.date.id] ?? []
      date = octets.isEmpty ? nil : DateTime(notificationDate: octets)
      // Texts of another format are errors, not missing attributes.
      if messageSize == nil, values[Attribute.messageSize.id] != nil {
        throw .malformedValue(.outOfRange(field: "Message Size"))
      }
      if date == nil, !octets.isEmpty { throw .malformedValue(.outOfRange(field: "Date")) }
    }
  }
}

extension DateTime {
  /// Creates a date from the text of the attribute, such as 20240229T235958; nil: the text has another format.
  fileprivate init?(notificationDate octets: [UInt8]) {
    guard octets.count == 15, octets[8] == UInt8(ascii: "T") else { return nil }
    func number(_ range: Range<Int>) -> UInt16? {
      octets[range].reduce(UInt16?(0)) { number, octet in
        guard let number, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) else { return nil }
        return number * 10 + UInt16(octet - UInt8(ascii: "0"))
      }
    }
    guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8), let hours = number(9..<11),
      let minutes = number(11..<13), let seconds = number(13..<15)
    else { return nil }
    self.init(
      year: year, month: UInt8(month), day: UInt8(day), hours: UInt8(hours), minutes: UInt8(minutes),
      seconds: UInt8(seconds))
  }
}

/// A response to a command, which arrives in parts · Apple Notification Center Service Specification, Data Source.
struct NotificationResponse: Sendable {
  /// The octets with which the response begins: the command, and the UID or the identifier of the app.
  private let head: [UInt8]
  /// The requested attributes that have not arrived yet.
  private var missing: Set<UInt8>
  private var octets: [UInt8] = []
  /// The position of the first octet that is not in `values`.
  private var position: Int
  /// The attributes that have arrived.
  private(set) var values: [UInt8: [UInt8]] = [:]

  init(head: [UInt8], attributes: Set<UInt8>) {
    self.head = head
    missing = attributes
    position = head.count
  }

  /// True if all requested attributes have arrived.
  var isComplete: Bool { missing.isEmpty && octets.count >= head.count }

  /// Takes the next part.
  mutating func add(_ part: some Sequence<UInt8>) throws(ValueError) {
    octets += part
    guard octets.starts(with: head) || head.starts(with: octets) else { throw .outOfRange(field: "Command") }
    while octets.count >= position + 3 {
      let attribute = octets[position]
      guard missing.contains(attribute) else { throw .outOfRange(field: "Attribute") }
      let end = position + 3 + Int(octets[position + 1]) + Int(octets[position + 2]) << 8
      guard octets.count >= end else { return }
      missing.remove(attribute)
      values[attribute] = Array(octets[(position + 3)..<end])
      position = end
    }
    if isComplete, octets.count > position { throw .tooLong }
  }
}
