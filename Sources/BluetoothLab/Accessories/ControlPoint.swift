import BluetoothProfiles

/// The state of a control point: a characteristic to which a client writes a command, and whose response the accessory
/// indicates to that client.
///
/// One procedure is in progress at a time. It begins with the command and ends when the client has confirmed the
/// response, has unsubscribed from the control point, or has disconnected. `AccessoryCharacteristic` has an initializer
/// that serves a control point with this state.
public struct ControlPoint<Value: AttributeValue>: Sendable {
  /// The characteristic to which commands are written.
  public let characteristic: Characteristic<Value>
  /// The client whose procedure is in progress; nil if there is none.
  public private(set) var client: AccessoryClient?
  /// True while the response has been indicated and not been confirmed.
  public private(set) var isResponding = false
  /// The number of answers that have been indicated during the procedure and not been confirmed.
  private var unconfirmedAnswers = 0
  private let errors: ControlPointErrors

  /// Creates a control point without a procedure in progress.
  ///
  /// - Parameters:
  ///   - characteristic: the characteristic to which commands are written.
  ///   - errors: the error codes of the service.
  public init(_ characteristic: Characteristic<Value>, errors: ControlPointErrors = .common) {
    self.characteristic = characteristic
    self.errors = errors
  }

  /// Ends the procedure in progress with this response. Without a procedure, it has no effect.
  public mutating func respond(_ response: Value, in context: inout AccessoryContext) {
    guard let client, !isResponding else { return }
    isResponding = true
    context.send(response, of: characteristic, to: client)
  }

  /// Indicates the response to a command that belongs to the procedure in progress, and that has not ended it. Without a
  /// procedure, it has no effect.
  mutating func answer(_ response: Value, in context: inout AccessoryContext) {
    guard let client, !isResponding else { return }
    unconfirmedAnswers += 1
    context.send(response, of: characteristic, to: client)
  }

  /// Notes that the client has confirmed the oldest indication. The procedure ends if it was the response.
  fileprivate mutating func confirmed() {
    if unconfirmedAnswers > 0 { unconfirmedAnswers -= 1 } else if isResponding { end() }
  }

  /// Begins a procedure of the client that has written a command.
  ///
  /// - Parameter joins: true if the command belongs to the procedure of the same client that is in progress, such as
  ///   Abort Operation.
  fileprivate mutating func begin(joins: Bool, in context: AccessoryContext) throws(ATTErrorCode) {
    guard let writer = context.client, context.isSubscribed(writer, to: characteristic) else {
      throw errors.notSubscribed
    }
    if joins, writer == client, !isResponding { return }
    guard client == nil else { throw errors.procedureInProgress }
    client = writer
  }

  fileprivate mutating func end() { (client, isResponding, unconfirmedAnswers) = (nil, false, 0) }
}

/// The error codes with which a control point rejects the write of a command.
public struct ControlPointErrors: Hashable, Sendable {
  /// The error if the client has not subscribed to the indications of the control point.
  public var notSubscribed: ATTErrorCode
  /// The error while a procedure is in progress.
  public var procedureInProgress: ATTErrorCode

  /// Creates error codes.
  public init(notSubscribed: ATTErrorCode, procedureInProgress: ATTErrorCode) {
    self.notSubscribed = notSubscribed
    self.procedureInProgress = procedureInProgress
  }

  /// Client Characteristic Configuration Descriptor Improperly Configured (0xFD), and Procedure Already in Progress
  /// (0xFE) · Core Specification Supplement, Part B, 1.2.
  public static let common = Self(
    notSubscribed: .cccdImproperlyConfigured, procedureInProgress: ATTErrorCode(rawValue: 0xFE))
  /// The same errors as application errors: 0x81 and 0x80. Services that are older than the common errors define them
  /// · Glucose Service 1.0, 1.6; Cycling Speed and Cadence Service 1.0, 1.6; Running Speed and Cadence Service 1.0, 1.6.
  public static let application = Self(
    notSubscribed: ATTErrorCode(rawValue: 0x81), procedureInProgress: ATTErrorCode(rawValue: 0x80))
}

extension AccessoryCharacteristic {
  /// Creates a control point. Clients write commands and get the response as an indication. A write of no octets is
  /// rejected with Invalid Attribute Value Length (0x0D).
  ///
  /// - Parameters:
  ///   - characteristic: the characteristic.
  ///   - state: the state of the control point in the accessory.
  ///   - joins: returns true if a command, given as octets, may be written while the client's procedure is in progress.
  ///   - command: performs the command in these octets, at least one. Returns the response, or nil if the accessory
  ///     responds later, with `ControlPoint.respond(_:in:)`. An error answers the write request, and no procedure
  ///     begins.
  ///   - cancelled: stops the procedure in progress, because its client has unsubscribed or disconnected.
  public init<Value>(
    controlPoint characteristic: Characteristic<Value>,
    _ state: WritableKeyPath<Owner, ControlPoint<Value>> & Sendable,
    joins: @escaping @Sendable ([UInt8]) -> Bool = { _ in false },
    command: @escaping @Sendable (inout Owner, [UInt8], inout AccessoryContext) throws(ATTErrorCode) -> Value?,
    cancelled: @escaping @Sendable (inout Owner, inout AccessoryContext) -> Void = { _, _ in }
  ) {
    self.init(
      octetsOf: characteristic.path, [.write, .indicate],
      write: { (owner, octets, context) throws(ATTErrorCode) in
        guard !octets.isEmpty else { throw .invalidAttributeValueLength }
        let wasInProgress = owner[keyPath: state].client != nil
        try owner[keyPath: state].begin(joins: joins(octets), in: context)
        do throws(ATTErrorCode) {
          if let response = try command(&owner, octets, &context) {
            owner[keyPath: state].respond(response, in: &context)
          }
        } catch {
          if !wasInProgress { owner[keyPath: state].end() }
          throw error
        }
      })
    clientEvent = { owner, event, client, context in
      guard owner[keyPath: state].client == client else { return }
      switch event {
      case .sent: owner[keyPath: state].confirmed()
      case .unsubscribed:
        owner[keyPath: state].end()
        cancelled(&owner, &context)
      case .subscribedAgain: break
      }
    }
  }
}
