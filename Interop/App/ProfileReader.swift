import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras
import CoreBluetoothProfiles

/// Connects to a server of a profile, uses the typed client of the profile, and prints each result on a line.
enum ProfileReader {
  /// The program has a `Peripheral` of its own.
  private typealias Remote = CoreBluetoothExtras.Peripheral

  /// The service to scan for, and what to do with the peripheral that has it.
  private struct Profile {
    let service: CBUUID
    let use: @Sendable (Remote) async throws -> Void

    init(service: CBUUID, use: @escaping @Sendable (Remote) async throws -> Void) {
      (self.service, self.use) = (service, use)
    }

    init(service: UInt16, use: @escaping @Sendable (Remote) async throws -> Void) {
      self.init(service: uuid(service), use: use)
    }
  }

  private static let profiles: [String: Profile] = [
    "alert-notification": Profile(service: AlertNotificationClient.service, use: alertNotification),
    "blood-pressure": Profile(service: BloodPressureClient.service, use: bloodPressure),
    "cycling": Profile(service: CyclingSpeedAndCadenceClient.service, use: cycling),
    "cycling-power": Profile(service: CyclingPowerClient.service, use: cyclingPower),
    "find-me": Profile(service: FindMeClient.service, use: findMe),
    "glucose": Profile(service: GlucoseClient.service, use: glucose),
    "heart-rate": Profile(service: HeartRateClient.service, use: heartRate),
    "keyboard": Profile(service: HumanInterfaceDeviceClient.service, use: keyboard),
    "location": Profile(service: LocationAndNavigationClient.service, use: location),
    "notifications": Profile(service: NotificationCenterClient.service, use: notifications),
    "phone-alert": Profile(service: PhoneAlertStatusClient.service, use: phoneAlert),
    "proximity": Profile(service: ProximityClient.service, use: proximity),
    "running": Profile(service: RunningSpeedAndCadenceClient.service, use: running),
    "thermometer": Profile(service: HealthThermometerClient.service, use: thermometer),
    "time": Profile(service: TimeClient.service, use: time),
    "weight-scale": Profile(service: WeightScaleClient.service, use: weightScale),
  ]

  /// Uses the first server of the profile that is found. Returns false if there is no such profile.
  static func read(_ name: String) async throws -> Bool {
    guard let profile = profiles[name] else { return false }
    let central = CoreBluetoothExtras.Central()
    try await central.waitUntilPoweredOn(within: .seconds(10))
    for try await discovery in central.scan(for: [profile.service]) {
      let peripheral = discovery.peripheral
      try await peripheral.connect(within: .seconds(10))
      try await profile.use(peripheral)
      try await peripheral.disconnect(within: .seconds(10))
      break
    }
    return true
  }

  /// Advertises that this device looks for a phone's notifications, and uses those of the first phone that connects and
  /// subscribes to a value.
  static func receiveNotifications() async throws {
    let (local, central) = (LocalPeripheral(), CoreBluetoothExtras.Central())
    try await local.waitUntilPoweredOn(within: .seconds(10))
    try await central.waitUntilPoweredOn(within: .seconds(10))
    let value = LocalCharacteristic(InteropService.events, .notify)
    try await local.add(LocalService(InteropService.uuid, [value]))
    let solicitation = ADStructure(.solicitedServices128, NotificationCenterClient.service.data.reversed())
    try await local.withAdvertising(AdvertisingParameters([.flags(), solicitation, .name("watch")])) {
      for await subscribers in value.subscriptions {
        guard let phone = subscribers.first else { continue }
        guard let peripheral = central.peripherals(withIdentifiers: [phone.id]).first else {
          return say("unknown phone")
        }
        try await peripheral.connect(within: .seconds(10))
        return try await notifications(peripheral)
      }
    }
  }

  // MARK: Printing

  private static func show(_ name: String, _ value: (some CustomStringConvertible)?) {
    say("\(name): \(value.map(\.description) ?? "none")")
  }

  private static func show<Value>(
    _ count: Int, _ name: String, _ values: Measurements<Value>?
  ) async throws {
    guard let values else { return say("\(name): none") }
    var rest = count
    for try await value in values {
      say("\(name): \(value)")
      rest -= 1
      if rest == 0 { break }
    }
  }

  /// Performs a command, and prints its result or its error.
  private static func perform<Result>(_ name: String, _ command: () async throws -> Result) async {
    do {
      let result = try await command()
      say("\(name): \(result is Void ? "done" : "\(result)")")
    } catch { say("\(name): \(error)") }
  }

  private static func text(_ locations: [SensorLocation]) -> String {
    locations.map(\.description).joined(separator: ", ")
  }

  /// Prints the battery level and the manufacturer. Both are read after the commands before, so that the peripheral has
  /// those of them that it does not acknowledge.
  private static func information(of peripheral: Remote) async throws {
    show("battery", try await BatteryClient(peripheral).level())
    show("manufacturer", try await DeviceInformationClient(peripheral).manufacturerName())
  }

  private static func uuid(_ number: UInt16) -> CBUUID { CBUUID(string: String(format: "%04X", number)) }

  // MARK: Health

  @Sendable private static func heartRate(_ peripheral: Remote) async throws {
    let belt = try await HeartRateClient(peripheral)
    show("location", try await belt.bodySensorLocation())
    try await show(2, "measurement", belt.measurements)
    await perform("reset") { try await belt.resetEnergyExpended() }
    try await information(of: peripheral)
  }

  @Sendable private static func thermometer(_ peripheral: Remote) async throws {
    let thermometer = try await HealthThermometerClient(peripheral)
    show("type", try await thermometer.temperatureType())
    try await show(1, "intermediate", thermometer.intermediateTemperatures)
    try await show(2, "measurement", thermometer.measurements)
    show("interval", try await thermometer.measurementInterval())
    for seconds in [60, 5] {
      await perform("set \(seconds)") {
        try await thermometer.setMeasurementInterval(MeasurementInterval(clamping: seconds))
      }
    }
  }

  @Sendable private static func bloodPressure(_ peripheral: Remote) async throws {
    let monitor = try await BloodPressureClient(peripheral)
    show("feature", try await monitor.feature())
    try await show(1, "cuff", monitor.cuffPressures)
    try await show(1, "measurement", monitor.measurements)
  }

  @Sendable private static func glucose(_ peripheral: Remote) async throws {
    let meter = try await GlucoseClient(peripheral)
    show("feature", try await meter.feature())
    await perform("count") { try await meter.numberOfRecords() }
    for try await reading in meter.records() {
      say("record: \(reading.measurement)")
      if let context = reading.context { say("context: \(context)") }
    }
    for try await reading in meter.records(.sequenceNumbers(2...UInt16.max)) { say("record: \(reading.measurement)") }
    await perform("delete") { try await meter.deleteRecords(.sequenceNumbers(1...1)) }
    await perform("delete again") { try await meter.deleteRecords(.sequenceNumbers(1...1)) }
    await perform("count") { try await meter.numberOfRecords() }
  }

  @Sendable private static func weightScale(_ peripheral: Remote) async throws {
    let scale = try await WeightScaleClient(peripheral)
    show("feature", try await scale.feature())
    try await show(3, "measurement", scale.measurements)
  }

  // MARK: Sports

  @Sendable private static func cycling(_ peripheral: Remote) async throws {
    let sensor = try await CyclingSpeedAndCadenceClient(peripheral)
    show("feature", try await sensor.feature())
    show("location", try await sensor.sensorLocation())
    try await show(2, "measurement", sensor.measurements)
    await perform("locations") { text(try await sensor.supportedSensorLocations()) }
    await perform("set revolutions") { try await sensor.setWheelRevolutions(1_000_000) }
    await perform("move") { try await sensor.updateSensorLocation(.rearHub) }
    await perform("move wrongly") { try await sensor.updateSensorLocation(.chest) }
  }

  @Sendable private static func running(_ peripheral: Remote) async throws {
    let pod = try await RunningSpeedAndCadenceClient(peripheral)
    show("feature", try await pod.feature())
    show("location", try await pod.sensorLocation())
    try await show(1, "measurement", pod.measurements)
    await perform("locations") { text(try await pod.supportedSensorLocations()) }
    await perform("set distance") { try await pod.setTotalDistance(Scalar(clamping: 10_000)) }
    await perform("calibrate") { try await pod.calibrate() }
  }

  @Sendable private static func cyclingPower(_ peripheral: Remote) async throws {
    let meter = try await CyclingPowerClient(peripheral)
    show("feature", try await meter.feature())
    show("location", try await meter.sensorLocation())
    try await show(1, "measurement", meter.measurements)
    try await show(1, "vector", meter.vectors)
    await perform("set crank length") { try await meter.setCrankLength(Scalar(clamping: 350)) }
    await perform("crank length") { try await meter.crankLength() }
    await perform("offset") { try await meter.compensateOffset() }
    await perform("calibrated") { try await meter.factoryCalibrationDate() }
    await perform("chain length") { try await meter.chainLength() }
  }

  @Sendable private static func location(_ peripheral: Remote) async throws {
    let receiver = try await LocationAndNavigationClient(peripheral)
    show("feature", try await receiver.feature())
    show("quality", try await receiver.positionQuality())
    try await show(1, "location", receiver.locations)
    await perform("routes") { try await receiver.numberOfRoutes() }
    await perform("route") { try await receiver.nameOfRoute(0) }
    await perform("select") { try await receiver.selectRoute(0) }
    await perform("start") { try await receiver.navigate(.start) }
    try await show(1, "direction", receiver.directions)
    await perform("fix rate") { try await receiver.setFixRate(0) }
  }

  // MARK: Input and alerts

  @Sendable private static func keyboard(_ peripheral: Remote) async throws {
    let keyboard = try await HumanInterfaceDeviceClient(peripheral)
    show("information", keyboard.information)
    for report in keyboard.reports { say("report: \(report.reference)") }
    show("map", try await keyboard.reportMap())
    var rest = 2
    for try await input in try await keyboard.subscribeToInput() {
      say("input \(input.reportID): \(Data(input.octets).hex)")
      rest -= 1
      if rest == 0 { break }
    }
    await perform("boot") { try await keyboard.setProtocolMode(.boot) }
    show("mode", try await keyboard.protocolMode())
    if let events = keyboard.keyEvents {
      rest = 2
      for try await event in events {
        say("key \(event.usage): \(event.isPressed ? "pressed" : "released")")
        rest -= 1
        if rest == 0 { break }
      }
    }
    await perform("leds") { try await keyboard.setLEDs([.capsLock]) }
    await perform("suspend") { try await keyboard.setSuspended(true) }
    try await information(of: peripheral)
  }

  @Sendable private static func findMe(_ peripheral: Remote) async throws {
    let locator = try await FindMeClient(peripheral)
    await perform("alert") { try await locator.alert(.highAlert) }
    try await information(of: peripheral)
  }

  @Sendable private static func proximity(_ peripheral: Remote) async throws {
    let monitor = try await ProximityClient(peripheral)
    show("link loss", try await monitor.linkLossAlert())
    await perform("set link loss") { try await monitor.setLinkLossAlert(.mildAlert) }
    show("power", try await monitor.transmitPower())
    await perform("alert") { try await monitor.alert(.highAlert) }
    show("link loss", try await monitor.linkLossAlert())
  }

  // MARK: The services of a telephone

  @Sendable private static func time(_ peripheral: Remote) async throws {
    let client = try await TimeClient(peripheral)
    show("time", try await client.currentTime())
    show("local", try await client.localTimeInformation())
    show("reference", try await client.referenceTimeInformation())
    show("change", try await client.nextDSTChange())
    show("state", try await client.updateState())
    try await show(1, "adjustment", client.adjustments)
    await perform("update") { try await client.requestReferenceUpdate() }
    show("state", try await client.updateState())
  }

  @Sendable private static func alertNotification(_ peripheral: Remote) async throws {
    let client = try await AlertNotificationClient(peripheral)
    show("new", try await client.supportedNewAlerts())
    show("unread", try await client.supportedUnreadAlerts())
    await perform("enable") { try await client.perform(.enableNewAlert, for: .email) }
    await perform("enable news") { try await client.perform(.enableNewAlert, for: .news) }
    try await show(1, "alert", client.newAlerts)
    try await show(1, "unread alerts", client.unreadAlerts)
  }

  @Sendable private static func phoneAlert(_ peripheral: Remote) async throws {
    let client = try await PhoneAlertStatusClient(peripheral)
    show("status", try await client.alertStatus())
    show("ringer", try await client.ringerSetting())
    await perform("mute") { try await client.perform(.muteOnce) }
    try await show(1, "status", client.alertStatusChanges)
  }

  @Sendable private static func notifications(_ peripheral: Remote) async throws {
    guard let center = try await NotificationCenterClient(peripheral) else { return say("no service") }
    for try await event in center.events {
      say("event: \(event)")
      if event.kind == .removed { break }
      let content = try await center.content(
        of: event.uid,
        [
          .appIdentifier, .title(maximumLength: 5), .subtitle(), .message(), .messageSize, .date, .positiveActionLabel,
          .negativeActionLabel,
        ])
      show("app", content.appIdentifier)
      show("title", content.title)
      show("subtitle", content.subtitle)
      show("message", content.message)
      show("size", content.messageSize)
      show("date", content.date)
      show("actions", "\(content.positiveActionLabel ?? "none"), \(content.negativeActionLabel ?? "none")")
      await perform("name") { try await center.displayName(of: content.appIdentifier ?? "") }
      await perform("other notification") { try await center.content(of: event.uid + 1, [.title()]).title ?? "none" }
      await perform("decline") { try await center.perform(.negative, on: event.uid) }
      await perform("answer") { try await center.perform(.positive, on: event.uid) }
    }
  }
}
