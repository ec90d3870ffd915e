import BluetoothWire
import Requirements
import Testing

@Suite("Air time")
struct AirTimeTests {
  @Test(
    "The air time of a packet is the time of its preamble, access address, coded fields, PDU and CRC",
    .requirement("L085", "L091"),
    arguments: [
      (.le1M, 0, 80), (.le1M, 37, 376), (.le1M, 255, 2_120), (.le2M, 0, 44), (.le2M, 255, 1_064),
      (.codedS8, 0, 720), (.codedS8, 255, 17_040), (.codedS2, 0, 462), (.codedS2, 255, 4_542),
    ] as [(Modulation, Int, Int64)])
  func airTime(modulation: Modulation, octets: Int, microseconds: Int64) {
    let packet = AirPacket(
      accessAddress: 0, crcInit: 0, header: 0, payload: ByteSlice(Array(repeating: 0, count: octets)))
    #expect(packet.airTime(modulation) == .microseconds(microseconds))
  }

  @Test("Both codings belong to the PHY LE Coded")
  func phys() {
    #expect(Modulation.allCases.map(\.phy) == [.le1M, .le2M, .leCoded, .leCoded])
  }
}
