import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A client of a glucose meter · Glucose Profile 1.0, 4 (Collector).
///
/// ```swift
/// let meter = try await GlucoseClient(peripheral)
/// for try await reading in meter.records(.sequenceNumbers(98...UInt16.max)) {
///   print(reading.measurement, reading.context?.meal ?? 0)
/// }
/// ```
public struct GlucoseClient: Sendable {
  /// The assigned number of the Glucose service.
  public static let service: UInt16 = 0x1808

  private let measurement: ProfileCharacteristic<GlucoseMeasurement>
  private let context: ProfileCharacteristic<GlucoseMeasurementContext>?
  private let featureValue: ProfileCharacteristic<GlucoseFeature>
  private let control: ControlPointClient<RecordAccessControlPoint>

  /// Discovers the service of a connected peripheral.
  ///
  /// - Parameters:
  ///   - peripheral: the meter.
  ///   - procedureLimit: the time limit for the response to a command, and for each record of a report; the profile
  ///     requires 30 s.
  /// - Throws: `ProfileError.missingService` and `ProfileError.missingCharacteristic`, beside the errors of every call.
  public init(_ peripheral: Peripheral, procedureLimit: TimeLimit = .seconds(30)) async throws {
    let service = try await ProfileService(Self.service, of: peripheral)
    measurement = try service.require()
    context = service.find()
    featureValue = try service.require()
    control = ControlPointClient(try service.require(), procedureLimit)
  }

  /// Returns the features of the meter.
  public func feature() async throws -> GlucoseFeature { try await featureValue.read() }

  /// The stored records that the criterion selects, each with its context. Each iteration is a report: it writes Report
  /// Stored Records when it begins, and ends with the response.
  ///
  /// No selected record is an empty sequence. If the iteration ends early, or its task is cancelled, the client
  /// unsubscribes, and the meter stops the report.
  public func records(_ criterion: RecordCriterion = .all) -> GlucoseRecords {
    GlucoseRecords(measurement: measurement, context: context, control: control, criterion: criterion)
  }

  /// Returns the number of stored records that the criterion selects.
  ///
  /// - Throws: `RecordAccessError`, beside the errors of every call.
  public func numberOfRecords(_ criterion: RecordCriterion = .all) async throws -> Int {
    try await control.perform(.reportNumberOfStoredRecords(criterion)) { value in
      switch value {
      case .numberOfStoredRecords(let number): return Int(number)
      case .response(to: .reportNumberOfStoredRecords, let code): throw RecordAccessError.refused(code)
      default: return nil
      }
    }
  }

  /// Deletes the stored records that the criterion selects.
  ///
  /// - Throws: `RecordAccessError.refused(.noRecordsFound)` if there is none, and other cases of `RecordAccessError`,
  ///   beside the errors of every call.
  public func deleteRecords(_ criterion: RecordCriterion) async throws {
    _ = try await control.perform(.deleteStoredRecords(criterion))
  }

  /// Stops the report in progress. The iteration over its records ends without an error.
  ///
  /// - Throws: `RecordAccessError.refused(.abortUnsuccessful)` if the meter had nothing to stop, and other cases of
  ///   `RecordAccessError`, beside the errors of every call.
  public func abort() async throws {
    let _: Bool = try await control.join(.abortOperation) { value in
      guard case .response(to: .abortOperation, let code) = value else { return nil }
      guard code == .success else { throw RecordAccessError.refused(code) }
      return true
    }
  }
}

/// A stored glucose measurement with its context.
public struct GlucoseReading: Hashable, Sendable {
  /// The measurement.
  public var measurement: GlucoseMeasurement
  /// The circumstances of the measurement; nil if the meter has sent none.
  public var context: GlucoseMeasurementContext?

  /// Creates a reading.
  public init(measurement: GlucoseMeasurement, context: GlucoseMeasurementContext? = nil) {
    self.measurement = measurement
    self.context = context
  }
}

/// The records that a glucose meter reports.
public struct GlucoseRecords: AsyncSequence, Sendable {
  public typealias Element = GlucoseReading
  public typealias Failure = any Error

  fileprivate let measurement: ProfileCharacteristic<GlucoseMeasurement>
  fileprivate let context: ProfileCharacteristic<GlucoseMeasurementContext>?
  fileprivate let control: ControlPointClient<RecordAccessControlPoint>
  fileprivate let criterion: RecordCriterion

  /// Begins an iteration. The report begins with the first call of `next`.
  public func makeAsyncIterator() -> Iterator { Iterator(records: self) }

  /// A report in progress.
  fileprivate struct Report {
    let procedure: ControlPointClient<RecordAccessControlPoint>.Procedure
    let arrivals: AsyncThrowingStream<(index: Int, value: Data), any Error>
    let hasContexts: Bool
    /// The measurement whose context is expected next.
    var pending: GlucoseMeasurement?
  }

  /// An iteration over the records.
  public struct Iterator: AsyncIteratorProtocol {
    private enum State {
      case notBegun
      case reporting(Report)
      /// The report has ended with this error, which the next call throws.
      case failed(any Error)
      /// The response has come. The last record may still be to be returned.
      case ended
    }

    private let records: GlucoseRecords
    private var state = State.notBegun

    fileprivate init(records: GlucoseRecords) { self.records = records }

    /// Waits for the next record.
    ///
    /// - Throws: `RecordAccessError`; `ProfileError.malformedValue`, after which the next call returns the record that
    ///   follows; the error of the end of the link; `CancellationError` if the task is cancelled. If the report ends with
    ///   an error while a context is expected, this call returns the measurement, and the next call throws the error.
    public mutating func next() async throws -> GlucoseReading? {
      if case .failed(let error) = state {
        state = .ended
        throw error
      }
      do {
        return try await advance()
      } catch let error as ProfileError {
        throw error
      } catch {
        let rest = error is CancellationError ? nil : pending
        state = .ended
        guard let rest else { throw error }
        state = .failed(error)
        return GlucoseReading(measurement: rest)
      }
    }

    /// The measurement whose context is expected next.
    private var pending: GlucoseMeasurement? {
      guard case .reporting(let report) = state else { return nil }
      return report.pending
    }

    private mutating func advance() async throws -> GlucoseReading? {
      if case .notBegun = state { state = .reporting(try await records.begin()) }
      while case .reporting(var report) = state {
        guard let (index, octets) = try await records.arrival(of: report) else {
          try Task.checkCancellation()
          break
        }
        // The response is the last characteristic; the contexts, if there are any, follow the measurements.
        if index == (report.hasContexts ? 2 : 1) {
          guard try records.ends(with: octets) else { continue }
          state = .ended
          return report.pending.map { GlucoseReading(measurement: $0) }
        }
        let complete = try report.add(index, octets) { state = .reporting($0) }
        if let complete { return complete }
      }
      state = .ended
      return nil
    }
  }
}

extension GlucoseRecords {
  /// Subscribes to all characteristics, and writes the command.
  private func begin() async throws -> Report {
    let procedure = try control.begin()
    let values = [measurement.characteristic] + (context.map { [$0.characteristic] } ?? [])
    // The limit begins with the command: the subscriptions may pair, and wait for the user.
    let arrivals = try await RemoteCharacteristic.subscribe(to: values + [control.characteristic]) {
      (index: $0, value: $1)
    }
    do {
      try await withTimeLimit(control.limit) { [control, criterion] in
        try await control.write(.reportStoredRecords(criterion))
      }
    } catch is TimeLimitExceeded { throw procedure.timeOut() }
    return Report(procedure: procedure, arrivals: arrivals, hasContexts: context != nil)
  }

  /// Waits for the next value of a characteristic.
  private func arrival(of report: Report) async throws -> (index: Int, value: Data)? {
    let arrivals = report.arrivals
    do {
      return try await withTimeLimit(control.limit) {
        let arrival = try await arrivals.first { _ in true }
        // The end of the limit cancels this task, which ends the stream without an error.
        if arrival == nil { try Task.checkCancellation() }
        return arrival
      }
    } catch is TimeLimitExceeded { throw report.procedure.timeOut() }
  }

  /// Returns true if these octets are the response that ends the report.
  private func ends(with octets: Data) throws(RecordAccessError) -> Bool {
    switch try ControlPointClient<RecordAccessControlPoint>.decode(octets) {
    case .response(to: .reportStoredRecords, .success), .response(to: .reportStoredRecords, .noRecordsFound),
      .response(to: .abortOperation, .success):
      return true
    case .response(to: .reportStoredRecords, let code): throw .refused(code)
    default: return false
    }
  }
}

extension GlucoseRecords.Report {
  /// Adds a measurement or a context, and passes the changed report to `store`.
  ///
  /// - Returns: the record that is complete now; nil if its context is expected.
  /// - Throws: `ProfileError.malformedValue`; the report is unchanged.
  fileprivate mutating func add(
    _ index: Int, _ octets: Data, store: (Self) -> Void
  ) throws(ProfileError) -> GlucoseReading? {
    defer { store(self) }
    if index == 1 {
      let context = try ProfileCharacteristic<GlucoseMeasurementContext>.decode(octets)
      guard let measurement = pending, measurement.sequenceNumber == context.sequenceNumber else { return nil }
      pending = nil
      return GlucoseReading(measurement: measurement, context: context)
    }
    let measurement = try ProfileCharacteristic<GlucoseMeasurement>.decode(octets)
    // A context that is announced may be missing. The next value then completes the record before it.
    let incomplete = pending
    guard incomplete != nil || hasContexts && measurement.contextFollows else {
      return GlucoseReading(measurement: measurement)
    }
    pending = measurement
    return incomplete.map { GlucoseReading(measurement: $0) }
  }
}
