import ArgumentParser
import BluetoothCrypto
import BluetoothDissection
import BluetoothWire
import Foundation
import Testing

@testable import ble

/// The decryption of captures, with the sample data of the Core Specification, Vol 6, Part C, 1.
@Suite struct DecryptionTests {
  private static let key = "4C68384139F574D836BCF34E9DFB01BF"
  private static let accessAddress: UInt32 = 0x50C7_A2B4
  private static let initialCRC: UInt32 = 0x12_3456
  private static let interface = CaptureInterface(index: 0, name: "air", link: .linkLayerWithHeader)

  private static let request = "0317039078563412EFCDAB74241302F1E0DFCEBDAC24ABDCBA"
  private static let response = "070D047968574635241302BEBAAFDE"
  private static let start = "070105"
  /// Packets with a payload of a session: true if the central has sent it, as sent, and as it was before encryption.
  private static let packets: [(isCentral: Bool, sealed: String, plain: String)] = [
    (true, "0F059FCDA7F448", "0F0106"), (false, "0705A34C13A415", "070106"),
    (
      true, "0E1F7A70D66415226DF26B17839A060405596BD6564F796B5B9CE6FF32F75A6D33",
      "0E1B1700636465666768696A6B6C6D6E6F707131323334353637383930"
    ),
    (
      false, "061FF38881E7BD94C9C369B9A66846DD4786AA8C39CE540D0DAE3ADCDF89B96088",
      "061B170037363534333231304142434445464748494A4B4C4D4E4F5051"
    ),
    // Its packetCounter is 4, so that two packets of the central before it were not captured.
    (
      true, "02145D874A8F123A998C2ACCA102ABBC5B423453A0E0", "021000000000000000000000000000000000"
    ),
  ]

  private static func octets(_ digits: String) -> [UInt8] {
    stride(from: 0, to: digits.utf8.count, by: 2).compactMap { offset in
      UInt8(digits.dropFirst(offset).prefix(2), radix: 16)
    }
  }

  /// Returns a packet as a sniffer writes it.
  ///
  /// - Parameter flags: those of the pseudo-header beside the direction.
  private static func packet(_ pdu: String, isCentral: Bool, flags: UInt16 = 0x0C01) -> CapturedPacket {
    let pdu = octets(pdu)
    var crc = LL.CRC24(initial: initialCRC)
    for octet in pdu { crc.update(octet) }
    func number(_ value: UInt32, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
    }
    let flags = flags | (isCentral ? 2 : 3) << 7
    let content =
      [12, 0xC4, 0, 0] + number(accessAddress, 4) + number(UInt32(flags), 2) + number(accessAddress, 4) + pdu
      + number(crc.value, 3)
    var packet = CapturedPacket(
      number: 1, time: 0, interface: interface, octets: content, originalLength: content.count)
    packet.comments = ["encrypted", "a → b"]
    return packet
  }

  private static func decryptor(keys: [String]) throws -> CaptureDecryptor {
    var decryptor = CaptureDecryptor(
      keys: try keys.map { try #require(Block(octets($0)), "a key of 16 octets") })
    for (pdu, isCentral) in [(request, true), (response, false), (start, false)] {
      let packet = packet(pdu, isCentral: isCentral)
      #expect(decryptor.decrypt(packet).octets == packet.octets)
    }
    return decryptor
  }

  @Test("Packets of the nRF Sniffer are decrypted, and written with the pseudo-header")
  func nordic() throws {
    func sniffed(_ pdu: String, isCentral: Bool) -> CapturedPacket {
      let packet = Self.packet(pdu, isCentral: isCentral)
      let octets = CaptureFixture.nordic(3, Array(packet.octets.dropFirst(10)), channel: 5, flags: isCentral ? 3 : 1)
      return CapturedPacket(
        number: 1, time: 0, interface: CaptureInterface(index: 0, name: nil, link: .nordicSniffer), octets: octets,
        originalLength: octets.count)
    }
    var decryptor = CaptureDecryptor(keys: [try #require(Block(Self.octets(Self.key)))])
    for (pdu, isCentral) in [(Self.request, true), (Self.response, false), (Self.start, false)] {
      _ = decryptor.decrypt(sniffed(pdu, isCentral: isCentral))
    }
    for (isCentral, sealed, plain) in Self.packets {
      let result = decryptor.decrypt(sniffed(sealed, isCentral: isCentral))
      #expect(result.interface.link == .linkLayerWithHeader)
      guard case .air(let air) = CapturedContent(result) else {
        Issue.record("no packet on the air")
        continue
      }
      #expect(air.octets.dropFirst(4).dropLast(3).elementsEqual(Self.octets(plain)))
      #expect(air.isDecrypted && air.channel == 5 && air.power == -50 && air.isChecked && !air.hasWrongCRC)
      #expect(air.direction == (isCentral ? .toPeripheral : .toCentral))
    }
    #expect(decryptor.counts.decrypted == Self.packets.count)
  }

  @Test("The packets of a session are those before encryption, with their CRC and the flags of decrypted packets")
  func session() throws {
    var decryptor = try Self.decryptor(keys: [String(repeating: "0", count: 32), Self.key])
    for (isCentral, sealed, plain) in Self.packets {
      let result = decryptor.decrypt(Self.packet(sealed, isCentral: isCentral))
      #expect(result.octets == Self.packet(plain, isCentral: isCentral, flags: 0x3C09).octets)
      #expect(result.comments == ["a → b"])
    }
    #expect(decryptor.counts == CaptureDecryptor.Counts(decrypted: 5, failed: 0, sessions: 1, proven: 1))
  }

  @Test("A retransmission is decrypted again, and does not count")
  func retransmission() throws {
    var decryptor = try Self.decryptor(keys: [Self.key])
    // The second time with other NESN and MD, and with the same SN.
    for index in [0, 0, 1, 2, 2, 3] {
      let (isCentral, sealed, plain) = Self.packets[index]
      #expect(
        decryptor.decrypt(Self.packet(sealed, isCentral: isCentral)).octets
          == Self.packet(plain, isCentral: isCentral, flags: 0x3C09).octets)
    }
    #expect(decryptor.counts.decrypted == 6 && decryptor.counts.failed == 0)
  }

  @Test("A capture without directions is decrypted as well")
  func withoutDirections() throws {
    var decryptor = try Self.decryptor(keys: [Self.key])
    for (isCentral, sealed, plain) in Self.packets {
      func undirected(_ packet: CapturedPacket) -> CapturedPacket {
        var octets = packet.octets
        octets[8] &= 0x7F
        octets[9] &= 0xFC
        return CapturedPacket(
          number: 1, time: 0, interface: Self.interface, octets: octets, originalLength: octets.count)
      }
      let result = decryptor.decrypt(undirected(Self.packet(sealed, isCentral: isCentral)))
      #expect(result.octets == undirected(Self.packet(plain, isCentral: isCentral, flags: 0x3C09)).octets)
    }
  }

  @Test("Without the key, and with a wrong CRC, packets stay as they are")
  func unchanged() throws {
    var decryptor = try Self.decryptor(keys: ["000102030405060708090A0B0C0D0E0F"])
    for (isCentral, sealed, _) in Self.packets {
      let packet = Self.packet(sealed, isCentral: isCentral)
      #expect(decryptor.decrypt(packet).octets == packet.octets)
    }
    #expect(decryptor.counts == CaptureDecryptor.Counts(decrypted: 0, failed: 0, sessions: 1, proven: 0))
    var other = try Self.decryptor(keys: [Self.key])
    let damaged = Self.packet(Self.packets[0].sealed, isCentral: true, flags: 0x0401)
    #expect(other.decrypt(damaged).octets == damaged.octets)
    #expect(other.counts.failed == 0)
  }

  @Test("A packet with a wrong MIC stays as it is and is counted, and the next one is decrypted")
  func wrongCode() throws {
    var decryptor = try Self.decryptor(keys: [Self.key])
    for index in 0..<2 { _ = decryptor.decrypt(Self.packet(Self.packets[index].sealed, isCentral: index == 0)) }
    let damaged = Self.packet(Self.packets[2].sealed.dropLast() + "4", isCentral: true)
    #expect(decryptor.decrypt(damaged).octets == damaged.octets)
    let next = decryptor.decrypt(Self.packet(Self.packets[4].sealed, isCentral: true))
    #expect(next.octets == Self.packet(Self.packets[4].plain, isCentral: true, flags: 0x3C09).octets)
    #expect(decryptor.counts == CaptureDecryptor.Counts(decrypted: 3, failed: 1, sessions: 1, proven: 1))
  }

  @Test("Keys come from the key file of a capture, and from an info file of BlueZ")
  func keyFiles() throws {
    let sessions = #"{"sessions": [{"time": 1, "LTK": "4C68384139F574D836BCF34E9DFB01BF", "SKDm": "00"}]}"#
    let bluez = """
      [General]
      AddressType=static

      [LongTermKey]
      Key=BF01FB9D4EF3BC36D874F5394138684C
      Authenticated=2
      EncSize=16
      EDiv=0
      Rand=0
      """
    for text in [sessions, bluez] {
      let keys = try DecryptionKeys.keys(in: Array(text.utf8), "file")
      #expect(Set(keys.map { $0.bytes.digits }) == [Self.key], "\(text)")
    }
    for text in ["", "{}", "hello", #"{"sessions": [{"LTK": "12"}]}"#] {
      let failure = #expect(throws: Failure.self) { try DecryptionKeys.keys(in: Array(text.utf8), "file") }
      #expect(failure?.status == ExitStatus.ambiguous, "\(text)")
    }
    #expect(throws: (any Error).self) { try DecryptionKeys.parse([]) }
    #expect(throws: (any Error).self) { try DecryptionKeys.parse(["--ltk", "4C68"]) }
    let options = try DecryptionKeys.parse(["--ltk", "0x" + Self.key.lowercased()])
    let keys = try options.read()
    #expect(keys.map(\.bytes.digits) == [Self.key])
  }
}
