import BluetoothWire

/// Controller failures, for tests of the host and the app.
extension Controller {
  /// Hardware_Code, which is vendor-specific · Vol 4, Part E, 7.7.16.
  private static let hardwareCode: UInt8 = 0x01

  /// Loses all state, as after a power failure, and reports Hardware Error to the host.
  package mutating func fail(at now: Instant) {
    reset()
    device.output.send(.hardwareError(Self.hardwareCode))
    settle(at: now)
  }

  /// Sets the error of the sleep clock from now on, parts per billion; positive if its seconds are too long.
  package mutating func setSleepClockDrift(partsPerBillion drift: Int64) { device.clock.drift = drift }
}
