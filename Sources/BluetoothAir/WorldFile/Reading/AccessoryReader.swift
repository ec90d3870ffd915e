import BluetoothLab
import BluetoothProfiles
import Foundation

/// Converts the values of a file to accessories.
struct AccessoryReader {
  /// The local name of an accessory without a `localName` field.
  let name: String
  /// The transmit power of the device in dBm.
  let transmitPower: Double
  /// The folder from which paths of recordings begin; nil: the file is a recording itself, and may name no other one.
  let folder: String?
  var problems: ProblemList

  /// Returns the accessory; for a value that can't be read, and has been reported, an accessory that does nothing.
  mutating func read(_ value: LocatedValue?, at path: FieldPath) -> any Accessory {
    guard let object = ObjectReader(value, kinds: ObjectShape.accessoryKinds, at: path) else {
      return Broadcaster(Advertising())
    }
    let accessory = accessory(object)
    guard var scheduled = accessory as? any ScheduledAccessory, let interval = object.time("advertisingInterval") else {
      return accessory
    }
    scheduled.advertisingSchedule = [.every(interval)]
    return scheduled
  }

  private mutating func accessory(_ object: ObjectReader) -> any Accessory {
    switch object.shape.name {
    case "heart-rate": return heartRate(object)
    case "thermometer": return thermometer(object)
    case "blood-pressure": return bloodPressure(object)
    case "glucose": return glucose(object)
    case "cycling": return cycling(object)
    case "cycling-power": return cyclingPower(object)
    case "running": return running(object)
    case "location": return location(object)
    case "weight-scale": return weightScale(object)
    case "pedometer": return pedometer(object)
    case "keyboard": return keyboard(object)
    case "mouse": return mouse(object)
    case "sensor-tag": return sensorTag(object)
    case "telephone": return telephone(object)
    case "notifying-phone": return notifyingPhone(object)
    case "flashlight": return flashlight(object)
    case "key-fob": return keyFob(object)
    case "finder-tag": return finderTag(object)
    case "pin-board": return pinBoard(object)
    case "battery": return battery(object)
    case "ibeacon": return iBeacon(object)
    case "broadcaster": return broadcaster(object)
    case "recording": return recording(object)
    default: return peripheral(object)
    }
  }

  func localName(_ object: ObjectReader) -> String { object.text("localName") ?? name }

  private func heartRate(_ object: ObjectReader) -> HeartRateSensor {
    var sensor = HeartRateSensor(name: localName(object))
    if let pulse: UInt16 = object.whole("beatsPerMinute") { sensor.beatsPerMinute = pulse }
    if let energy: UInt16 = object.whole("energyExpended") { sensor.energyExpended = energy }
    if let energy: UInt16 = object.whole("energyPerMeasurement") { sensor.energyPerMeasurement = energy }
    if let period: UInt16 = object.whole("energyPeriod") { sensor.energyPeriod = period }
    if let sendsIntervals = object.flag("sendsRRIntervals") { sensor.sendsRRIntervals = sendsIntervals }
    if object.flag("hasDeviceInformation") == false { sensor.information = nil }
    if let interval = object.time("interval") { sensor.interval = interval }
    if let level: UInt8 = object.whole("batteryLevel") { sensor.batteryLevel = level }
    return sensor
  }

  private mutating func thermometer(_ object: ObjectReader) -> Thermometer {
    var thermometer = Thermometer(name: localName(object))
    if let celsius = object.number("celsius") { thermometer.celsius = celsius }
    if let interval = object.time("interval") { thermometer.interval = interval }
    if let interval = object.time("intermediateInterval") { thermometer.intermediateInterval = interval }
    let limits = object.list("permittedIntervals").compactMap { $0.value.whole(UInt16.self) }
    if limits.count == 2 {
      if limits[0] <= limits[1] {
        thermometer.permittedIntervals = limits[0]...limits[1]
      } else {
        problems.add(
          object.place("permittedIntervals"), object.path("permittedIntervals"),
          "the shortest interval exceeds the longest one")
      }
    }
    thermometer.timeStamp = object.dateTime("timeStamp")
    if let level: UInt8 = object.whole("batteryLevel") { thermometer.batteryLevel = level }
    return thermometer
  }

  private func bloodPressure(_ object: ObjectReader) -> BloodPressureMonitor {
    var monitor = BloodPressureMonitor(name: localName(object))
    if let systolic = object.number("systolic") { monitor.systolic = systolic }
    if let diastolic = object.number("diastolic") { monitor.diastolic = diastolic }
    if let pulseRate = object.number("pulseRate") { monitor.pulseRate = pulseRate }
    if let interval = object.time("interval") { monitor.interval = interval }
    if let unit = object.word("unit", PressureUnitNames.all) { monitor.unit = unit }
    if let interval = object.time("cuffInterval") { monitor.cuffInterval = interval }
    monitor.userID = object.whole("userID")
    monitor.timeStamp = object.dateTime("timeStamp")
    if let level: UInt8 = object.whole("batteryLevel") { monitor.batteryLevel = level }
    return monitor
  }

  private func glucose(_ object: ObjectReader) -> GlucoseMeter {
    var meter = GlucoseMeter(name: localName(object))
    if let count: Int = object.whole("records") { meter.records = GlucoseRecord.samples(count) }
    if let protection = object.word("protection", ProtectionNames.all) { meter.protection = protection }
    if let level: UInt8 = object.whole("batteryLevel") { meter.batteryLevel = level }
    return meter
  }

  private func cycling(_ object: ObjectReader) -> CyclingSensor {
    var sensor = CyclingSensor(name: localName(object))
    if let speed = object.number("speed") { sensor.speed = speed }
    if let cadence = object.number("cadence") { sensor.cadence = cadence }
    if let circumference = object.number("wheelCircumference") { sensor.wheelCircumference = circumference }
    if let level: UInt8 = object.whole("batteryLevel") { sensor.batteryLevel = level }
    return sensor
  }

  private func cyclingPower(_ object: ObjectReader) -> CyclingPowerMeter {
    var meter = CyclingPowerMeter(name: localName(object))
    if let power = object.number("power") { meter.power = power }
    if let cadence = object.number("cadence") { meter.cadence = cadence }
    if let speed = object.number("speed") { meter.speed = speed }
    if let circumference = object.number("wheelCircumference") { meter.wheelCircumference = circumference }
    if let share = object.number("leftShare") { meter.leftShare = share }
    if let length = object.number("crankLength") { meter.crankLength = length }
    if let length: UInt16 = object.whole("chainLength") { meter.chainLength = length }
    if let weight: UInt16 = object.whole("chainWeight") { meter.chainWeight = weight }
    if let length: UInt16 = object.whole("spanLength") { meter.spanLength = length }
    if let rate: UInt8 = object.whole("samplingRate") { meter.samplingRate = rate }
    if let offset: Int16 = object.whole("offset") { meter.offset = offset }
    meter.supportsEnhancedCompensation = object.flag("supportsEnhancedCompensation") ?? false
    if let time = object.time("compensationTime") { meter.compensationTime = time }
    if let level: UInt8 = object.whole("batteryLevel") { meter.batteryLevel = level }
    return meter
  }

  private func running(_ object: ObjectReader) -> RunningSensor {
    var sensor = RunningSensor(name: localName(object))
    if let speed = object.number("speed") { sensor.speed = speed }
    if let cadence: UInt8 = object.whole("cadence") { sensor.cadence = cadence }
    if let speed = object.number("runningSpeed") { sensor.runningSpeed = speed }
    if let time = object.time("calibrationTime") { sensor.calibrationTime = time }
    if let canCalibrate = object.flag("canCalibrate") { sensor.canCalibrate = canCalibrate }
    if let level: UInt8 = object.whole("batteryLevel") { sensor.batteryLevel = level }
    return sensor
  }

  private func location(_ object: ObjectReader) -> LocationSensor {
    func position(_ object: ObjectReader) -> GeographicPosition {
      GeographicPosition(
        latitude: object.number("latitude") ?? 48, longitude: object.number("longitude") ?? 11)
    }
    var sensor = LocationSensor(name: localName(object), position: position(object))
    if let speed = object.number("speed") { sensor.speed = speed }
    if let heading = object.number("heading") { sensor.heading = heading }
    if let elevation = object.number("elevation") { sensor.elevation = elevation }
    sensor.routes = object.objects("routes", .route).map { route in
      NavigationRoute(
        route.text("name") ?? "", waypoints: route.objects("waypoints", .routePoint).map(position))
    }
    if let status = object.word("positionStatus", PositionStatusNames.all) { sensor.positionStatus = status }
    let beacons = object.list("beacons").compactMap { $0.value.whole(UInt8.self) }
    if beacons.count == 2 { sensor.beacons = (inSolution: beacons[0], inView: beacons[1]) }
    sensor.startTime = object.dateTime("startTime")
    if let level: UInt8 = object.whole("batteryLevel") { sensor.batteryLevel = level }
    return sensor
  }

  private func keyboard(_ object: ObjectReader) -> Keyboard {
    var keyboard = Keyboard(name: localName(object))
    if let interval = object.time("reportInterval") { keyboard.reportInterval = interval }
    if let connection = preferredParameters(object.object("connection", .preferredParameters)) {
      keyboard.connection = connection
    }
    if let protection = object.word("protection", ProtectionNames.all) { keyboard.protection = protection }
    if let text = object.text("types") { keyboard.typedText = text }
    if let interval = object.time("typingInterval") { keyboard.typingInterval = interval }
    if let level: UInt8 = object.whole("batteryLevel") { keyboard.batteryLevel = level }
    return keyboard
  }

  private func mouse(_ object: ObjectReader) -> Mouse {
    var mouse = Mouse(name: localName(object))
    if let interval = object.time("reportInterval") { mouse.reportInterval = interval }
    if let connection = preferredParameters(object.object("connection", .preferredParameters)) {
      mouse.connection = connection
    }
    if let protection = object.word("protection", ProtectionNames.all) { mouse.protection = protection }
    mouse.movements = object.list("moves").map { movement in
      guard case .list(let parts) = movement.value.content else { return Mouse.Movement() }
      let numbers = parts.map { $0.whole(Int.self) ?? 0 } + [0, 0, 0]
      return Mouse.Movement(x: numbers[0], y: numbers[1], wheel: numbers[2])
    }
    if let interval = object.time("moveInterval") { mouse.movementInterval = interval }
    if let level: UInt8 = object.whole("batteryLevel") { mouse.batteryLevel = level }
    return mouse
  }

  private func sensorTag(_ object: ObjectReader) -> SensorTag {
    var tag = SensorTag(name: localName(object))
    if let temperature = object.number("objectTemperature") { tag.objectTemperature = temperature }
    if let temperature = object.number("ambientTemperature") { tag.ambientTemperature = temperature }
    if let humidity = object.number("humidity") { tag.humidity = humidity }
    if let pressure = object.number("pressure") { tag.pressure = pressure }
    func vector(_ name: String) -> SensorTag.Vector? {
      let numbers = object.list(name).compactMap { $0.value.number }
      return numbers.count == 3 ? SensorTag.Vector(numbers[0], numbers[1], numbers[2]) : nil
    }
    if let rotation = vector("rotation") { tag.rotation = rotation }
    if let acceleration = vector("acceleration") { tag.acceleration = acceleration }
    if let field = vector("magneticField") { tag.magneticField = field }
    if let level: UInt8 = object.whole("batteryLevel") { tag.batteryLevel = level }
    return tag
  }

  private mutating func telephone(_ object: ObjectReader) -> Telephone {
    var telephone = Telephone(name: localName(object), startTime: object.dateTime("startTime"))
    if let hasReference = object.flag("hasReference") { telephone.hasReference = hasReference }
    if let time = object.time("updateTime") { telephone.updateTime = time }
    if object.has("categories") { telephone.categories = words("categories", of: object, AlertCategoryNames.all) }
    telephone.alertStatus = AlertStatus(words("alertStatus", of: object, AlertStatusNames.all))
    if let ringer = object.word("ringer", RingerSettingNames.all) { telephone.ringer = ringer }
    for alert in object.objects("alerts", .alert) {
      guard let time = alert.time("at"), let category = alert.word("category", AlertCategoryNames.all) else { continue }
      if !telephone.categories.contains(category) {
        problems.add(alert.place("category"), alert.path("category"), "the telephone does not support this category")
      }
      var scheduled = Telephone.ScheduledAlert(at: time, category, text: alert.text("text") ?? "")
      scheduled.unread = alert.whole("unread")
      if alert.has("alertStatus") {
        scheduled.alertStatus = AlertStatus(words("alertStatus", of: alert, AlertStatusNames.all))
      }
      telephone.scheduledAlerts.append(scheduled)
    }
    if let level: UInt8 = object.whole("batteryLevel") { telephone.batteryLevel = level }
    return telephone
  }

  private mutating func notifyingPhone(_ object: ObjectReader) -> NotifyingPhone {
    var phone = NotifyingPhone(name: localName(object), startTime: object.dateTime("startTime"))
    let notifications = object.objects("notifications", .notification)
    let identifiers = Set(notifications.compactMap { $0.text("id") })
    for (index, fields) in notifications.enumerated() {
      var ownIdentifier = "notifications[\(index)]"
      while identifiers.contains(ownIdentifier) { ownIdentifier += "'" }
      let time = fields.time("at") ?? .zero
      let removalTime = fields.time("removedAt")
      if let removalTime, removalTime <= time {
        problems.add(
          fields.place("removedAt"), fields.path("removedAt"), "the notification is removed before it appears")
      }
      var notification = DeviceNotification(
        fields.text("id") ?? ownIdentifier, app: fields.text("app") ?? "",
        title: fields.text("title") ?? "", message: fields.text("message") ?? "")
      notification.subtitle = fields.text("subtitle") ?? ""
      notification.appName = fields.text("appName")
      if let category = fields.word("category", NotificationCategoryNames.all) { notification.category = category }
      notification.positiveAction = fields.text("positiveAction")
      notification.negativeAction = fields.text("negativeAction")
      notification.isSilent = fields.flag("isSilent") ?? false
      notification.isImportant = fields.flag("isImportant") ?? false
      phone.scheduledNotifications.append(
        NotifyingPhone.ScheduledNotification(
          notification, at: time, date: fields.dateTime("date"), removedAt: removalTime))
    }
    if let level: UInt8 = object.whole("batteryLevel") { phone.batteryLevel = level }
    return phone
  }

  /// Returns the meanings of a list of words.
  private func words<T>(_ name: String, of object: ObjectReader, _ meanings: [String: T]) -> [T] {
    object.list(name).compactMap { $0.value.text.flatMap { meanings[$0] } }
  }

  private func flashlight(_ object: ObjectReader) -> Flashlight {
    var light = Flashlight(name: localName(object))
    if let isOn = object.flag("isOn") { light.isOn = isOn }
    if let brightness: UInt8 = object.whole("brightness") { light.brightness = brightness }
    if let level: UInt8 = object.whole("batteryLevel") { light.batteryLevel = level }
    return light
  }

  private func keyFob(_ object: ObjectReader) -> KeyFob {
    var fob = KeyFob(name: localName(object))
    fob.transmitPower = object.whole("transmitPowerLevel") ?? radioPower
    if let fast = preferredParameters(object.object("fast", .preferredParameters)) { fob.fast = fast }
    if let time = object.time("fastTime") { fob.fastTime = time }
    if let slow = preferredParameters(object.object("slow", .preferredParameters)) { fob.slow = slow }
    fob.buttonInterval = object.time("buttonInterval")
    if let level = object.word("buttonAlert", AlertLevelNames.all) { fob.buttonAlert = level }
    if let level: UInt8 = object.whole("batteryLevel") { fob.batteryLevel = level }
    return fob
  }

  private func finderTag(_ object: ObjectReader) -> FinderTag {
    var tag = FinderTag(name: localName(object))
    tag.transmitPower = object.whole("transmitPowerLevel") ?? radioPower
    if let light = object.word("light", LightNames.all) { tag.light = light }
    if let level: UInt8 = object.whole("batteryLevel") { tag.batteryLevel = level }
    return tag
  }

  private mutating func pinBoard(_ object: ObjectReader) -> PinBoard {
    var board = PinBoard(name: localName(object))
    func pins(_ name: String) -> [PinBoard.Pin] {
      object.list(name).compactMap { $0.value.whole(UInt8.self).flatMap(PinBoard.Pin.init(rawValue:)) }
    }
    let (high, low) = (pins("highPins"), pins("lowPins"))
    for pin in high { board.apply(.high, to: pin) }
    for pin in low { board.apply(.low, to: pin) }
    if high.contains(where: low.contains) {
      problems.add(object.place("lowPins"), object.path("lowPins"), "a pin can't be in highPins, too")
    }
    for (pin, millivolts) in zip(PinBoard.AnalogPin.allCases, object.list("millivolts")) {
      board.analogInputs[pin] = millivolts.value.whole(UInt16.self)
    }
    for press in object.objects("presses", .pinPress) {
      guard let time = press.time("at") else { continue }
      var scheduled = PinBoard.Press(at: time)
      if let pin = press.whole("pin", UInt8.self).flatMap(PinBoard.Pin.init(rawValue:)) { scheduled.pin = pin }
      if let duration = press.time("duration") { scheduled.duration = duration }
      board.scheduledPresses.append(scheduled)
    }
    if let level: UInt8 = object.whole("batteryLevel") { board.batteryLevel = level }
    return board
  }

  /// The transmit power of the device's radio, in whole decibels.
  private var radioPower: Int8 {
    transmitPower.isFinite ? Int8(min(max(transmitPower, -20), 20).rounded()) : 0
  }

  private func battery(_ object: ObjectReader) -> BatteryPack {
    BatteryPack(
      name: localName(object), level: object.whole("level") ?? 100, timePerPercent: object.time("timePerPercent"))
  }

  private func iBeacon(_ object: ObjectReader) -> any Accessory {
    guard let uuid = object["proximityUUID"]?.raw.flatMap({ UUID(uuidString: $0) }) else {
      return Broadcaster(Advertising())
    }
    return IBeacon(
      proximityUUID: uuid, major: object.whole("major") ?? 0, minor: object.whole("minor") ?? 0,
      measuredPower: object.whole("measuredPower") ?? -59, interval: object.time("interval") ?? .milliseconds(100))
  }

  private mutating func recording(_ object: ObjectReader) -> any Accessory {
    // The checker has reported a file that is missing.
    guard let file = object.text("file") else { return Broadcaster(Advertising()) }
    guard let folder else {
      problems.add(
        object.place("file"), object.path("file"), "a file that is a recording itself can't name another recording")
      return Broadcaster(Advertising())
    }
    do throws(DeviceRecordingError) {
      var recording = try DeviceRecording(
        path: file.hasPrefix("/") || folder.isEmpty ? file : folder + "/" + file, device: object.text("device"))
      if let start = object.word("start", RecordingStartNames.all) { recording.start = start }
      return recording.accessory
    } catch {
      problems.add(object.place("file"), object.path("file"), error.description)
      return Broadcaster(Advertising())
    }
  }

  private mutating func broadcaster(_ object: ObjectReader) -> Broadcaster {
    var standard = Advertising()
    standard.kind = .broadcast
    var reader = AdvertisingReader(problems: problems)
    defer { problems = reader.problems }
    return Broadcaster(reader.read(object.object("advertising", .advertising), else: standard))
  }

  func preferredParameters(_ object: ObjectReader?) -> PreferredConnectionParameters? {
    guard let object, let interval = object.time("interval") else { return nil }
    return PreferredConnectionParameters(
      interval: interval, latency: object.whole("latency") ?? 0,
      supervisionTimeout: object.time("supervisionTimeout") ?? .seconds(2))
  }
}

// MARK: Described peripherals

extension AccessoryReader {
  private mutating func peripheral(_ object: ObjectReader) -> DescribedPeripheral {
    var services = ServiceReader(problems: problems)
    var peripheral = DescribedPeripheral()
    services.read(object, into: &peripheral)
    problems = services.problems
    if let appearance: UInt16 = object.whole("appearance") { peripheral.appearance = Appearance(rawValue: appearance) }
    peripheral.preferredParameters = preferredParameters(object.object("connection", .preferredParameters))

    var reader = AdvertisingReader(problems: problems)
    peripheral.advertising = reader.read(
      object.object("advertising", .advertising), else: standardAdvertising(of: peripheral.services, localName(object)))
    problems = reader.problems
    return peripheral
  }

  /// Returns the default advertising: services and name in one packet or, if the whole name does not fit, the name in
  /// the scan response.
  private func standardAdvertising(of services: [AccessoryService<DescribedPeripheral>], _ name: String) -> Advertising
  {
    var uuids: [BluetoothUUID] = []
    for service in services where service.isPrimary && !uuids.contains(service.uuid) { uuids.append(service.uuid) }
    let payload = AdvertisingPayload(fitting: [.flags()] + ADStructure.serviceLists(uuids))
    if let whole = try? AdvertisingPayload(payload.structures + [.name(name)]) { return Advertising(whole) }
    return Advertising(payload, scanResponse: AdvertisingPayload(fitting: [.name(name)]))
  }
}
