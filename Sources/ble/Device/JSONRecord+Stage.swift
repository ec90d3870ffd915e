import BluetoothWire

extension JSONRecord {
  /// Appends the seconds since the beginning of the verb, or of what it does, and the time of day.
  mutating func add(time: Duration, on stage: Stage) {
    add("time", .decimal(time.seconds, places: 6))
    add("date", stage.date)
  }
}
