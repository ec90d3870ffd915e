import BluetoothCapture
import BluetoothWire
import Testing

@Suite struct ConnectionDirectionsTests {
  static let connectIndication = AirPacket(
    accessAddress: LL.advertisingAccessAddress, crcInit: LL.advertisingCRCInit, header: 0x2205,
    payload: ByteSlice([UInt8](repeating: 0, count: 12) + [0x78, 0x56, 0x34, 0x12] + [UInt8](repeating: 0, count: 18)))
  static let data = AirPacket(accessAddress: 0x1234_5678, crcInit: 0, header: 0x0001, payload: [])

  @Test("The sender of CONNECT_IND is the central of the connection, and every other sender the peripheral")
  func directions() {
    var directions = ConnectionDirections()
    let first = directions.direction(of: Self.connectIndication, sender: 7)
    #expect(first == .unspecified)
    let second = directions.direction(of: Self.data, sender: 7)
    #expect(second == .centralToPeripheral)
    let third = directions.direction(of: Self.data, sender: 3)
    #expect(third == .peripheralToCentral)
  }

  @Test("A connection whose beginning was not seen has no directions")
  func unknown() {
    var directions = ConnectionDirections()
    let first = directions.direction(of: Self.data, sender: 7)
    #expect(first == .unspecified)
  }

  @Test("A CONNECT_IND that is cut short is ignored")
  func short() {
    var directions = ConnectionDirections()
    var packet = Self.connectIndication
    packet.payload = packet.payload.prefix(15)
    let first = directions.direction(of: packet, sender: 7)
    #expect(first == .unspecified)
    let second = directions.direction(of: Self.data, sender: 7)
    #expect(second == .unspecified)
  }

  @Test("A packet of a periodic train is distinguished from one of a connection")
  func train() {
    var directions = ConnectionDirections()
    var packet = Self.data
    packet.isAdvertising = true
    let direction = directions.direction(of: packet, sender: 7)
    #expect(direction == .auxiliaryAdvertising)
  }
}
