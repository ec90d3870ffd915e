import BluetoothLab
import BluetoothProfiles
import Foundation

/// Converts the values of a file to accessories.
struct AccessoryReader {
  /// The local name of an accessory without a `localName` field.
  let name: String
  var problems: ProblemList

  /// Returns the accessory; for a value that can't be read, and has been reported, an accessory that does nothing.
  mutating func read(_ value: LocatedValue?, at path: FieldPath) -> any Accessory {
    guard let object = ObjectReader(value, kinds: ObjectShape.accessoryKinds, at: path) else {
      return Broadcaster(Advertising())
    }
    switch object.shape.name {
    case "heart-rate": return heartRate(object)
    case "thermometer": return thermometer(object)
    case "blood-pressure": return bloodPressure(object)
    case "cycling": return cycling(object)
    case "flashlight": return flashlight(object)
    case "key-fob": return keyFob(object)
    case "battery": return battery(object)
    case "ibeacon": return iBeacon(object)
    case "broadcaster": return broadcaster(object)
    default: return peripheral(object)
    }
  }

  private func localName(_ object: ObjectReader) -> String { object.text("localName") ?? name }

  private func heartRate(_ object: ObjectReader) -> HeartRateSensor {
    var sensor = HeartRateSensor(name: localName(object))
    if let pulse: UInt16 = object.whole("beatsPerMinute") { sensor.beatsPerMinute = pulse }
    if let energy: UInt16 = object.whole("energyExpended") { sensor.energyExpended = energy }
    if let energy: UInt16 = object.whole("energyPerMeasurement") { sensor.energyPerMeasurement = energy }
    if let interval = object.time("interval") { sensor.interval = interval }
    if let level: UInt8 = object.whole("batteryLevel") { sensor.batteryLevel = level }
    return sensor
  }

  private func thermometer(_ object: ObjectReader) -> Thermometer {
    var thermometer = Thermometer(name: localName(object))
    if let celsius = object.number("celsius") { thermometer.celsius = celsius }
    if let interval = object.time("interval") { thermometer.interval = interval }
    return thermometer
  }

  private func bloodPressure(_ object: ObjectReader) -> BloodPressureMonitor {
    var monitor = BloodPressureMonitor(name: localName(object))
    if let systolic = object.number("systolic") { monitor.systolic = systolic }
    if let diastolic = object.number("diastolic") { monitor.diastolic = diastolic }
    if let pulseRate = object.number("pulseRate") { monitor.pulseRate = pulseRate }
    if let interval = object.time("interval") { monitor.interval = interval }
    return monitor
  }

  private func cycling(_ object: ObjectReader) -> CyclingSensor {
    var sensor = CyclingSensor(name: localName(object))
    if let speed = object.number("speed") { sensor.speed = speed }
    if let cadence = object.number("cadence") { sensor.cadence = cadence }
    if let circumference = object.number("wheelCircumference") { sensor.wheelCircumference = circumference }
    return sensor
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
    if let level: Int8 = object.whole("transmitPowerLevel") { fob.transmitPower = level }
    if let fast = preferredParameters(object.object("fast", .preferredParameters)) { fob.fast = fast }
    if let time = object.time("fastTime") { fob.fastTime = time }
    if let slow = preferredParameters(object.object("slow", .preferredParameters)) { fob.slow = slow }
    return fob
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
    let uuids = services.filter(\.isPrimary).map(\.uuid)
    let payload = AdvertisingPayload(fitting: [.flags()] + ADStructure.serviceLists(uuids))
    if let whole = try? AdvertisingPayload(payload.structures + [.name(name)]) { return Advertising(whole) }
    return Advertising(payload, scanResponse: AdvertisingPayload(fitting: [.name(name)]))
  }
}
