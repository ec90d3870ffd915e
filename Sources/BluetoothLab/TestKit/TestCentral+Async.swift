import CoreBluetooth

// The forms for `await`. The synchronous ones are in `TestCentral+Synchronous.swift`.

extension TestCentral {
  /// Runs the world until Bluetooth is on.
  public nonisolated(nonsending) func powerOn() async throws { try await world.complete(poweringOn, within: limit) }

  /// Scans until a peripheral is discovered, and stops the scan.
  public nonisolated(nonsending) func discover(_ query: PeripheralQuery) async throws -> CBPeripheral {
    try await world.complete(discovering(query), within: limit)
  }

  /// Scans for a peripheral and connects to it.
  ///
  /// - Throws: the error of `didFailToConnect`, or `ExpectationFailure`.
  @discardableResult
  public nonisolated(nonsending) func connect(to query: PeripheralQuery) async throws -> CBPeripheral {
    try await world.complete(connecting(to: query), within: limit)
  }

  /// Connects to a known peripheral. Returns at once if it is connected.
  ///
  /// - Throws: the error of `didFailToConnect`, or `ExpectationFailure`.
  public nonisolated(nonsending) func connect(to peripheral: CBPeripheral) async throws {
    _ = try await world.complete(connecting(to: peripheral), within: limit)
  }

  /// Disconnects from a peripheral, or ends the attempt to connect to it.
  public nonisolated(nonsending) func disconnect(from peripheral: CBPeripheral) async throws {
    try await world.complete(disconnecting(from: peripheral), within: limit)
  }

  /// Discovers all services and characteristics, also if the app has discovered some of them before.
  public nonisolated(nonsending) func discoverAttributes(of peripheral: CBPeripheral) async throws {
    try await world.complete(exploring(peripheral), within: limit)
  }

  /// Returns the first characteristic with a UUID, after the discovery of all attributes. If the known services do not
  /// have it, all attributes are discovered again: the app may know only some, or the peripheral has changed them.
  ///
  /// - Throws: `ExpectationFailure` if the peripheral has no such characteristic.
  public nonisolated(nonsending) func characteristic(_ uuid: String, of peripheral: CBPeripheral) async throws
    -> CBCharacteristic
  {
    try await world.complete(finding(CBUUID(string: uuid), of: peripheral), within: limit)
  }

  /// Reads the value of a characteristic, after the discovery of all attributes if necessary. A notification that comes
  /// before the answer is taken for the value, as by an app.
  public nonisolated(nonsending) func read(_ uuid: String, of peripheral: CBPeripheral) async throws -> [UInt8] {
    try await world.complete(reading(CBUUID(string: uuid), of: peripheral), within: limit)
  }

  /// Writes a value with response, after the discovery of all attributes if necessary.
  public nonisolated(nonsending) func write(_ value: [UInt8], to uuid: String, of peripheral: CBPeripheral) async throws
  {
    try await world.complete(writing(value, to: CBUUID(string: uuid), of: peripheral), within: limit)
  }

  /// Turns the notifications or indications of a characteristic on or off.
  public nonisolated(nonsending) func setNotify(_ isOn: Bool = true, for uuid: String, of peripheral: CBPeripheral)
    async throws
  {
    try await world.complete(settingNotify(isOn, for: CBUUID(string: uuid), of: peripheral), within: limit)
  }

  /// Returns the next value of a characteristic that comes after this call.
  public nonisolated(nonsending) func nextValue(of uuid: String, of peripheral: CBPeripheral) async throws -> [UInt8] {
    try await world.complete(awaitingValue(of: CBUUID(string: uuid), of: peripheral), within: limit)
  }

  /// Opens an L2CAP channel.
  public nonisolated(nonsending) func openChannel(_ psm: CBL2CAPPSM, to peripheral: CBPeripheral) async throws
    -> CBL2CAPChannel
  {
    try await world.complete(openingChannel(psm, to: peripheral), within: limit)
  }
}
