import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras
import NIOConcurrencyHelpers

/// A client of the notifications of a phone · Apple Notification Center Service Specification (Notification Consumer).
///
/// ```swift
/// guard let center = try await NotificationCenterClient(phone) else { return }
/// for try await event in center.events where event.kind == .added {
///   let content = try await center.content(of: event.uid, [.title(), .message(maximumLength: 100)])
///   print(content.title ?? "", content.message ?? "")
/// }
/// ```
///
/// The phone requires an encrypted link and the permission of its user. Each call pairs if necessary. Without the
/// permission, there are no events, and commands throw `CBATTError.insufficientAuthorization`.
public struct NotificationCenterClient: Sendable {
  /// The UUID of the Apple Notification Center Service.
  public static let service = CBUUID(string: "7905F431-B5CE-4E99-A40F-4B1E122D00D0")

  private static let notificationSource = CBUUID(string: "9FBF120D-6301-42D9-8C58-25E699A21DBD")
  private static let controlPoint = CBUUID(string: "69D1D8F3-45E1-49A8-9821-9BBDFDAAD9D9")
  private static let dataSource = CBUUID(string: "22EAC6E9-24D6-4BB5-BE44-B36ACE7C7BFB")

  private enum State { case idle, inProgress, timedOut }

  private let notificationSource: RemoteCharacteristic
  private let controlPoint: RemoteCharacteristic?
  private let dataSource: RemoteCharacteristic?
  private let limit: TimeLimit
  private let state = NIOLockedValueBox(State.idle)

  /// Discovers the service of a connected peripheral. Returns nil if the peripheral does not offer it now: a phone may
  /// offer the service only to bonded accessories, and stop offering it at any time.
  ///
  /// - Parameters:
  ///   - peripheral: the phone. An accessory that the phone has connected to gets it by
  ///     `Central.peripherals(withIdentifiers:)`, with the identifier of the `RemoteCentral`.
  ///   - commandLimit: the time limit for the response to a command.
  /// - Throws: the errors of every call.
  public init?(_ peripheral: Peripheral, commandLimit: TimeLimit = .seconds(30)) async throws {
    guard let service = try await peripheral.discoverServices([Self.service]).first else { return nil }
    let characteristics = try await service.discoverCharacteristics()
    func find(_ uuid: CBUUID) -> RemoteCharacteristic? { characteristics.first { $0.uuid == uuid } }
    guard let notificationSource = find(Self.notificationSource) else { return nil }
    self.notificationSource = notificationSource
    controlPoint = find(Self.controlPoint)
    dataSource = find(Self.dataSource)
    limit = commandLimit
  }

  // MARK: Events

  /// The notifications that are added, modified and removed.
  ///
  /// The phone answers a new subscription with an event for each notification that it has, with the flag `preExisting`.
  /// A bonded accessory's subscription lasts from link to link: on later links, the phone may have sent these events
  /// before the iteration began.
  ///
  /// A malformed event throws `NotificationCenterError.malformedValue` and ends the iteration.
  public var events: some AsyncSequence<Event, any Error> & Sendable {
    notificationSource.notifications.map { try Self.event($0) }
  }

  private static func event(_ octets: Data) throws(NotificationCenterError) -> Event {
    do throws(ValueError) { return try Event(octets) } catch { throw .malformedValue(error) }
  }

  // MARK: Commands

  /// Returns attributes of a notification.
  ///
  /// - Parameters:
  ///   - uid: the notification: `Event.uid`.
  ///   - attributes: the requested attributes, at least one. Of attributes of the same kind, the last one counts.
  /// - Throws: `NotificationCenterError.invalidParameter` if the phone has no such notification, and other cases of
  ///   `NotificationCenterError`, beside the errors of every call.
  public func content(of uid: UInt32, _ attributes: [Attribute]) async throws -> Content {
    let requests = Dictionary(attributes.map { ($0.id, $0.octets) }) { $1 }.sorted { $0.key < $1.key }
    let command = CommandID.getNotificationAttributes
    let head = [command] + (0..<4).map { UInt8(truncatingIfNeeded: uid >> (8 * $0)) }
    let response = NotificationResponse(head: head, attributes: Set(requests.map(\.key)))
    return try Content(await values(for: head + requests.flatMap(\.value), response))
  }

  /// Returns the name of an app for users.
  ///
  /// - Parameter app: the identifier of the app: `Content.appIdentifier`.
  /// - Throws: `NotificationCenterError.invalidParameter` if the phone does not know the app, and other cases of
  ///   `NotificationCenterError`, beside the errors of every call.
  public func displayName(of app: String) async throws -> String {
    let head = [CommandID.getAppAttributes] + Array(app.utf8) + [0]
    let displayName: UInt8 = 0
    let values = try await values(
      for: head + [displayName], NotificationResponse(head: head, attributes: [displayName]))
    return String(received: values[displayName] ?? [])
  }

  /// Performs an action of a notification. The label of the action says what it does.
  ///
  /// - Parameters:
  ///   - action: one of the actions in the flags of the notification's events.
  ///   - uid: the notification: `Event.uid`.
  /// - Throws: `NotificationCenterError.actionFailed` if the phone could not perform the action, and other cases of
  ///   `NotificationCenterError`, beside the errors of every call.
  public func perform(_ action: Action, on uid: UInt32) async throws {
    guard let controlPoint else { throw NotificationCenterError.notOffered }
    let uid = (0..<4).map { UInt8(truncatingIfNeeded: uid >> (8 * $0)) }
    try await Self.write([CommandID.performNotificationAction] + uid + [action.rawValue], to: controlPoint)
  }

  /// Writes a command and returns the attributes of its response. The subscription to Data Source ends with the command,
  /// so that the phone drops the rest of a response whose task is cancelled.
  private func values(for command: [UInt8], _ response: NotificationResponse) async throws -> [UInt8: [UInt8]] {
    guard let controlPoint, let dataSource else { throw NotificationCenterError.notOffered }
    try begin()
    defer { state.withLockedValue { if $0 == .inProgress { $0 = .idle } } }
    // The limit begins with the command: the subscription may pair, and wait for the user.
    let parts = try await dataSource.subscribe()
    do {
      return try await withTimeLimit(limit) {
        try await Self.write(command, to: controlPoint)
        var response = response
        for try await part in parts {
          do throws(ValueError) { try response.add(part) } catch { throw NotificationCenterError.malformedValue(error) }
          if response.isComplete { return response.values }
        }
        // Without an error, a subscription ends only when its task is cancelled.
        throw CancellationError()
      }
    } catch is TimeLimitExceeded {
      state.withLockedValue { $0 = .timedOut }
      throw NotificationCenterError.timedOut
    }
  }

  private func begin() throws(NotificationCenterError) {
    let before = state.withLockedValue { state in
      defer { if state == .idle { state = .inProgress } }
      return state
    }
    switch before {
    case .idle: return
    case .inProgress: throw .commandInProgress
    case .timedOut: throw .timedOut
    }
  }

  private static func write(_ command: [UInt8], to controlPoint: RemoteCharacteristic) async throws {
    do { try await controlPoint.write(Data(command)) } catch let error as CBATTError {
      throw NotificationCenterError(code: error.errorCode) ?? error as any Error
    }
  }
}

/// The first octet of a command and of its response · Table CommandID Values.
private enum CommandID {
  static let getNotificationAttributes: UInt8 = 0
  static let getAppAttributes: UInt8 = 1
  static let performNotificationAction: UInt8 = 2
}

/// The error of a command to a phone's notification center, or of an event. Errors of the link and of the attributes are
/// the `CBError` and `CBATTError` of the asynchronous API.
public enum NotificationCenterError: Error, Hashable, Sendable {
  /// The phone does not know the command: 0xA0.
  case unknownCommand
  /// The phone considers the command malformed: 0xA1.
  case invalidCommand
  /// The phone has no such notification, app or attribute: 0xA2.
  case invalidParameter
  /// The phone has not performed the action: 0xA3.
  case actionFailed
  /// The phone offers events, but no commands.
  case notOffered
  /// A command of this client waits for its response.
  case commandInProgress
  /// The octets of an event or of a response have another format than the specification's.
  case malformedValue(ValueError)
  /// No complete response came within the time limit. A late response could not be told from the next one, so all later
  /// commands with a response throw this error, too: connect again.
  case timedOut

  fileprivate init?(code: Int) {
    switch code {
    case 0xA0: self = .unknownCommand
    case 0xA1: self = .invalidCommand
    case 0xA2: self = .invalidParameter
    case 0xA3: self = .actionFailed
    default: return nil
    }
  }
}

extension NotificationCenterError: CustomStringConvertible {
  /// The error as a sentence.
  public var description: String {
    switch self {
    case .unknownCommand: "The phone does not know the command."
    case .invalidCommand: "The phone has rejected the command as malformed."
    case .invalidParameter: "The phone has no such notification, app or attribute."
    case .actionFailed: "The phone has not performed the action."
    case .notOffered: "The phone offers no commands for its notifications."
    case .commandInProgress: "Another command waits for its response."
    case .malformedValue: "An event or a response of the phone's notification center is malformed."
    case .timedOut: "The phone has not responded in time. Connect again before the next command."
    }
  }
}
