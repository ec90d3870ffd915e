import CoreBluetooth

// The forms for `await`. The synchronous ones are in `TestPeripheral+Synchronous.swift`.

extension TestPeripheral {
  /// Runs the world until Bluetooth is on.
  public nonisolated(nonsending) func powerOn() async throws { try await world.complete(poweringOn, within: limit) }

  /// Publishes a service.
  public nonisolated(nonsending) func add(_ service: CBMutableService) async throws {
    try await world.complete(adding(service), within: limit)
  }

  /// Starts to advertise a name and the UUIDs of services.
  public nonisolated(nonsending) func advertise(_ name: String? = nil, services: [String] = []) async throws {
    try await world.complete(advertising(name, services.map(CBUUID.init(string:))), within: limit)
  }

  /// Publishes a primary service with these characteristics, and advertises it with a name.
  public nonisolated(nonsending) func publish(
    _ service: String, _ characteristics: [CBMutableCharacteristic], name: String? = nil
  ) async throws {
    try await world.complete(publishing(service, characteristics, name), within: limit)
  }

  /// Returns the next value that a central writes to a characteristic after this call.
  public nonisolated(nonsending) func nextWrite(to uuid: String) async throws -> [UInt8] {
    try await world.complete(awaitingWrite(to: CBUUID(string: uuid)), within: limit)
  }

  /// Runs the world until a central has subscribed to a characteristic. Returns at once if one has.
  public nonisolated(nonsending) func waitForSubscriber(of uuid: String) async throws {
    try await world.complete(awaitingSubscriber(of: CBUUID(string: uuid)), within: limit)
  }

  /// Publishes an L2CAP channel, and returns its PSM.
  public nonisolated(nonsending) func publishChannel(isEncrypted: Bool = false) async throws -> CBL2CAPPSM {
    try await world.complete(publishingChannel(isEncrypted: isEncrypted), within: limit)
  }
}
