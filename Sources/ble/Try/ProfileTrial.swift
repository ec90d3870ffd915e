import BluetoothDissection
import BluetoothProfiles
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import CoreBluetoothProfiles

/// The steps of the profiles that have clients.
struct ProfileTrial: Sendable {
  let trial: DeviceTrial
  let remote: RemoteService

  private var service: CBUUID { remote.uuid }
  private var peripheral: Peripheral { trial.peripheral }

  // MARK: Steps

  /// Creates the client of a profile; nil: the service lacks what the profile requires, which is a failed step.
  private func client<Client: Sendable>(
    _ make: @escaping @Sendable () async throws -> Client
  ) async throws -> Client? {
    var made: Client?
    try await trial.step(service, "service") {
      made = try await withTimeLimit(trial.procedureLimit) { try await make() }
      return nil
    }
    return made
  }

  /// Reads a value that the device may lack.
  private func value<Value: Sendable>(
    _ title: String, _ read: @escaping @Sendable () async throws -> Value?
  ) async throws {
    try await trial.step(service, title) {
      try await withTimeLimit(trial.procedureLimit) { try await read() }.map { [TrialValue($0)] }
    }
  }

  /// Reads the value of a characteristic that the device may lack, and shows it as values without a client are shown.
  private func characteristic<Value: CharacteristicValue>(
    _ type: Value.Type, _ read: @escaping @Sendable () async throws -> Value?
  ) async throws {
    let uuid = BluetoothUUID(Value.uuid)
    try await trial.step(service, KnownNames.title(of: CBUUID(string: "\(uuid)"))) {
      try await withTimeLimit(trial.stage.stepLimit) { try await read() }.map {
        [TrialValue(ValueText($0.octets, of: uuid))]
      }
    }
  }

  /// Runs a procedure of a control point. A procedure that the device does not support is no step.
  private func procedure<Value: Sendable>(
    _ title: String, _ run: @escaping @Sendable () async throws -> Value
  ) async throws {
    try await trial.step(service, title) {
      do {
        return [TrialValue(try await run())]
      } catch SensorControlError.refused(.opCodeNotSupported) {
        return nil
      } catch ProfileError.missingCharacteristic {
        return nil
      }
    }
  }

  private func locations(_ run: @escaping @Sendable () async throws -> [SensorLocation]) async throws {
    try await procedure("supported sensor locations") {
      try await run().map { "\($0)" }.joined(separator: ", ")
    }
  }

  /// Listens to measurements that the device may lack.
  ///
  /// - Parameter interval: the time between two measurements in seconds; 0: the device measures continually; nil: the
  ///   device measures only if its user does something.
  private func measurements<Value>(
    _ title: String, _ values: Measurements<Value>?, every interval: Double? = 0
  ) async throws {
    guard let values else { return }
    try await trial.step(service, title, isMeasurement: true) {
      try await trial.listen(to: values, every: interval) { TrialValue($0) }
    }
  }

  // MARK: Profiles

  func heartRate() async throws {
    guard let client = try await client({ try await HeartRateClient(peripheral) }) else { return }
    try await value("body sensor location") { try await client.bodySensorLocation() }
    try await measurements("measurements", client.measurements)
  }

  func healthThermometer() async throws {
    guard let client = try await client({ try await HealthThermometerClient(peripheral) }) else { return }
    try await value("temperature type") { try await client.temperatureType() }
    var interval: MeasurementInterval?
    try await trial.step(service, "measurement interval") {
      interval = try await withTimeLimit(trial.procedureLimit) { try await client.measurementInterval() }
      return interval.map { [TrialValue($0)] }
    }
    // A thermometer without an interval measures only when its user does · Health Thermometer Service 1.0, 3.4.
    try await measurements("measurements", client.measurements, every: interval?.value)
  }

  func bloodPressure() async throws {
    guard let client = try await client({ try await BloodPressureClient(peripheral) }) else { return }
    try await value("features") { try await client.feature() }
    // The user starts a measurement.
    try await measurements("measurements", client.measurements, every: nil)
  }

  func glucose() async throws {
    let limit = trial.procedureLimit
    guard let client = try await client({ try await GlucoseClient(peripheral, procedureLimit: limit) }) else { return }
    try await value("features") { try await client.feature() }
    try await procedure("number of stored records") { try await client.numberOfRecords() }
    try await trial.step(service, "last record") {
      var records: [TrialValue] = []
      for try await reading in client.records(RecordCriterion(.lastRecord)) {
        records.append(
          TrialValue(
            [reading.measurement.description, reading.context?.description].compactMap { $0 }.joined(separator: "; "),
            fields: reading.measurement.fields + (reading.context?.fields ?? [])))
      }
      return records.isEmpty ? ["none"] : records
    }
  }

  func weightScale() async throws {
    guard let client = try await client({ try await WeightScaleClient(peripheral) }) else { return }
    try await value("features") { try await client.feature() }
    // Somebody steps on the scale, unless it has stored measurements.
    try await measurements("measurements", client.measurements, every: nil)
  }

  func cyclingSpeedAndCadence() async throws {
    let limit = trial.procedureLimit
    guard
      let client = try await client({ try await CyclingSpeedAndCadenceClient(peripheral, procedureLimit: limit) })
    else { return }
    try await value("features") { try await client.feature() }
    try await value("sensor location") { try await client.sensorLocation() }
    try await measurements("measurements", client.measurements)
    try await locations { try await client.supportedSensorLocations() }
  }

  func cyclingPower() async throws {
    let limit = trial.procedureLimit
    guard let client = try await client({ try await CyclingPowerClient(peripheral, procedureLimit: limit) }) else {
      return
    }
    try await value("features") { try await client.feature() }
    try await value("sensor location") { try await client.sensorLocation() }
    try await measurements("measurements", client.measurements)
    try await measurements("vectors", client.vectors)
    try await locations { try await client.supportedSensorLocations() }
    try await procedure("crank length") { try await client.crankLength() }
    try await procedure("chain length") { "\(try await client.chainLength()) mm" }
    try await procedure("chain weight") { "\(try await client.chainWeight()) g" }
    try await procedure("span length") { "\(try await client.spanLength()) mm" }
    try await procedure("sampling rate") { "\(try await client.samplingRate()) Hz" }
    try await procedure("factory calibration date") { try await client.factoryCalibrationDate() }
  }

  func runningSpeedAndCadence() async throws {
    let limit = trial.procedureLimit
    guard
      let client = try await client({ try await RunningSpeedAndCadenceClient(peripheral, procedureLimit: limit) })
    else { return }
    try await value("features") { try await client.feature() }
    try await value("sensor location") { try await client.sensorLocation() }
    try await measurements("measurements", client.measurements)
    try await locations { try await client.supportedSensorLocations() }
  }

  func locationAndNavigation() async throws {
    let limit = trial.procedureLimit
    guard let client = try await client({ try await LocationAndNavigationClient(peripheral, procedureLimit: limit) })
    else { return }
    try await value("features") { try await client.feature() }
    try await value("position quality") { try await client.positionQuality() }
    try await measurements("locations", client.locations)
    try await procedure("number of routes") { try await client.numberOfRoutes() }
  }

  func humanInterfaceDevice() async throws {
    guard let client = try await client({ try await HumanInterfaceDeviceClient(peripheral) }) else { return }
    try await value("information") { client.information }
    try await value("report map") { "\(try await client.reportMap().octets.count) octets" }
    try await value("protocol mode") { try await client.protocolMode() }
    // The device sends reports only if somebody uses it.
    try await trial.step(service, "input reports", isMeasurement: true) {
      defer { withExtendedLifetime(client) {} }
      let input = try await client.subscribeToInput()
      return try await trial.listen(to: input, every: nil) { "report \($0.reportID), 0x\($0.octets.digits)" }
    }
  }

  func findMe() async throws {
    guard let client = try await client({ try await FindMeClient(peripheral) }) else { return }
    try await trial.step(service, "mild alert, then none") {
      try await client.alert(.mildAlert)
      try await trial.stage.sleep(min(2, trial.seconds))
      try await client.alert(.noAlert)
      return []
    }
  }

  func proximity() async throws {
    guard let client = try await client({ try await ProximityClient(peripheral) }) else { return }
    try await value("alert at link loss") { try await client.linkLossAlert() }
    try await value("transmit power") { try await client.transmitPower() }
    try await value("path loss") { try await client.pathLoss().map { "\($0) dB" } }
  }

  func alertNotification() async throws {
    guard let client = try await client({ try await AlertNotificationClient(peripheral) }) else { return }
    try await value("categories of new alerts") { try await client.supportedNewAlerts() }
    try await value("categories of unread alerts") { try await client.supportedUnreadAlerts() }
    // The settings of a client end with its link.
    try await trial.step(service, "enable and disable new alerts") {
      try await client.perform(.enableNewAlert)
      try await client.perform(.disableNewAlert)
      return []
    }
  }

  func phoneAlertStatus() async throws {
    guard let client = try await client({ try await PhoneAlertStatusClient(peripheral) }) else { return }
    try await value("alert status") { try await client.alertStatus() }
    try await value("ringer setting") { try await client.ringerSetting() }
  }

  func time() async throws {
    guard let client = try await client({ try await TimeClient(peripheral) }) else { return }
    try await value("current time") { try await client.currentTime() }
    try await value("local time") { try await client.localTimeInformation() }
    try await value("reference") { try await client.referenceTimeInformation() }
  }

  func battery() async throws {
    guard let client = try await client({ try await BatteryClient(remote) }) else { return }
    try await characteristic(BatteryLevel.self) { try await client.level() }
    try await trial.read(remote, except: [BatteryLevel.uuid])
  }

  func deviceInformation() async throws {
    guard let client = try await client({ try await DeviceInformationClient(remote) }) else { return }
    try await characteristic(ManufacturerNameString.self) { try await client.manufacturerName() }
    try await characteristic(ModelNumberString.self) { try await client.modelNumber() }
    try await characteristic(SerialNumberString.self) { try await client.serialNumber() }
    try await characteristic(HardwareRevisionString.self) { try await client.hardwareRevision() }
    try await characteristic(FirmwareRevisionString.self) { try await client.firmwareRevision() }
    try await characteristic(SoftwareRevisionString.self) { try await client.softwareRevision() }
    try await characteristic(SystemID.self) { try await client.systemID() }
    try await characteristic(RegulatoryCertificationDataList.self) { try await client.regulatoryCertificationData() }
    try await characteristic(PnPID.self) { try await client.pnpID() }
    let known = [
      ManufacturerNameString.uuid, ModelNumberString.uuid, SerialNumberString.uuid, HardwareRevisionString.uuid,
      FirmwareRevisionString.uuid, SoftwareRevisionString.uuid, SystemID.uuid, RegulatoryCertificationDataList.uuid,
      PnPID.uuid,
    ]
    try await trial.read(remote, except: Set(known))
  }

  func notificationCenter() async throws {
    let limit = trial.procedureLimit
    guard
      let client = try await client({ () async throws -> NotificationCenterClient in
        guard let made = try await NotificationCenterClient(peripheral, commandLimit: limit) else {
          throw DeviceTrial.StepFailure(description: "the service has no characteristic Notification Source")
        }
        return made
      })
    else { return }
    // The phone sends events only if it has notifications, and its user permits it.
    try await trial.step(service, "notifications", isMeasurement: true) {
      let events = client.events.map { event in try await Self.text(of: event, client) }
      return try await trial.listen(to: events, every: nil) { TrialValue($0) }
    }
  }

  /// Returns an event with the app and the title of its notification, if the phone still has it.
  private static func text(
    of event: NotificationCenterClient.Event, _ client: NotificationCenterClient
  ) async throws -> String {
    guard event.kind != .removed else { return event.description }
    do {
      let content = try await client.content(of: event.uid, [.appIdentifier, .title(maximumLength: 64)])
      let title = (content.title ?? "").debugDescription
      return "\(event), app \(content.appIdentifier ?? "unknown"), title \(title)"
    } catch NotificationCenterError.notOffered, NotificationCenterError.invalidParameter {
      return event.description
    }
  }
}
