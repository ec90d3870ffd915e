import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// The value of a control point whose responses are indicated.
protocol ControlPointValue: CharacteristicValue {
  associatedtype OpCode: ValueCode
  associatedtype Code: ValueCode

  /// The op code of a command.
  var opCode: OpCode { get }
  /// The content of a response; nil for other values.
  var responseContent: (request: OpCode, code: Code, parameter: [UInt8])? { get }
  /// The code of a successful response.
  static var success: Code { get }
}

/// A control point of a peripheral: runs one procedure at a time, with a time limit. All clients of the characteristic
/// share this rule, and the end of the procedures after a time-out.
///
/// A procedure subscribes, writes the command and waits for the response. The end of the procedure unsubscribes, so that
/// the peripheral ends a procedure whose task is cancelled.
final class ControlPointClient<Value: ControlPointValue>: Sendable {
  typealias Failure = ControlPointError<Value.Code>

  let characteristic: RemoteCharacteristic
  let limit: TimeLimit
  private let state: ProcedureState

  init(_ characteristic: ProfileCharacteristic<Value>, _ limit: TimeLimit) {
    self.characteristic = characteristic.characteristic
    state = characteristic.characteristic.procedureState
    self.limit = limit
  }

  /// A procedure in progress, which ends when it is released.
  final class Procedure: Sendable {
    fileprivate let owner: ControlPointClient

    fileprivate init(_ owner: ControlPointClient) { self.owner = owner }

    deinit { owner.state.end() }

    /// Ends the procedure and all later ones.
    func timeOut() -> Failure { owner.timeOut() }
  }

  private func timeOut() -> Failure {
    state.timeOut()
    return .timedOut
  }

  /// Begins a procedure.
  func begin() throws(Failure) -> Procedure {
    switch state.begin() {
    case .idle: return Procedure(self)
    case .inProgress: throw .procedureInProgress
    case .timedOut: throw .timedOut
    }
  }

  /// Performs a command. Responses to other commands are ignored.
  ///
  /// - Returns: the parameter of the successful response.
  func perform(_ command: Value) async throws -> [UInt8] {
    try await perform(command) { value in
      guard let response = value.responseContent, response.request == command.opCode else { return nil }
      guard response.code == Value.success else { throw Failure.refused(response.code) }
      return response.parameter
    }
  }

  /// Performs a command.
  ///
  /// - Parameter answer: returns the result in a response; nil if it is the response to another command.
  func perform<Result: Sendable>(
    _ command: Value, _ answer: @escaping @Sendable (Value) throws -> Result?
  ) async throws -> Result {
    let procedure = try begin()
    defer { withExtendedLifetime(procedure) {} }
    return try await exchange(command, answer) { procedure.timeOut() }
  }

  /// Performs a command that belongs to the procedure in progress.
  func join<Result: Sendable>(
    _ command: Value, _ answer: @escaping @Sendable (Value) throws -> Result?
  ) async throws -> Result {
    guard state.phase != .timedOut else { throw Failure.timedOut }
    return try await exchange(command, answer) { timeOut() }
  }

  private func exchange<Result: Sendable>(
    _ command: Value, _ answer: @escaping @Sendable (Value) throws -> Result?, timedOut: () -> Failure
  ) async throws -> Result {
    // The limit begins with the command: the subscription may pair, and wait for the user.
    let responses = try await characteristic.subscribe()
    do {
      return try await withTimeLimit(limit) { [self] in
        try await write(command)
        for try await octets in responses {
          if let result = try answer(Self.decode(octets)) { return result }
        }
        // Without an error, a subscription ends only when its task is cancelled.
        throw CancellationError()
      }
    } catch is TimeLimitExceeded { throw timedOut() }
  }

  /// Writes a command. The error codes that mean the same in all services become a `ControlPointError` · Core
  /// Specification Supplement, Part B, 1.2; Glucose Service 1.0, 1.6.
  func write(_ command: Value) async throws {
    do { try await characteristic.write(Data(command.octets)) } catch let error as CBATTError {
      switch error.errorCode {
      case 0x80, 0xFE: throw Failure.procedureInProgress
      case 0x81, 0xFD: throw Failure.notSubscribed
      default: throw error
      }
    }
  }

  static func decode(_ octets: Data) throws(Failure) -> Value {
    do throws(ValueError) { return try Value(octets) } catch { throw .malformedResponse(error) }
  }

  /// Returns the value in the parameter of a response.
  func value<Parameter: AttributeValue>(
    _ type: Parameter.Type = Parameter.self, in parameter: [UInt8]
  ) throws(Failure) -> Parameter {
    do throws(ValueError) { return try Parameter(parameter) } catch { throw .malformedResponse(error) }
  }

  /// Returns the integer in the parameter of a response.
  func integer<Number: FixedWidthInteger>(
    _ type: Number.Type = Number.self, in parameter: [UInt8]
  ) throws(Failure) -> Number {
    do throws(ValueError) {
      var reader = ValueReader(parameter)
      let number: Number = try reader.integer()
      guard reader.remaining == 0 else { throw .tooLong }
      return number
    } catch { throw .malformedResponse(error) }
  }
}

extension RecordAccessControlPoint: ControlPointValue {
  static var success: ResponseCode { .success }

  var responseContent: (request: OpCode, code: ResponseCode, parameter: [UInt8])? {
    guard case .response(let request, let code) = self else { return nil }
    return (request, code, [])
  }
}

extension SCControlPoint: ControlPointValue {
  static var success: ControlPointResponse { .success }

  var responseContent: (request: OpCode, code: ControlPointResponse, parameter: [UInt8])? {
    guard case .response(let request, let code, let locations) = self else { return nil }
    return (request, code, locations.map(\.rawValue))
  }
}

extension CyclingPowerControlPoint: ControlPointValue {
  static var success: ControlPointResponse { .success }

  var responseContent: (request: OpCode, code: ControlPointResponse, parameter: [UInt8])? {
    guard case .response(let request, let code, let parameter) = self else { return nil }
    return (request, code, parameter)
  }
}

extension LNControlPoint: ControlPointValue {
  static var success: ControlPointResponse { .success }

  var responseContent: (request: OpCode, code: ControlPointResponse, parameter: [UInt8])? {
    guard case .response(let request, let code, let parameter) = self else { return nil }
    return (request, code, parameter)
  }
}
