import CoreBluetooth

// The synchronous forms. Those for `await` are in `TestPeripheral+Async.swift`.

extension TestPeripheral {
  /// Runs the world until Bluetooth is on.
  @available(*, noasync, message: "use the async form")
  public func powerOn() throws { try world.complete(poweringOn, within: limit) }

  /// Publishes a service.
  @available(*, noasync, message: "use the async form")
  public func add(_ service: CBMutableService) throws { try world.complete(adding(service), within: limit) }

  /// Starts to advertise a name and the UUIDs of services.
  @available(*, noasync, message: "use the async form")
  public func advertise(_ name: String? = nil, services: [String] = []) throws {
    try world.complete(advertising(name, services.map(CBUUID.init(string:))), within: limit)
  }

  /// Publishes a primary service with these characteristics, and advertises it with a name.
  @available(*, noasync, message: "use the async form")
  public func publish(_ service: String, _ characteristics: [CBMutableCharacteristic], name: String? = nil) throws {
    try world.complete(publishing(service, characteristics, name), within: limit)
  }

  /// Returns the next value that a central writes to a characteristic after this call.
  @available(*, noasync, message: "use the async form")
  public func nextWrite(to uuid: String) throws -> [UInt8] {
    try world.complete(awaitingWrite(to: CBUUID(string: uuid)), within: limit)
  }

  /// Runs the world until a central has subscribed to a characteristic. Returns at once if one has.
  @available(*, noasync, message: "use the async form")
  public func waitForSubscriber(of uuid: String) throws {
    try world.complete(awaitingSubscriber(of: CBUUID(string: uuid)), within: limit)
  }

  /// Publishes an L2CAP channel, and returns its PSM.
  @available(*, noasync, message: "use the async form")
  public func publishChannel(isEncrypted: Bool = false) throws -> CBL2CAPPSM {
    try world.complete(publishingChannel(isEncrypted: isEncrypted), within: limit)
  }
}
