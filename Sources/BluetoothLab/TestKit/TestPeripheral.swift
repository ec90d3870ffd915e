import CoreBluetooth

/// A peripheral manager for tests, whose methods run the world until their result is there. Its delegate answers reads
/// and stores writes, so that a test of a central needs no code for its peer.
///
/// ```swift
/// let lamp = TestPeripheral(on: world.makeDevice(named: "lamp"))
/// let level = CBMutableCharacteristic(
///   type: CBUUID(string: "FF01"), properties: [.read, .write], value: nil, permissions: [.readable, .writeable])
/// try await lamp.publish("FF00", [level], name: "Lamp")
/// // The app writes 80.
/// #expect(lamp.recorder.values[level.uuid] == [80])
/// ```
///
/// Each method has a synchronous form and one for `await`, and throws the error of the callback. It throws
/// `ExpectationFailure`, which shows the latest calls, callbacks and packets, if the result is not there within `limit`.
/// One thread at a time may use a `TestPeripheral`.
public final class TestPeripheral {
  /// The device of the manager.
  public let device: Device
  /// The manager.
  public let manager: CBPeripheralManager
  /// The delegate of the manager, which has the values.
  public let recorder: RecordingPeripheralDelegate
  /// The radio time that each method has.
  public var limit: Duration

  /// Creates a peripheral manager on a device, and starts the trace of its world.
  ///
  /// - Parameters:
  ///   - device: the device that the manager uses.
  ///   - options: further options of the manager.
  ///   - limit: the radio time that each method has.
  public init(on device: Device, options: [String: Any] = [:], limit: Duration = .seconds(30)) {
    self.device = device
    self.limit = limit
    recorder = RecordingPeripheralDelegate(in: device.world)
    device.world.startTrace()
    manager = CBPeripheralManager(
      delegate: recorder, queue: nil, options: options.merging([CBManagerOptionAdapterKey: device]) { $1 })
  }

  /// All callbacks in their order.
  public var events: [RecordingPeripheralDelegate.Event] { recorder.events }

  var world: World { device.world }

  /// Sends a value to all subscribers.
  ///
  /// - Returns: false if the queue of values is full: the callback `readyToUpdate` says when there is room.
  @discardableResult
  public func update(_ value: [UInt8], for characteristic: CBMutableCharacteristic) -> Bool {
    recorder.values[characteristic.uuid] = value
    return manager.updateValue(Data(value), for: characteristic, onSubscribedCentrals: nil)
  }

  // MARK: Operations

  var poweringOn: TestOperation<Void> {
    TestOperation("Bluetooth is on", waitingFor: { [manager] in manager.state == .poweredOn ? () : nil })
  }

  private func whenPoweredOn<Value>(
    _ expectation: String, calling begin: @escaping () -> () throws -> Value?
  ) -> TestOperation<Value> {
    poweringOn.then { _ in TestOperation(expectation, calling: begin) }.expecting(expectation)
  }

  func adding(_ service: CBMutableService) -> TestOperation<Void> {
    whenPoweredOn("the service \(service.uuid.uuidString) is published") { [manager, recorder] in
      let results = Callbacks(of: recorder) { event -> Result<Void, any Error>? in
        guard case .serviceAdded(service.uuid, let error) = event else { return nil }
        return error.map { .failure($0.error) } ?? .success(())
      }
      manager.add(service)
      return { try results.first?.get() }
    }
  }

  func advertising(_ name: String?, _ services: [CBUUID]) -> TestOperation<Void> {
    whenPoweredOn("\(name ?? "the peripheral") advertises") { [manager, recorder] in
      let results = Callbacks(of: recorder) { event -> Result<Void, any Error>? in
        guard case .advertisingStarted(let error) = event else { return nil }
        return error.map { .failure($0.error) } ?? .success(())
      }
      var data: [String: Any] = [CBAdvertisementDataServiceUUIDsKey: services]
      if let name { data[CBAdvertisementDataLocalNameKey] = name }
      manager.startAdvertising(data)
      return { try results.first?.get() }
    }
  }

  func publishing(
    _ service: String, _ characteristics: [CBMutableCharacteristic], _ name: String?
  ) -> TestOperation<Void> {
    let published = CBMutableService(type: CBUUID(string: service), primary: true)
    published.characteristics = characteristics
    return adding(published).then { _ in self.advertising(name, [published.uuid]) }
  }

  func awaitingWrite(to uuid: CBUUID) -> TestOperation<[UInt8]> {
    TestOperation("\(uuid.uuidString) is written") { [recorder] in
      let writes = Callbacks(of: recorder) { event -> [UInt8]? in
        if case .writeRequested(uuid, let value, offset: _) = event { value } else { nil }
      }
      return { writes.first }
    }
  }

  func awaitingSubscriber(of uuid: CBUUID) -> TestOperation<Void> {
    TestOperation(
      "a central subscribes to \(uuid.uuidString)",
      waitingFor: { [recorder] in recorder.subscribers(of: uuid) > 0 ? () : nil })
  }

  func publishingChannel(isEncrypted: Bool) -> TestOperation<CBL2CAPPSM> {
    whenPoweredOn("a channel is published") { [manager, recorder] in
      let results = Callbacks(of: recorder) { event -> Result<CBL2CAPPSM, any Error>? in
        guard case .channelPublished(let psm, let error) = event else { return nil }
        return error.map { .failure($0.error) } ?? .success(psm)
      }
      manager.publishL2CAPChannel(withEncryption: isEncrypted)
      return { try results.first?.get() }
    }
  }
}

extension RecordingPeripheralDelegate {
  /// The number of centrals that have subscribed to a characteristic and not unsubscribed.
  func subscribers(of uuid: CBUUID) -> Int {
    var centrals: Set<UUID> = []
    for event in events {
      switch event {
      case .subscribed(let central, to: uuid): centrals.insert(central)
      case .unsubscribed(let central, from: uuid): centrals.remove(central)
      default: break
      }
    }
    return centrals.count
  }
}
