import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// An app with a central manager.
struct Phone {
  let air: DaemonNetwork
  let device: Int
  let recorder = CentralRecorder()
  let session: CentralSession

  init(_ air: DaemonNetwork, _ device: Int, _ owner: SessionOwner? = nil) {
    self.air = air
    self.device = device
    session = CentralSession(client: recorder, owner: owner, in: air.devices[device].sessions)
    air.run()
  }

  var directory: PeerDirectory { air.devices[device].directory }

  /// Sends a command and runs everything that needs no time. Returns the app's events.
  @discardableResult
  func send(_ command: CentralCommand) -> [CentralEvent] {
    session.send(command)
    air.run()
    return recorder.take()
  }

  func takeEvents() -> [String] { recorder.take().map(\.text) }

  /// Finds the first advertiser, connects to it and discards the events.
  func findAndConnect(reconnects: Bool = false) throws -> PeerHandle {
    let peer = try find()
    send(.connect(peer, delay: .zero, reconnects: reconnects))
    air.advance()
    let events = recorder.take()
    try #require(events.contains { if case .connected(peer, _) = $0 { true } else { false } })
    return peer
  }

  func find() throws -> PeerHandle {
    session.send(.scan(ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: false)))
    air.advance()
    let discovery = try #require(recorder.take().lazy.compactMap(\.discovery).first)
    send(.stopScan)
    return discovery.peer.handle
  }

  /// Discovers everything at `peer`. Returns the characteristics of its services by UUID.
  func discover(_ peer: PeerHandle) throws -> [BluetoothUUID: RemoteCharacteristicInfo] {
    var found: [BluetoothUUID: RemoteCharacteristicInfo] = [:]
    for service in try services(peer) {
      for case .characteristicsDiscovered(_, _, .success(let list)) in send(
        .discoverCharacteristics(peer, service.id, nil))
      {
        for characteristic in list { found[characteristic.uuid] = characteristic }
      }
    }
    return found
  }

  func services(_ peer: PeerHandle, _ filter: [BluetoothUUID]? = nil) throws -> [RemoteServiceInfo] {
    for case .servicesDiscovered(_, let result) in send(.discoverServices(peer, filter)) { return try result.get() }
    Issue.record("no services were discovered")
    return []
  }
}

extension CentralEvent {
  var discovery: DiscoveryInfo? { if case .discovered(let discovery) = self { discovery } else { nil } }
}

/// An app with a peripheral manager.
struct Sensor {
  let air: DaemonNetwork
  let recorder = PeripheralRecorder()
  let session: PeripheralSession

  init(_ air: DaemonNetwork, _ device: Int, _ owner: SessionOwner? = nil) {
    self.air = air
    session = PeripheralSession(client: recorder, owner: owner, in: air.devices[device].sessions)
    air.run()
  }

  /// - Parameter forget: False: the app's events are kept for the next call.
  @discardableResult
  func send(_ command: PeripheralCommand, forget: Bool = true) -> [PeripheralEvent] {
    session.send(command)
    air.run()
    return forget ? recorder.take() : []
  }

  func takeEvents() -> [String] { recorder.take().map(\.text) }

  func advertise(_ name: String? = nil, _ services: [BluetoothUUID] = [0x180D]) {
    send(.startAdvertising(localName: name, services: services))
  }

  /// Adds a service whose characteristics are numbered from `id` + 1 on.
  @discardableResult
  func add(_ id: UInt32, _ uuid: BluetoothUUID, includes: [UInt32] = [], _ list: [GATTCharacteristicDefinition])
    -> [String]
  {
    let characteristics = list.enumerated().map {
      LocalCharacteristicInfo(id: LocalAttributeID(number: id + 1 + UInt32($0.offset)), definition: $0.element)
    }
    return send(
      .addService(
        LocalServiceInfo(
          id: LocalAttributeID(number: id), uuid: uuid, isPrimary: true,
          includes: includes.map { LocalAttributeID(number: $0) }, characteristics: characteristics))
    ).map(\.text)
  }

  /// Returns the last request among the events since the last call.
  func lastRequest() throws -> CentralRequestID {
    let requests = recorder.take().compactMap { event -> CentralRequestID? in
      switch event {
      case .readRequested(let id, _, _, _): id
      case .writeRequested(let id, _, _): id
      default: nil
      }
    }
    return try #require(requests.last)
  }
}

extension DaemonNetwork {
  /// Adds two devices that are on and in range of each other, each with an app.
  func addSensorAndPhone() -> (sensor: Sensor, phone: Phone) {
    let sensor = Sensor(self, add("Sensor"))
    return (sensor, Phone(self, add("Phone")))
  }

  /// Returns a network with these two devices. The phone's first events have been taken.
  static func withSensorAndPhone() -> (air: DaemonNetwork, sensor: Sensor, phone: Phone) {
    let air = DaemonNetwork()
    let (sensor, phone) = air.addSensorAndPhone()
    _ = phone.takeEvents()
    return (air, sensor, phone)
  }
}

extension GATTCharacteristicDefinition {
  /// Returns a characteristic whose value the app provides.
  static func dynamic(_ uuid: BluetoothUUID, _ properties: CharacteristicProperties) -> GATTCharacteristicDefinition {
    var permissions: AttributePermissions = []
    if properties.contains(.read) { permissions.insert(.readable) }
    if !properties.isDisjoint(with: [.write, .writeWithoutResponse]) { permissions.insert(.writeable) }
    return .init(uuid: uuid, properties: properties, permissions: permissions, value: nil)
  }

  /// Returns a characteristic whose value the system provides.
  static func cached(_ uuid: BluetoothUUID, _ value: ByteSlice) -> GATTCharacteristicDefinition {
    .init(uuid: uuid, properties: .read, permissions: .readable, value: value)
  }
}

extension PeripheralSession {
  /// Advertises "Lamp" with one service (0x1815), whose characteristic (0x2A56) has no value of its own.
  func publishLamp(_ value: LocalAttributeID, _ properties: CharacteristicProperties) {
    send(
      .addService(
        LocalServiceInfo(
          id: LocalAttributeID(number: 1), uuid: 0x1815, isPrimary: true, includes: [],
          characteristics: [LocalCharacteristicInfo(id: value, definition: .dynamic(0x2A56, properties))])))
    send(.startAdvertising(localName: "Lamp", services: [0x1815]))
  }
}
