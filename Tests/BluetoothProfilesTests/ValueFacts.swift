import BluetoothProfiles
import BluetoothTypes

/// Returns the fields of a value under the vectors' names. Numbers, texts and lists are compared as text.
func facts(of value: any CharacteristicValue) -> [String: String]? {
  switch value {
  case let value as HeartRateMeasurement:
    let contact =
      switch value.sensorContact {
      case .notSupported: "not supported"
      case .notDetected: "not detected"
      case .detected: "detected"
      }
    return [
      "heart_rate": text(value.heartRate), "contact": contact, "energy": text(value.energyExpended),
      "rr": text(value.rrIntervals.map(\.value)),
    ]
  case let value as BodySensorLocation: return ["location": value.name ?? ""]
  case let value as BatteryLevel: return ["percent": text(value.value)]
  case let value as TemperatureMeasurement:
    return [
      "value": text(value.temperature), "unit": value.isFahrenheit ? "F" : "C", "timestamp": text(value.timeStamp),
      "type": text(value.type?.rawValue),
    ]
  case let value as BloodPressureMeasurement:
    return [
      "unit": value.unit.rawValue, "systolic": text(value.systolic), "diastolic": text(value.diastolic),
      "map": text(value.meanArterialPressure), "timestamp": text(value.details.timeStamp),
      "pulse": text(value.details.pulseRate), "user": text(value.details.userID),
      "status": text(value.details.status?.rawValue),
    ]
  case let value as WeightMeasurement:
    return [
      "unit": value.units.rawValue, "weight": text(value.weight?.value), "timestamp": text(value.timeStamp),
      "user": text(value.userID), "bmi": text(value.body?.bodyMassIndex.value), "height": text(value.height?.value),
    ]
  case let value as WeightScaleFeature:
    return [
      "timestamp": text(value.timeStamp), "users": text(value.multipleUsers), "bmi": text(value.bodyMassIndex),
      "weight_resolution": text(value.weightResolution.rawValue),
      "height_resolution": text(value.heightResolution.rawValue),
    ]
  case let value as GlucoseMeasurement:
    return [
      "sequence": text(value.sequenceNumber), "time": text(value.baseTime), "offset": text(value.timeOffset?.value),
      "concentration": text(value.concentration?.value),
      "unit": value.concentration?.isMolar == true ? "mol/L" : "kg/L",
      "type": text(value.concentration?.type.rawValue), "location": text(value.concentration?.sampleLocation.rawValue),
      "status": text(value.sensorStatus?.rawValue),
    ]
  case let value as GlucoseMeasurementContext:
    return [
      "sequence": text(value.sequenceNumber), "carbohydrate": text(value.carbohydrate?.amount),
      "tester": text(value.testerAndHealth?.tester.rawValue), "health": text(value.testerAndHealth?.health.rawValue),
      "duration": text(value.exercise?.duration), "intensity": text(value.exercise?.intensity),
      "medication": text(value.medication?.amount), "hba1c": text(value.hba1c),
    ]
  case let value as RecordAccessControlPoint: return recordFacts(of: value)
  default: return sportFacts(of: value) ?? alertFacts(of: value) ?? deviceFacts(of: value)
  }
}

private func recordFacts(of value: RecordAccessControlPoint) -> [String: String] {
  let opCode = text(value.opCode.rawValue)
  switch value {
  case .reportStoredRecords(let criterion), .deleteStoredRecords(let criterion),
    .reportNumberOfStoredRecords(let criterion):
    return ["op_code": opCode, "operator": text(criterion.operator.rawValue), "operand": digits(criterion.operand)]
  case .numberOfStoredRecords(let number): return ["op_code": opCode, "number": text(number)]
  case .response(let request, let code):
    return ["op_code": opCode, "request": text(request.rawValue), "response": text(code.rawValue)]
  case .abortOperation, .other: return ["op_code": opCode]
  }
}

private func sportFacts(of value: any CharacteristicValue) -> [String: String]? {
  switch value {
  case let value as CSCMeasurement:
    return [
      "wheel_revs": text(value.wheel?.cumulative), "wheel_time": text(value.wheel?.lastEventTime.value),
      "crank_revs": text(value.crank?.cumulative), "crank_time": text(value.crank?.lastEventTime.value),
    ]
  case let value as RSCMeasurement:
    return [
      "speed": text(value.speed.value), "cadence": text(value.cadence), "stride": text(value.strideLength?.value),
      "distance": text(value.totalDistance?.value), "running": text(value.isRunning),
    ]
  case let value as CyclingPowerMeasurement:
    return [
      "power": text(value.instantaneousPower), "balance": text(value.pedalPowerBalance?.share.value),
      "energy": text(value.accumulatedEnergy), "wheel_revs": text(value.wheel?.cumulative),
      "wheel_time": text(value.wheel?.lastEventTime.value), "crank_revs": text(value.crank?.cumulative),
      "crank_time": text(value.crank?.lastEventTime.value), "torque": text(value.accumulatedTorque?.torque.value),
    ]
  case let value as LocationAndSpeed:
    return [
      "speed": text(value.speed?.value), "distance": text(value.totalDistance?.value),
      "latitude": text(value.position?.latitude.value), "longitude": text(value.position?.longitude.value),
      "elevation": text(value.elevation?.value), "heading": text(value.heading?.value),
      "rolling": text(value.rollingTime), "utc": text(value.utcTime),
      "position_status": text(value.positionStatus.rawValue),
    ]
  case let value as Navigation:
    return [
      "bearing": text(value.bearing.value), "heading": text(value.heading.value),
      "remaining": text(value.remainingDistance?.value), "vertical": text(value.remainingVerticalDistance?.value),
      "arrival": text(value.estimatedTimeOfArrival), "position_status": text(value.positionStatus.rawValue),
    ]
  case let value as PositionQuality:
    return [
      "in_solution": text(value.beaconsInSolution), "in_view": text(value.beaconsInView),
      "first_fix": text(value.timeToFirstFix?.value), "horizontal_error": text(value.horizontalError?.value),
      "vertical_error": text(value.verticalError?.value), "hdop": text(value.horizontalDilution?.value),
      "vdop": text(value.verticalDilution?.value), "position_status": text(value.positionStatus.rawValue),
    ]
  case let value as LNFeature: return ["features": text(value.rawValue)]
  case let value as LNControlPoint: return ["op_code": text(value.opCode.rawValue), "parameter": parameter(of: value)]
  default: return nil
  }
}

private func parameter(of value: LNControlPoint) -> String {
  switch value {
  case .setCumulativeValue(let distance): text(distance.value)
  case .maskLocationAndSpeedContent(let number), .requestNameOfRoute(let number), .selectRoute(let number):
    text(number)
  case .navigationControl(let control): text(control.rawValue)
  case .setFixRate(let rate): text(rate)
  case .setElevation(let elevation): text(elevation.value)
  case .response(let request, let response, _): "[\(text(request.rawValue)), \(text(response.rawValue))]"
  case .requestNumberOfRoutes, .other: "null"
  }
}

private func alertFacts(of value: any CharacteristicValue) -> [String: String]? {
  switch value {
  case let value as NewAlert:
    return ["category": text(value.category.rawValue), "count": text(value.count), "text": value.text]
  case let value as UnreadAlertStatus:
    return ["category": text(value.category.rawValue), "count": text(value.count)]
  case let value as AlertNotificationControlPoint:
    return ["command": text(value.command.rawValue), "category": text(value.category.rawValue)]
  case let value as SupportedNewAlertCategory: return ["categories": text(value.categories.map(\.rawValue))]
  case let value as SupportedUnreadAlertCategory: return ["categories": text(value.categories.map(\.rawValue))]
  case let value as AlertCategoryIDBitMask: return ["categories": text(value.categories.map(\.rawValue))]
  case let value as AlertCategory: return ["category": text(value.rawValue)]
  case let value as AlertLevel: return ["level": value.name ?? ""]
  case let value as AlertStatus:
    return [
      "ringer": text(value.contains(.ringer)), "vibrate": text(value.contains(.vibrate)),
      "display": text(value.contains(.display)),
    ]
  case let value as RingerSetting: return ["setting": value.name ?? ""]
  case let value as RingerControlPoint: return ["command": value.name ?? ""]
  case let value as TxPowerLevel: return ["dbm": text(value.level)]
  default: return nil
  }
}

private func deviceFacts(of value: any CharacteristicValue) -> [String: String]? {
  switch value {
  case let value as CurrentTime:
    let day = value.exactTime.dayDateTime
    return [
      "time": text(day.dateTime), "day_of_week": text(day.dayOfWeek.rawValue),
      "fractions256": text(value.exactTime.fractions256), "adjust": text(value.adjustReason.rawValue),
    ]
  case let value as DateTime: return ["time": text(value)]
  case let value as PnPID:
    return [
      "source": text(value.vendorIDSource.rawValue), "vendor": text(value.vendorID), "product": text(value.productID),
      "version": text(value.productVersion),
    ]
  case let value as SystemID:
    let parts = value.fields.map { $0.value.lowercased() }
    return ["manufacturer_identifier": parts[0], "oui": parts[1]]
  case let value as PresentationFormat:
    return [
      "format": text(value.format.rawValue), "exponent": text(value.exponent), "unit": text(value.unit.rawValue),
      "namespace": text(value.details.namespace), "description": text(value.details.number),
    ]
  case let value as Temperature: return ["celsius": text(value.value)]
  case let value as Humidity: return ["percent": text(value.value)]
  case let value as Pressure: return ["pascal": text(value.value)]
  case let value as PeripheralPreferredConnectionParameters:
    return [
      "interval_min": text(value.minimumInterval.rawValue), "interval_max": text(value.maximumInterval.rawValue),
      "latency": text(value.latency), "timeout": text(value.supervisionTimeout.rawValue),
    ]
  case let value as Appearance:
    return [
      "appearance": text(value.rawValue), "category": text(value.category), "subcategory": text(value.subcategory),
    ]
  case let value as ServiceChanged: return ["start": text(value.start), "end": text(value.end)]
  case let value as ClientCharacteristicConfiguration:
    return ["notify": text(value.contains(.notifications)), "indicate": text(value.contains(.indications))]
  case let value as CharacteristicDeclaration:
    let type = value.type.shortValue.map { String($0, radix: 16) } ?? value.type.description.lowercased()
    return ["properties": text(value.properties.rawValue), "value_handle": text(value.valueHandle), "uuid": type]
  case let value as ReportMap:
    let items = (try? value.items()) ?? []
    let reports = items.filter { if case .main(.input, _) = $0 { true } else { false } }.count
    let outputs = items.filter { if case .main(.output, _) = $0 { true } else { false } }.count
    return ["items": text(items.count), "reports": text(reports + outputs)]
  case let value as HIDInformation:
    return [
      "version": text(value.version), "country": text(value.countryCode), "flags": text(value.flags.rawValue),
    ]
  case let value as ProtocolMode: return ["mode": value.name ?? ""]
  default: return nil
  }
}

// MARK: Common text form of vectors and values

func text(_ number: (some BinaryInteger)?) -> String { number.map { "\(Double(Int64($0)))" } ?? "null" }

func text(_ number: Double?) -> String { number.map { "\($0)" } ?? "null" }

/// A flag as a number, since JSON's flags arrive as numbers.
func text(_ flag: Bool) -> String { text(flag ? 1 : 0) }

func text(_ time: DateTime?) -> String {
  time.map { String($0.description.map { $0 == " " ? "T" : $0 }) } ?? "null"
}

/// The nearest floating-point number, or the name of the special value.
func text(_ number: (some MedicalFloat)?) -> String {
  guard let number else { return "null" }
  return number.number == nil ? number.description : text(number.value)
}

func text(_ numbers: [Double?]) -> String { "[" + numbers.map { text($0) }.joined(separator: ", ") + "]" }

func text(_ numbers: [UInt8]) -> String { "[" + numbers.map { text($0) }.joined(separator: ", ") + "]" }

func digits(_ octets: [UInt8]) -> String {
  octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
