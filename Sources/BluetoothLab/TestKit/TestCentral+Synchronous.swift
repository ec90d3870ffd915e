import CoreBluetooth

// The synchronous forms. Those for `await` are in `TestCentral+Async.swift`.

extension TestCentral {
  /// Runs the world until Bluetooth is on.
  @available(*, noasync, message: "use the async form")
  public func powerOn() throws { try world.complete(poweringOn, within: limit) }

  /// Scans until a peripheral is discovered, and stops the scan.
  @available(*, noasync, message: "use the async form")
  public func discover(_ query: PeripheralQuery) throws -> CBPeripheral {
    try world.complete(discovering(query), within: limit)
  }

  /// Scans for a peripheral and connects to it.
  ///
  /// - Throws: the error of `didFailToConnect`, or `ExpectationFailure`.
  @available(*, noasync, message: "use the async form")
  @discardableResult
  public func connect(to query: PeripheralQuery) throws -> CBPeripheral {
    try world.complete(connecting(to: query), within: limit)
  }

  /// Connects to a known peripheral. Returns at once if it is connected.
  ///
  /// - Throws: the error of `didFailToConnect`, or `ExpectationFailure`.
  @available(*, noasync, message: "use the async form")
  public func connect(to peripheral: CBPeripheral) throws {
    _ = try world.complete(connecting(to: peripheral), within: limit)
  }

  /// Disconnects from a peripheral, or ends the attempt to connect to it.
  @available(*, noasync, message: "use the async form")
  public func disconnect(from peripheral: CBPeripheral) throws {
    try world.complete(disconnecting(from: peripheral), within: limit)
  }

  /// Discovers all services and characteristics, also if the app has discovered some of them before.
  @available(*, noasync, message: "use the async form")
  public func discoverAttributes(of peripheral: CBPeripheral) throws {
    try world.complete(exploring(peripheral), within: limit)
  }

  /// Returns the first characteristic with a UUID, after the discovery of all attributes. If the known services do not
  /// have it, all attributes are discovered again: the app may know only some, or the peripheral has changed them.
  ///
  /// - Throws: `ExpectationFailure` if the peripheral has no such characteristic.
  @available(*, noasync, message: "use the async form")
  public func characteristic(_ uuid: String, of peripheral: CBPeripheral) throws -> CBCharacteristic {
    try world.complete(finding(CBUUID(string: uuid), of: peripheral), within: limit)
  }

  /// Reads the value of a characteristic, after the discovery of all attributes if necessary. A notification that comes
  /// before the answer is taken for the value, as by an app.
  @available(*, noasync, message: "use the async form")
  public func read(_ uuid: String, of peripheral: CBPeripheral) throws -> [UInt8] {
    try world.complete(reading(CBUUID(string: uuid), of: peripheral), within: limit)
  }

  /// Writes a value with response, after the discovery of all attributes if necessary.
  @available(*, noasync, message: "use the async form")
  public func write(_ value: [UInt8], to uuid: String, of peripheral: CBPeripheral) throws {
    try world.complete(writing(value, to: CBUUID(string: uuid), of: peripheral), within: limit)
  }

  /// Turns the notifications or indications of a characteristic on or off.
  @available(*, noasync, message: "use the async form")
  public func setNotify(_ isOn: Bool = true, for uuid: String, of peripheral: CBPeripheral) throws {
    try world.complete(settingNotify(isOn, for: CBUUID(string: uuid), of: peripheral), within: limit)
  }

  /// Returns the next value of a characteristic that comes after this call.
  @available(*, noasync, message: "use the async form")
  public func nextValue(of uuid: String, of peripheral: CBPeripheral) throws -> [UInt8] {
    try world.complete(awaitingValue(of: CBUUID(string: uuid), of: peripheral), within: limit)
  }

  /// Opens an L2CAP channel.
  @available(*, noasync, message: "use the async form")
  public func openChannel(_ psm: CBL2CAPPSM, to peripheral: CBPeripheral) throws -> CBL2CAPChannel {
    try world.complete(openingChannel(psm, to: peripheral), within: limit)
  }
}
