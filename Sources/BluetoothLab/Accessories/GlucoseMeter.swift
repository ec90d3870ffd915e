import BluetoothProfiles

/// A blood glucose meter with stored measurements: Glucose (0x1808), with Battery and Device Information · Glucose
/// Profile 1.0, 3.
///
/// A client subscribes to the measurements, to their contexts if it wants them, and to the Record Access Control Point.
/// Then it writes a command to the control point: the meter notifies the selected records one after the other, and
/// indicates the response.
public struct GlucoseMeter: Accessory {
  /// The UUID of the Glucose service.
  public static let service: BluetoothUUID = 0x1808
  /// Glucose Measurement, notified for each reported record.
  public static let measurement = Characteristic<GlucoseMeasurement>(of: service)
  /// Glucose Measurement Context, notified after the measurement to which it belongs.
  public static let measurementContext = Characteristic<GlucoseMeasurementContext>(of: service)
  /// Glucose Feature: the value of `features`.
  public static let feature = Characteristic<GlucoseFeature>(of: service)
  /// Record Access Control Point: it reports, counts and deletes records.
  public static let recordAccess = Characteristic<RecordAccessControlPoint>(of: service)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The stored records, in the order of their sequence numbers.
  public var records: [GlucoseRecord]
  /// The features.
  public var features: GlucoseFeature = [.lowBatteryDetection, .sampleSize, .resultHighLowDetection]
  /// The link security that the characteristics of the service require.
  public var protection = CharacteristicProtection.none
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service.
  public var information = DeviceInformation.health(model: "Glucose Meter")
  /// The highest sequence number of the records that have been stored or deleted; nil before the first of them.
  private var highestNumber: UInt16?
  private var controlPoint = ControlPoint(Self.recordAccess, errors: .application)
  private var transfer: Transfer?

  /// The records that are being reported.
  private struct Transfer {
    var records: ArraySlice<GlucoseRecord>
    /// The number of notifications of the latest record that have not been sent.
    var unsent = 0
  }

  /// Creates a meter with these records.
  public init(name: String = "Glucose Meter", records: [GlucoseRecord] = GlucoseRecord.samples(10)) {
    self.name = name
    self.records = records
  }

  /// Stores a measurement with the sequence number after the highest one so far, 0 for the first record. The number of a
  /// deleted record is not used again, and the numbers do not wrap around: after the record 0xFFFF no further one is
  /// stored · Glucose Service 1.0, 3.1.1.2.
  ///
  /// - Parameters:
  ///   - concentration: the concentration, the type and the location of the sample; nil if the measurement failed.
  ///   - baseTime: the time of the meter's clock.
  ///   - timeOffset: the user's adjustment of the clock, in minutes.
  ///   - context: the context of the measurement, whose sequence number is replaced.
  /// - Returns: true if the measurement has been stored; false if no sequence number is left.
  @discardableResult
  public mutating func store(
    _ concentration: GlucoseMeasurement.Concentration?, at baseTime: DateTime,
    timeOffset: Scalar<OffsetMinutes>? = nil, context: GlucoseMeasurementContext? = nil
  ) -> Bool {
    noteNumbers()
    guard highestNumber != UInt16.max else { return false }
    let number = highestNumber.map { $0 + 1 } ?? 0
    highestNumber = number
    records.append(
      GlucoseRecord(
        GlucoseMeasurement(
          sequenceNumber: number, baseTime: baseTime, timeOffset: timeOffset, concentration: concentration),
        context: context))
    return true
  }

  /// Updates the highest sequence number from the records, which code outside this type may have replaced.
  private mutating func noteNumbers() {
    for record in records { highestNumber = max(highestNumber ?? 0, record.measurement.sequenceNumber) }
  }

  /// Connectable advertising with Flags, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(fitting: [.flags(), .services([Self.service]), .name(name)]),
      schedule: advertisingSchedule)
  }

  /// Generic Glucose Meter.
  public var appearance: Appearance { Appearance(rawValue: 0x0400) }

  /// The Glucose, Battery and Device Information services.
  public var services: [AccessoryService<Self>] {
    var characteristics: [AccessoryCharacteristic<Self>] = [
      // The values are sent to one client at a time, so they have no current value.
      AccessoryCharacteristic(octetsOf: Self.measurement.path, .notify),
      AccessoryCharacteristic(octetsOf: Self.measurementContext.path, .notify),
      AccessoryCharacteristic(Self.feature, .read, value: \.features),
      AccessoryCharacteristic(
        controlPoint: Self.recordAccess, \.controlPoint,
        joins: { $0.first == RecordAccessControlPoint.OpCode.abortOperation.rawValue },
        command: { (meter, octets, context) throws(ATTErrorCode) in try meter.perform(octets, in: &context) },
        cancelled: { meter, _ in meter.transfer = nil }),
    ]
    for index in characteristics.indices { characteristics[index].protection = protection }
    return [
      AccessoryService(Self.service, characteristics), .battery(level: \.batteryLevel),
      .deviceInformation(information),
    ]
  }

  // MARK: Record Access Control Point

  /// Performs a command, and returns its response unless records are to be reported first · Glucose Service 1.0, 3.4.
  private mutating func perform(
    _ octets: [UInt8], in context: inout AccessoryContext
  ) throws(ATTErrorCode) -> RecordAccessControlPoint? {
    // Each command has an op code and an operator.
    guard octets.count >= 2 else { throw .invalidAttributeValueLength }
    let opCode = RecordAccessControlPoint.OpCode(rawValue: octets[0])
    let criterion = RecordCriterion(
      RecordCriterion.Operator(rawValue: octets[1]), operand: Array(octets.dropFirst(2)))
    do throws(GlucoseSelection.Refusal) {
      switch opCode {
      case .abortOperation: return .response(to: opCode, try abort(criterion))
      case .reportStoredRecords, .deleteStoredRecords, .reportNumberOfStoredRecords: break
      default: return .response(to: opCode, .opCodeNotSupported)
      }
      let selected = try GlucoseSelection(criterion).indices(in: records)
      if opCode == .reportNumberOfStoredRecords { return .numberOfStoredRecords(UInt16(clamping: selected.count)) }
      guard !selected.isEmpty else { return .response(to: opCode, .noRecordsFound) }
      if opCode == .deleteStoredRecords {
        noteNumbers()
        let deleted = Set(selected)
        records = records.indices.filter { !deleted.contains($0) }.map { records[$0] }
        return .response(to: opCode, .success)
      }
      transfer = Transfer(records: selected.map { records[$0] }[...])
    } catch {
      let response = RecordAccessControlPoint.response(to: opCode, error.code)
      // Only Abort Operation is performed during a transfer, which an invalid operator or operand does not stop.
      guard transfer != nil else { return response }
      controlPoint.answer(response, in: &context)
      return nil
    }
    guard let client = controlPoint.client, context.isSubscribed(client, to: Self.measurement) else {
      transfer = nil
      throw ControlPointErrors.application.notSubscribed
    }
    reportNext(in: &context)
    return nil
  }

  /// Stops the transfer. Without a transfer there is nothing to abort.
  private mutating func abort(
    _ criterion: RecordCriterion
  ) throws(GlucoseSelection.Refusal) -> RecordAccessControlPoint.ResponseCode {
    guard criterion.operator == .null else { throw GlucoseSelection.Refusal(code: .invalidOperator) }
    guard criterion.operand.isEmpty else { throw GlucoseSelection.Refusal(code: .invalidOperand) }
    defer { transfer = nil }
    return transfer == nil ? .abortUnsuccessful : .success
  }

  /// Reports the next record, or responds after the last one.
  private mutating func reportNext(in context: inout AccessoryContext) {
    guard let client = controlPoint.client, transfer != nil else { return }
    guard let record = transfer?.records.popFirst() else {
      transfer = nil
      controlPoint.respond(.response(to: .reportStoredRecords, .success), in: &context)
      return
    }
    if let details = record.context, context.isSubscribed(client, to: Self.measurementContext) {
      transfer?.unsent = 2
      context.send(record.measurement, of: Self.measurement, to: client)
      context.send(details, of: Self.measurementContext, to: client)
    } else {
      transfer?.unsent = 1
      context.send(record.measurementAlone, of: Self.measurement, to: client)
    }
  }

  /// Reports the next record when the latest one has been sent.
  public mutating func valueSent(of characteristic: CharacteristicPath, in context: inout AccessoryContext) {
    guard let transfer, context.client == controlPoint.client,
      characteristic == Self.measurement.path || characteristic == Self.measurementContext.path
    else { return }
    self.transfer?.unsent = transfer.unsent - 1
    if transfer.unsent == 1 { reportNext(in: &context) }
  }

  /// Responds that the procedure has not been completed if its client has unsubscribed from the measurements.
  public mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext
  ) {
    guard !isOn, transfer != nil, characteristic == Self.measurement.path, context.client == controlPoint.client
    else { return }
    transfer = nil
    controlPoint.respond(.response(to: .reportStoredRecords, .procedureNotCompleted), in: &context)
  }
}
