import BluetoothWire
import Testing

@testable import BluetoothCapture

@Suite struct DecryptedAirTests {
  private static let packet: AirPacket = {
    var packet = AirPacket(
      accessAddress: 0x5065_4321, crcInit: 0xABCDEF, header: 0x0702, payload: [9, 8, 7, 6, 5, 4, 3])
    packet.plainPayload = [1, 2, 3]
    return packet
  }()

  private func written(_ packet: AirPacket, _ secrets: CaptureSecrets) throws -> [UInt8] {
    var writer = PcapngWriter(secrets)
    writer.airPacket(
      packet, crc: packet.crc, channel: RadioChannel(7), modulation: .le1M, power: Decibel(0), start: .zero,
      direction: .centralToPeripheral)
    return try #require(CaptureReader(writer.finish()).packets.first).data
  }

  private func octets(_ crc: UInt32) -> [UInt8] { (0..<3).map { UInt8(truncatingIfNeeded: crc >> (8 * $0)) } }

  @Test("An encrypted packet is written decrypted, without MIC, with the CRC of the plain packet, and flagged as such")
  func decrypted() throws {
    let data = try written(Self.packet, CaptureSecrets(decryptsAir: true))
    let plain = AirPacket(accessAddress: 0x5065_4321, crcInit: 0xABCDEF, header: 0x0302, payload: [1, 2, 3])
    // Decrypted, MIC checked, MIC valid.
    #expect(Int(data[8]) | Int(data[9]) << 8 == 0x0D13 | 0x0008 | 0x1000 | 0x2000)
    #expect(Array(data[10...]) == [0x21, 0x43, 0x65, 0x50, 0x02, 3, 1, 2, 3] + octets(plain.crc))
  }

  @Test(
    "An encrypted packet is written as it was sent if decryption was not requested",
    arguments: [CaptureSecrets.none, CaptureSecrets(writesKeys: true)])
  func encrypted(secrets: CaptureSecrets) throws {
    let data = try written(Self.packet, secrets)
    #expect(Int(data[8]) | Int(data[9]) << 8 == 0x0D13)
    #expect(Array(data[10...]) == [0x21, 0x43, 0x65, 0x50, 0x02, 7, 9, 8, 7, 6, 5, 4, 3] + octets(Self.packet.crc))
  }

  @Test("A packet that was not encrypted is the same in every capture")
  func plain() throws {
    var packet = Self.packet
    packet.plainPayload = nil
    #expect(try written(packet, CaptureSecrets(decryptsAir: true)) == written(packet, .none))
  }
}
