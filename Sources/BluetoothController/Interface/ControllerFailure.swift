import BluetoothWire

/// What goes wrong in controllers, for tests of those who depend on them.
extension Controller {
  /// Hardware_Code is the maker's business · Vol 4, Part E, 7.7.16.
  private static let hardwareCode: UInt8 = 0x01

  /// Loses everything that it had, as after a failure of its power, and tells its host so: Hardware Error.
  package mutating func fail(at now: Instant) {
    reset()
    output.send(.hardwareError(Self.hardwareCode))
    settle(at: now)
  }

  /// The seconds of the sleep clock are longer by so many parts per billion from now on.
  package mutating func setSleepClockDrift(partsPerBillion drift: Int64) { clock.drift = drift }
}
