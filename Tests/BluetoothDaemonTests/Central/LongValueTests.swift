import BluetoothHost
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothDaemon

@Suite("Values longer than the MTU allows")
struct LongValueTests {
  let pair: ConnectedPair
  let phone: Phone
  let sensor: Sensor
  let peer: PeerHandle

  init() throws {
    pair = try ConnectedPair(maximumMTU: 23)
    (phone, sensor, peer) = (pair.phone, pair.sensor, pair.peer)
  }

  @Test("4.7, 6.8 A long value is read with several requests by offset and returned in one answer")
  func read() throws {
    let value = ByteSlice((0..<50).map { UInt8($0) })
    phone.send(.read(peer, try pair.id(0x2A37)))
    for offset in stride(from: 0, to: 50, by: 22) {
      let events = sensor.recorder.take()
      #expect(events.map(\.text) == ["read 2 from \(offset)"])
      guard case .readRequested(let request, _, _, _)? = events.first else {
        Issue.record("no read was requested from \(offset)")
        return
      }
      #expect(phone.takeEvents() == [])
      sensor.send(.respond(request, nil, value: value.dropFirst(offset)), forget: false)
    }
    #expect(phone.takeEvents() == ["read \(value)"])
  }

  @Test("4.8, 6.9 A long write reaches the app as one batch of parts and is answered once")
  func write() throws {
    let value = ByteSlice((0..<40).map { UInt8($0) })
    phone.send(.write(peer, try pair.id(0x2A39), value))
    let events = sensor.recorder.take()
    #expect(
      events.map(\.text) == [
        "write 4 at 0: \(value[0..<18]), 4 at 18: \(value[18..<36]), 4 at 36: \(value[36..<40])"
      ])
    guard case .writeRequested(let request?, _, _)? = events.first else {
      Issue.record("no write was requested")
      return
    }
    #expect(phone.takeEvents() == [])
    sensor.send(.respond(request, nil, value: []))
    #expect(phone.takeEvents() == ["written ok"])
  }

  @Test("6.9 A refused batch is refused as a whole", .requirement("K050"))
  func refused() throws {
    let value = ByteSlice([UInt8](repeating: 1, count: 40))
    phone.send(.write(peer, try pair.id(0x2A39), value))
    sensor.send(.respond(try sensor.lastRequest(), .invalidAttributeValueLength, value: []))
    #expect(phone.takeEvents() == ["written att 0x0D"])
  }

  @Test("4.9 A write without response that is too long is not sent, and its credit returns")
  func tooLongCommand() throws {
    let id = try pair.id(0x2A39)
    let credits = phone.session.writeCredits(for: peer)
    #expect(credits.take())
    phone.send(.writeWithoutResponse(peer, id, ByteSlice([UInt8](repeating: 1, count: 21))))
    #expect(sensor.takeEvents() == [])
    var count = 0
    while credits.take() { count += 1 }
    #expect(count == SessionLimits.writesWithoutResponse)
  }

  @Test("6.13 An update is truncated to 20 octets")
  func cut() throws {
    phone.send(.setNotify(peer, try pair.id(0x2A37), true))
    #expect(sensor.session.updateCredits.take())
    sensor.send(.update(LocalAttributeID(number: 2), ByteSlice([UInt8](repeating: 1, count: 30)), nil))
    #expect(phone.takeEvents().last == "value \(ByteSlice([UInt8](repeating: 1, count: 20)))")
  }
}
