import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

@testable import Patterns

@Suite struct AttributeTests {
  /// Returns the time that a discovery takes in a peer with 12 services of 5 characteristics, and what it finds.
  private func discover(
    services: [CBUUID]?, characteristics: [CBUUID]?
  ) throws -> (time: Duration, found: [CBUUID]) {
    let world = World(seed: 1)
    let timers = WorldTimers(in: world)
    let peer = TestPeripheral(on: world.makeDevice(named: "peer"))
    for service in 0..<12 {
      let published = CBMutableService(type: CBUUID(string: Self.uuid(service, 0)), primary: true)
      published.characteristics = (1...5).map {
        CBMutableCharacteristic(
          type: CBUUID(string: Self.uuid(service, $0)), properties: .read, value: nil, permissions: .readable)
      }
      try peer.add(published)
    }
    try peer.advertise("Peer")
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let peripheral = try phone.connect(to: "Peer")
    timers.run(limit: .seconds(2))
    let finder = AttributeFinder(services: services, characteristics: characteristics)
    peripheral.delegate = finder
    var found: [CBUUID]?
    let start = world.now
    finder.start(with: peripheral) { found = (try? $0.get())?.map(\.uuid) }
    #expect(timers.run(until: { found != nil }))
    return (world.now - start, found ?? [])
  }

  private static func uuid(_ service: Int, _ characteristic: Int) -> String {
    "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0\(1000 + 10 * service + characteristic)"
  }

  @Test(
    "The discovery of one service and one characteristic is several times as fast as that of everything",
    .requirement("K022"))
  func filter() throws {
    let wanted = CBUUID(string: Self.uuid(4, 2))
    let (short, one) = try discover(services: [CBUUID(string: Self.uuid(4, 0))], characteristics: [wanted])
    let (long, all) = try discover(services: nil, characteristics: nil)
    #expect(one == [wanted])
    #expect(all.count == 60)
    #expect(long > short * 4, "\(short), \(long)")
  }

  @Test("A value server is read by offset, and takes the parts of a long write all or none")
  func parts() throws {
    let world = World(seed: 1)
    let server = ValueServer(Lamp.value, value: Data(Self.pattern(400)), maximumLength: 450)
    // With an MTU of 23, a value of 400 octets takes many requests.
    var options = DeviceOptions()
    options.generation = .bluetooth40
    let peer = TestPeripheral(on: world.makeDevice(named: "peer", options))
    try peer.publish(Lamp.service, [server.characteristic], name: "Peer")
    peer.manager.delegate = server
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let peripheral = try phone.connect(to: "Peer")
    let uuid = Lamp.value.uuidString
    #expect(try phone.read(uuid, of: peripheral) == Self.pattern(400))
    #expect(server.readOffsets == Array(stride(from: 0, to: 400, by: 22)))
    // The last part is beyond the maximum, so no part is written.
    #expect(throws: CBATTError(.invalidAttributeValueLength)) {
      try phone.write([UInt8](repeating: 9, count: 480), to: uuid, of: peripheral)
    }
    #expect(server.value == Data(Self.pattern(400)))
    try phone.write([UInt8](repeating: 9, count: 440), to: uuid, of: peripheral)
    #expect(server.value == Data([UInt8](repeating: 9, count: 440)))
    try phone.write([1, 2], to: uuid, of: peripheral)
    #expect(server.value == Data([1, 2]))
  }

  private static func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }

  @Test("A fresh UUID is the same as text, in Swift and in C", .requirement("L012"))
  func freshUUID() throws {
    let (first, second) = (NewUUID(), NewUUID())
    #expect(first.text != second.text)
    #expect(first.text.wholeMatch(of: /[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/) != nil)
    let uuid = CBUUID(string: first.text)
    #expect(first.swiftSource(named: "lamp") == "static let lamp = CBUUID(string: \"\(first.text)\")")
    let source = first.cSource(named: "LAMP")
    #expect(source.hasPrefix("#define LAMP 0x"))
    let octets = source.matches(of: /0x([0-9A-F]{2})/).compactMap { UInt8($0.1, radix: 16) }
    #expect(CBUUID(data: Data(octets)) == uuid)
  }
}
