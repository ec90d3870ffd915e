import BluetoothBlueZ
import BluetoothDBus
import BluetoothDaemon
import BluetoothLab
import BluetoothTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

/// A bus that records what the service sends, and answers the calls of the service as clients would.
final class RecordingBus: BlueZBus, @unchecked Sendable {
  // Unchecked: the test's thread alone uses it.
  struct Signal {
    let member: String
    let path: String
    let body: [DBusValue]
  }

  struct Sent {
    let member: String
    let path: String
    let client: String
    let arguments: [DBusValue]
  }

  private(set) var signals: [Signal] = []
  private(set) var sent: [Sent] = []
  private(set) var declared: [String: [String: InterfaceDeclaration]] = [:]
  private(set) var watched: Set<String> = []
  private(set) var sockets: [RecordingSocket] = []
  /// Answers the calls that the service makes.
  var onCall: (Sent) -> Result<[DBusValue], DBusError> = { _ in .failure(DBusError("test.NoSuchMethod")) }
  private weak var service: (any BusService)?

  func export(_ interfaces: [InterfaceDeclaration], at path: String, of service: any BusService) {
    self.service = service
    for interface in interfaces {
      declared[path, default: [:]][interface.name] = interface
      for property in interface.properties {
        guard let value = service.property(property.name, of: interface.name, at: path) else { continue }
        #expect(value.signature == property.signature, "\(interface.name).\(property.name)")
      }
    }
    let names = interfaces.map(\.name)
    signals.append(Signal(member: "InterfacesAdded", path: path, body: [.strings(names)]))
  }

  func unexport(_ interfaces: [String], at path: String) {
    for name in interfaces { declared[path]?[name] = nil }
    signals.append(Signal(member: "InterfacesRemoved", path: path, body: [.strings(interfaces)]))
  }

  func emit(_ member: String, of interface: String, at path: String, _ body: [DBusValue]) {
    if member == "PropertiesChanged", let name = body[0].string, let values = body[1].options {
      for (property, value) in values {
        let declaration = declared[path]?[name]?.properties.first { $0.name == property }
        #expect(declaration?.signature == value.signature, "\(name).\(property)")
      }
    }
    signals.append(Signal(member: member, path: path, body: body))
  }

  func call(
    _ member: String, of interface: String, at path: String, on client: String, _ arguments: [DBusValue],
    then: @escaping @Sendable (Result<[DBusValue], DBusError>) -> Void
  ) {
    let call = Sent(member: member, path: path, client: client, arguments: arguments)
    sent.append(call)
    then(onCall(call))
  }

  func send(
    _ member: String, of interface: String, at path: String, on client: String, _ arguments: [DBusValue]
  ) {
    sent.append(Sent(member: member, path: path, client: client, arguments: arguments))
  }

  func watch(_ client: String, for service: any BusService) { watched.insert(client) }

  func makeSocket(
    _ receive: @escaping @Sendable ([UInt8]?) -> Void
  ) -> (end: any BusSocket, other: DBusValue)? {
    let socket = RecordingSocket(receive)
    sockets.append(socket)
    return (socket, .uint32(UInt32(sockets.count)))
  }

  func removeSignals() { signals.removeAll() }

  /// The changes of a property, in order.
  func changes(of property: String, at path: String) -> [DBusValue] {
    signals.compactMap { signal in
      guard signal.member == "PropertiesChanged", signal.path == path else { return nil }
      return signal.body[1].options?[property]
    }
  }
}

/// The service's end of a pair of sockets.
final class RecordingSocket: BusSocket, @unchecked Sendable {
  // Unchecked: the test's thread alone uses it.
  private(set) var packets: [[UInt8]] = []
  private(set) var isClosed = false
  /// Brings a packet of the client; nil: the client closes its end.
  let receive: @Sendable ([UInt8]?) -> Void

  init(_ receive: @escaping @Sendable ([UInt8]?) -> Void) { self.receive = receive }

  func send(_ octets: [UInt8]) { packets.append(octets) }
  func setPaused(_ isPaused: Bool) {}
  func close() { isClosed = true }
}

/// The service in a world in virtual time.
final class BlueZStage {
  let world: World
  let bus = RecordingBus()
  let loop = EmbeddedEventLoop()
  let server: BlueZServer
  static let adapter = "/org/bluez/hci0"
  static let client = ":1.7"

  init(adapters: Int = 1, _ populate: (World) -> Void = { _ in }) {
    let world = World(seed: 1)
    self.world = world
    populate(world)
    let served = (0..<adapters).map { number in
      var options = DeviceOptions()
      options.policy = PlatformPolicy(name: "bluez")
      let address = DeviceAddress(0x02_00_00_00_00_01 + UInt64(number), .public)
      options.address = address
      let prompts = BlueZPrompts()
      var serving = ServingOptions()
      serving.prompts = { _ in prompts }
      let device = world.makeDevice(named: "adapter \(number)", options, bondFolder: nil, serving: serving)
      return ServedBlueZAdapter(adapter: device.adapter, prompts: prompts, address: address, name: "adapter \(number)")
    }
    server = BlueZServer(served, on: loop, bus: bus)
    server.begin()
    world.run(until: { self.property("Powered") == .bool(true) })
  }

  deinit { server.stop() }

  /// Calls a method, and runs the world until it is answered.
  @discardableResult
  func call(
    _ member: String, _ arguments: [DBusValue] = [], of interface: String = "Adapter1", at path: String = adapter,
    by client: String = client, limit: Duration = .seconds(60)
  ) -> Result<[DBusValue], DBusError> {
    let answer = send(member, arguments, of: interface, at: path, by: client)
    world.run(until: { answer.withLockedValue { $0 != nil } }, limit: limit)
    return answer.withLockedValue { $0 } ?? .failure(DBusError("test.NoAnswer"))
  }

  /// Calls a method, and returns a box for its answer.
  func send(
    _ member: String, _ arguments: [DBusValue] = [], of interface: String = "Adapter1", at path: String = adapter,
    by client: String = client
  ) -> NIOLockedValueBox<Result<[DBusValue], DBusError>?> {
    let answer = NIOLockedValueBox<Result<[DBusValue], DBusError>?>(nil)
    let call = BusCall(
      sender: client, path: path, interface: "org.bluez." + interface, member: member, arguments: arguments)
    server.handle(call, BusAnswer { result in answer.withLockedValue { $0 = result } })
    return answer
  }

  /// The name of the error that answers a call, without its prefix; nil: it has succeeded.
  func error(
    _ member: String, _ arguments: [DBusValue] = [], of interface: String = "Adapter1", at path: String = adapter,
    by client: String = client
  ) -> String? {
    guard case .failure(let error) = call(member, arguments, of: interface, at: path, by: client) else { return nil }
    return error.name.replacing("org.bluez.Error.", with: "")
  }

  func property(_ name: String, of interface: String = "Adapter1", at path: String = adapter) -> DBusValue? {
    server.property(name, of: "org.bluez." + interface, at: path)
  }

  /// Sets a property, and returns the error's name.
  func set(_ name: String, _ value: DBusValue, of interface: String = "Adapter1", at path: String = adapter)
    -> String?
  {
    let answer = NIOLockedValueBox<Result<[DBusValue], DBusError>?>(nil)
    server.setProperty(
      name, of: "org.bluez." + interface, at: path, to: value,
      BusAnswer { result in answer.withLockedValue { $0 = result } })
    world.run(until: { answer.withLockedValue { $0 != nil } })
    guard case .failure(let error)? = answer.withLockedValue({ $0 }) else { return nil }
    return error.name.replacing("org.bluez.Error.", with: "")
  }

  /// The paths of devices of an adapter.
  func devices(of adapter: String = adapter) -> [String] {
    server.paths.filter { $0.hasPrefix(adapter + "/dev_") && $0.split(separator: "/").count == 4 }
  }

  /// Returns the path of the device with a name, or nil.
  func device(named name: String, of adapter: String = adapter) -> String? {
    devices(of: adapter).first { property("Name", of: "Device1", at: $0) == .string(name) }
  }

  /// Discovers a device, and returns its path.
  func discover(_ name: String, by adapter: String = adapter) throws -> String {
    call("StartDiscovery", at: adapter)
    world.run(until: { device(named: name, of: adapter) != nil }, limit: .seconds(20))
    call("StopDiscovery", at: adapter)
    return try #require(device(named: name, of: adapter))
  }

  /// Returns the path of the characteristic with a UUID.
  func characteristic(_ uuid: BluetoothUUID, of device: String) -> String? {
    let text = BluetoothUUID(high: uuid.high, low: uuid.low).description.lowercased()
    return server.paths.first {
      $0.hasPrefix(device) && property("UUID", of: "GattCharacteristic1", at: $0) == .string(text)
    }
  }
}
