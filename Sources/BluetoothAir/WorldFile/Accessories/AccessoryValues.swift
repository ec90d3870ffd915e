import BluetoothLab
import BluetoothProfiles

// The values of objects and lists in the fields of accessories.

extension ObjectReader {
  /// The position of an object with a latitude and a longitude.
  var geographicPosition: GeographicPosition {
    GeographicPosition(latitude: number("latitude") ?? 48, longitude: number("longitude") ?? 11)
  }

  var weighing: WeightScale.ScheduledWeighing? {
    guard let time = time("at"), let weight = number("weight") else { return nil }
    let person = WeightScale.Person(weight: weight, userID: whole("user"), height: number("height"))
    return WeightScale.ScheduledWeighing(at: time, person, for: self.time("duration") ?? .seconds(5))
  }

  var pinPress: PinBoard.Press? {
    guard let time = time("at") else { return nil }
    var press = PinBoard.Press(at: time)
    if let pin = whole("pin", UInt8.self).flatMap(PinBoard.Pin.init(rawValue:)) { press.pin = pin }
    if let duration = self.time("duration") { press.duration = duration }
    return press
  }

  /// The state of the ringer, the vibration and the display of a telephone.
  var alertStatus: AlertStatus { AlertStatus(words("alertStatus", AlertStatusNames.all) ?? []) }

  func pins(_ name: String) -> [PinBoard.Pin] {
    list(name).compactMap { $0.value.whole(UInt8.self).flatMap(PinBoard.Pin.init(rawValue:)) }
  }

  func preferredParameters(_ name: String) -> PreferredConnectionParameters? {
    guard let object = object(name, .preferredParameters), let interval = object.time("interval") else { return nil }
    return PreferredConnectionParameters(
      interval: interval, latency: object.whole("latency") ?? 0,
      supervisionTimeout: object.time("supervisionTimeout") ?? .seconds(2))
  }
}

extension WorldField {
  /// The property takes a list of three numbers.
  func vector(_ property: WritableKeyPath<SensorTag, SensorTag.Vector> & Sendable) -> AccessoryField<SensorTag> {
    set { [name] tag, object, _ in
      let numbers = object.list(name).compactMap { $0.value.number }
      if numbers.count == 3 { tag[keyPath: property] = SensorTag.Vector(numbers[0], numbers[1], numbers[2]) }
    }
  }
}

extension Telephone {
  /// Adds an alert that the telephone gives by itself.
  mutating func schedule(_ alert: ObjectReader, _ reader: inout AccessoryReader) {
    guard let time = alert.time("at"), let category = alert.word("category", AlertCategoryNames.all) else { return }
    if !categories.contains(category) {
      reader.complain("category", of: alert, "the telephone does not support this category")
    }
    var scheduled = ScheduledAlert(at: time, category, text: alert.text("text") ?? "")
    scheduled.unread = alert.whole("unread")
    if alert.has("alertStatus") { scheduled.alertStatus = alert.alertStatus }
    scheduledAlerts.append(scheduled)
  }
}

extension NotifyingPhone {
  /// Adds a notification.
  ///
  /// - Parameters:
  ///   - index: the index in the list of the file.
  ///   - identifiers: the identifiers of the list.
  mutating func schedule(
    _ fields: ObjectReader, at index: Int, beside identifiers: Set<String>, _ reader: inout AccessoryReader
  ) {
    var ownIdentifier = "notifications[\(index)]"
    while identifiers.contains(ownIdentifier) { ownIdentifier += "'" }
    let time = fields.time("at") ?? .zero
    let removalTime = fields.time("removedAt")
    if let removalTime, removalTime <= time {
      reader.complain("removedAt", of: fields, "the notification is removed before it appears")
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
    scheduledNotifications.append(
      ScheduledNotification(notification, at: time, date: fields.dateTime("date"), removedAt: removalTime))
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
