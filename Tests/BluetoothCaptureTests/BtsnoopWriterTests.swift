import BluetoothWire
import Testing

@testable import BluetoothCapture

@Suite struct BtsnoopWriterTests {
  @Test("A btsnoop file is its header and one record per packet, octet by octet")
  func file() {
    var writer = BtsnoopWriter()
    writer.packet(
      .command(opcode: HCI.Opcode(rawValue: 0x0C03), parameters: []), isFromHost: true,
      at: Instant(nanoseconds: 2_999))
    writer.packet(
      .acl(HCI.ACLData(handle: HCI.ConnectionHandle(rawValue: 1), boundary: .continuing, payload: [0xAA])),
      isFromHost: false, at: .zero)
    let header: [UInt8] = Array("btsnoop".utf8) + [0, 0, 0, 0, 1, 0, 0, 0x03, 0xEA]
    let command: [UInt8] = [
      0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 0, 0x00, 0xDC, 0xDD, 0xB3, 0x0F, 0x2F, 0x80, 0x02, 1, 3, 0x0C, 0,
    ]
    // The beginning of the frame was not captured: it may carry a key, so zeros take the place of its rest.
    let data: [UInt8] = [
      0, 0, 0, 6, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0, 0, 0x00, 0xDC, 0xDD, 0xB3, 0x0F, 0x2F, 0x80, 0x00, 2, 1, 0x10, 1, 0,
      0,
    ]
    let bytes = writer.takeBytes()
    #expect(bytes == header + command + data)
    let further = writer.takeBytes()
    #expect(further.isEmpty)
  }
}
