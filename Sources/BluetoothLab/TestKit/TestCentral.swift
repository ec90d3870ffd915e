import CoreBluetooth

/// A central manager for tests. Each method runs the world until its result is available.
///
/// ```swift
/// let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
/// let strap = try await phone.connect(to: "Heart Rate")
/// let location = try await phone.read("2A38", of: strap)
/// ```
///
/// Each method has a synchronous form and one for `await`, and throws the error of the callback: `CBError` or
/// `CBATTError`. It throws `ExpectationFailure`, which shows the latest calls, callbacks and packets, if the result is
/// not there within `limit`. One thread at a time may use a `TestCentral`.
public final class TestCentral {
  /// The device of the manager.
  public let device: Device
  /// The manager.
  public let manager: CBCentralManager
  /// The delegate of the manager and of each peripheral that this object has connected.
  public let recorder: RecordingCentralDelegate
  /// The maximum radio time of each method.
  public var limit: Duration

  /// Creates a central manager on a device, and starts the trace of its world.
  ///
  /// - Parameters:
  ///   - device: the device that the manager uses.
  ///   - options: further options of the manager.
  ///   - limit: the maximum radio time of each method.
  public init(on device: Device, options: [String: Any] = [:], limit: Duration = .seconds(30)) {
    self.device = device
    self.limit = limit
    recorder = RecordingCentralDelegate(in: device.world)
    device.world.startTrace()
    manager = CBCentralManager(
      delegate: recorder, queue: nil, options: options.merging([CBManagerOptionAdapterKey: device]) { $1 })
  }

  /// All callbacks in their order.
  public var events: [RecordingCentralDelegate.Event] { recorder.events }

  var world: World { device.world }

  // MARK: Operations

  var poweringOn: TestOperation<Void> {
    TestOperation("Bluetooth is on", waitingFor: { [manager] in manager.state == .poweredOn ? () : nil })
  }

  private func whenPoweredOn<Value>(
    _ expectation: String, calling begin: @escaping () -> () throws -> Value?
  ) -> TestOperation<Value> {
    poweringOn.then { _ in TestOperation(expectation, calling: begin) }.expecting(expectation)
  }

  func discovering(_ query: PeripheralQuery) -> TestOperation<CBPeripheral> {
    whenPoweredOn("\(query) is discovered") { [manager, recorder] in
      let start = recorder.discoveries.count
      manager.scanForPeripherals(withServices: query.services)
      return { () -> CBPeripheral? in
        guard let discovery = recorder.discoveries.dropFirst(start).first(where: query.matches) else { return nil }
        manager.stopScan()
        return discovery.peripheral
      }
    }
  }

  func connecting(to query: PeripheralQuery) -> TestOperation<CBPeripheral> {
    discovering(query).then(connecting(to:)).expecting("\(query) is connected")
  }

  func connecting(to peripheral: CBPeripheral) -> TestOperation<CBPeripheral> {
    whenPoweredOn("\(peripheral.label) is connected") { [manager, recorder] in
      let failures = Callbacks(of: recorder, about: peripheral) { event -> RecordedError?? in
        if case .failedToConnect(_, let error) = event { .some(error) } else { nil }
      }
      peripheral.delegate = recorder
      if peripheral.state != .connected { manager.connect(peripheral) }
      return {
        if let failure = failures.first { throw failure?.error ?? CBError(.connectionFailed) }
        return peripheral.state == .connected ? peripheral : nil
      }
    }
  }

  func disconnecting(from peripheral: CBPeripheral) -> TestOperation<Void> {
    TestOperation("\(peripheral.label) is disconnected") { [manager] in
      manager.cancelPeripheralConnection(peripheral)
      return { peripheral.state == .disconnected ? () : nil }
    }
  }

  /// The discovery of all services and characteristics, also after the app has discovered some of them, or after the
  /// peripheral has changed them.
  func exploring(_ peripheral: CBPeripheral) -> TestOperation<Void> {
    discovering(.all, of: peripheral).map { _ in () }
  }

  /// The attributes that a discovery asks for.
  private enum Scope {
    /// All services and all characteristics.
    case all
    /// The services if none have been discovered, and the characteristics of services without discovered ones.
    case missing
  }

  /// The discovery of attributes. Its value is true if it has asked for all services.
  private func discovering(_ scope: Scope, of peripheral: CBPeripheral) -> TestOperation<Bool> {
    discoveringServices(scope, of: peripheral).then { isComplete in
      self.discoveringCharacteristics(scope, of: peripheral).map { _ in isComplete }
    }.expecting("the attributes of \(peripheral.label) are discovered")
  }

  private func discoveringServices(_ scope: Scope, of peripheral: CBPeripheral) -> TestOperation<Bool> {
    TestOperation("the services of \(peripheral.label) are discovered") { [recorder] in
      let failures = Callbacks(of: recorder, about: peripheral) { event -> RecordedError? in
        if case .servicesDiscovered(_, _, let error?) = event { error } else { nil }
      }
      let answers = Callbacks(of: recorder, about: peripheral) { event -> Bool? in
        if case .servicesDiscovered = event { true } else { nil }
      }
      let areUnknown = peripheral.services == nil
      // Only callbacks show the end of a second discovery: with a delegate of the test, they are not recorded.
      let isSecond = !areUnknown && scope == .all && peripheral.delegate === recorder
      if areUnknown || isSecond { peripheral.discoverServices(nil) }
      return {
        if let failure = failures.first { throw failure.error }
        let isDone = isSecond ? answers.first != nil : peripheral.services != nil
        return isDone ? areUnknown || isSecond : nil
      }
    }
  }

  private func discoveringCharacteristics(_ scope: Scope, of peripheral: CBPeripheral) -> TestOperation<Void> {
    TestOperation("the characteristics of \(peripheral.label) are discovered") { [recorder] in
      let failures = Callbacks(of: recorder, about: peripheral) { event -> RecordedError? in
        if case .characteristicsDiscovered(_, _, of: _, let error?) = event { error } else { nil }
      }
      let answers = Callbacks(of: recorder, about: peripheral) { event -> CBUUID? in
        if case .characteristicsDiscovered(_, _, of: let service, _) = event { service } else { nil }
      }
      let isSecond = scope == .all && peripheral.delegate === recorder
      let asked = (peripheral.services ?? []).filter { isSecond || $0.characteristics == nil }
      for service in asked { peripheral.discoverCharacteristics(nil, for: service) }
      return {
        if let failure = failures.first { throw failure.error }
        let services = peripheral.services ?? []
        guard services.allSatisfy({ $0.characteristics != nil }) else { return nil }
        guard isSecond else { return () }
        // There is no answer for a service that the peripheral has removed meanwhile.
        let valid = asked.filter { service in services.contains { $0 === service } }.map(\.uuid)
        let answered = answers.all
        let isDone = valid.allSatisfy { uuid in
          answered.count { $0 == uuid } >= valid.count { $0 == uuid }
        }
        return isDone ? () : nil
      }
    }
  }

  /// The characteristic with a UUID, after the discovery of all attributes. If it is not among the known ones, all
  /// attributes are discovered once more: the app may have discovered only some, or the peripheral has changed them.
  func finding(_ uuid: CBUUID, of peripheral: CBPeripheral) -> TestOperation<CBCharacteristic> {
    let expectation = "\(peripheral.label) has the characteristic \(uuid.uuidString)"
    func known() -> [CBCharacteristic] { (peripheral.services ?? []).flatMap { $0.characteristics ?? [] } }
    let found = TestOperation<CBCharacteristic>(
      expectation,
      waitingFor: {
        let all = known()
        guard let characteristic = all.first(where: { $0.uuid == uuid }) else {
          throw HopelessOperation(reason: "it has \(all.map(\.uuid.uuidString))")
        }
        return characteristic
      })
    return discovering(.missing, of: peripheral).then { isComplete in
      if isComplete || known().contains(where: { $0.uuid == uuid }) { return found }
      return self.exploring(peripheral).then { _ in found }
    }
  }

  func reading(_ uuid: CBUUID, of peripheral: CBPeripheral) -> TestOperation<[UInt8]> {
    finding(uuid, of: peripheral).then { [recorder] characteristic in
      TestOperation("\(uuid.uuidString) is read") {
        let values = Callbacks(of: recorder, about: peripheral) { event -> Result<[UInt8], any Error>? in
          guard case .valueUpdated(_, uuid, let value, let error) = event else { return nil }
          return error.map { .failure($0.error) } ?? .success(value)
        }
        peripheral.readValue(for: characteristic)
        return { try values.first?.get() }
      }
    }.expecting("\(uuid.uuidString) of \(peripheral.label) is read")
  }

  func writing(_ value: [UInt8], to uuid: CBUUID, of peripheral: CBPeripheral) -> TestOperation<Void> {
    finding(uuid, of: peripheral).then { [recorder] characteristic in
      TestOperation("\(uuid.uuidString) is written") {
        let results = Callbacks(of: recorder, about: peripheral) { event -> Result<Void, any Error>? in
          guard case .valueWritten(_, uuid, let error) = event else { return nil }
          return error.map { .failure($0.error) } ?? .success(())
        }
        peripheral.writeValue(Data(value), for: characteristic, type: .withResponse)
        return { try results.first?.get() }
      }
    }.expecting("\(uuid.uuidString) of \(peripheral.label) is written")
  }

  func settingNotify(_ isOn: Bool, for uuid: CBUUID, of peripheral: CBPeripheral) -> TestOperation<Void> {
    finding(uuid, of: peripheral).then { [recorder] characteristic in
      TestOperation("the notifications of \(uuid.uuidString) are \(isOn ? "on" : "off")") {
        let results = Callbacks(of: recorder, about: peripheral) { event -> Result<Void, any Error>? in
          guard case .notificationStateUpdated(_, uuid, isNotifying: _, let error) = event else {
            return nil
          }
          return error.map { .failure($0.error) } ?? .success(())
        }
        peripheral.setNotifyValue(isOn, for: characteristic)
        return { try results.first?.get() }
      }
    }.expecting("the notifications of \(uuid.uuidString) of \(peripheral.label) are \(isOn ? "on" : "off")")
  }

  func awaitingValue(of uuid: CBUUID, of peripheral: CBPeripheral) -> TestOperation<[UInt8]> {
    TestOperation("\(peripheral.label) sends a value of \(uuid.uuidString)") { [recorder] in
      let values = Callbacks(of: recorder, about: peripheral) { event -> [UInt8]? in
        if case .valueUpdated(_, uuid, let value, nil) = event { value } else { nil }
      }
      return { values.first }
    }
  }

  func openingChannel(_ psm: CBL2CAPPSM, to peripheral: CBPeripheral) -> TestOperation<CBL2CAPChannel> {
    TestOperation("the channel \(psm) to \(peripheral.label) is open") { [recorder] in
      let results = Callbacks(of: recorder, about: peripheral) { event -> RecordedError?? in
        if case .channelOpened(_, psm: _, let error) = event { .some(error) } else { nil }
      }
      peripheral.openL2CAPChannel(psm)
      return {
        guard let result = results.first else { return nil }
        if let result { throw result.error }
        return recorder.channels.last
      }
    }
  }
}

/// A search for callbacks in a recording, which begins with the callbacks after the creation of this value.
struct Callbacks<Match> {
  private let find: () -> Match?
  private let findAll: () -> [Match]

  init(
    of recorder: RecordingCentralDelegate, about peripheral: CBPeripheral,
    _ match: @escaping (RecordingCentralDelegate.Event) -> Match?
  ) {
    let (start, identifier) = (recorder.recording.count, peripheral.identifier)
    find = { recorder.recording.first(since: start, of: identifier, match) }
    findAll = { recorder.recording.matches(since: start, of: identifier, match) }
  }

  init(of recorder: RecordingPeripheralDelegate, _ match: @escaping (RecordingPeripheralDelegate.Event) -> Match?) {
    let start = recorder.recording.count
    find = { recorder.recording.first(since: start, match) }
    findAll = { recorder.recording.matches(since: start, match) }
  }

  /// The first one; nil: none yet.
  var first: Match? { find() }
  /// All of them so far, in their order.
  var all: [Match] { findAll() }
}
