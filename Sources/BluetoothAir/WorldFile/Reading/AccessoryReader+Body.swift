import BluetoothLab
import BluetoothProfiles

// The accessories that measure a person's weight and steps.

extension AccessoryReader {
  mutating func weightScale(_ object: ObjectReader) -> WeightScale {
    var scale = WeightScale(name: localName(object))
    if let time = object.dateTime("startTime") { scale.startTime = time }
    if object.flag("hasClock") == false {
      scale.startTime = nil
      if object.has("startTime") {
        problems.add(object.place("startTime"), object.path("startTime"), "a scale without a clock has no time")
      }
    }
    scale.scheduledWeighings = object.objects("weighings", .weighing).compactMap(weighing)
    if let units = object.word("units", WeightUnitNames.all) { scale.units = units }
    if let resolution = object.word("weightResolution", WeightResolutionNames.all) {
      scale.weightResolution = resolution
    }
    if let time = object.time("settlingTime") { scale.settlingTime = time }
    if let capacity: Int = object.whole("capacity") { scale.capacity = capacity }
    if let distinguishesUsers = object.flag("distinguishesUsers") { scale.distinguishesUsers = distinguishesUsers }
    if let reportsIndex = object.flag("reportsBodyMassIndex") { scale.reportsBodyMassIndex = reportsIndex }
    if let level: UInt8 = object.whole("batteryLevel") { scale.batteryLevel = level }
    return scale
  }

  private func weighing(_ object: ObjectReader) -> WeightScale.ScheduledWeighing? {
    guard let time = object.time("at"), let weight = object.number("weight") else { return nil }
    let person = WeightScale.Person(weight: weight, userID: object.whole("user"), height: object.number("height"))
    return WeightScale.ScheduledWeighing(at: time, person, for: object.time("duration") ?? .seconds(5))
  }

  func pedometer(_ object: ObjectReader) -> Pedometer {
    var pedometer = Pedometer(
      name: localName(object), cadence: object.number("cadence") ?? 100, startTime: object.dateTime("startTime"),
      pastDays: object.list("pastDays").compactMap { $0.value.whole(UInt32.self) })
    if let capacity: Int = object.whole("capacity") { pedometer.capacity = capacity }
    if let interval = object.time("interval") { pedometer.interval = interval }
    if let level: UInt8 = object.whole("batteryLevel") { pedometer.batteryLevel = level }
    return pedometer
  }
}

enum WeightUnitNames {
  static let all: [String: WeightUnits] = ["kg": .international, "lb": .imperial]
}

enum WeightResolutionNames {
  /// The words, from the coarsest resolution to the finest.
  static let words = ["500 g", "200 g", "100 g", "50 g", "20 g", "10 g", "5 g"]
  static let all: [String: WeightResolution] = Dictionary(
    uniqueKeysWithValues: zip(words, [.grams500, .grams200, .grams100, .grams50, .grams20, .grams10, .grams5]))
}
