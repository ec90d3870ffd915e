import BluetoothWire
import Foundation
import TestVectors
import Testing

/// Commands and events that contain keys.
private enum Sample {
  static let key: UInt128 = 0xA1B2_C3D4_E5F6_0718_293A_4B5C_6D7E_8F90
  static let octets = (0..<16).map { UInt8(truncatingIfNeeded: key >> (8 * $0)) }
  static let handle = HCI.ConnectionHandle(rawValue: 0x0040)

  static let commands: [HCI.Command] = [
    .leEncrypt(key: key, plaintext: 1), .leEncrypt(key: 1, plaintext: key),
    .leEnableEncryption(handle, random: 0x0102, encryptedDiversifier: 0x0304, longTermKey: key),
    .leLongTermKeyRequestReply(handle, longTermKey: key),
    .leAddDeviceToResolvingList(HCI.PeerAddress(type: 0, value: 1), peerIRK: key, localIRK: 2),
    .leAddDeviceToResolvingList(HCI.PeerAddress(type: 0, value: 1), peerIRK: 2, localIRK: key),
  ]

  static let events: [HCI.Event] = [
    .commandComplete(credits: 1, .leEncrypt, .leEncrypt(key)),
    .commandComplete(credits: 1, .leRand, .leRand(UInt64(truncatingIfNeeded: key))),
    .leGenerateDHKeyComplete(.success, ByteSlice(octets + octets)),
  ]
}

@Suite struct SecretTests {
  private let search = KeySearch(Sample.octets)

  @Test("The search finds a key in every textual form")
  func searching() {
    #expect(search.finds(in: "key 90 8f 7E 6d 5c 4B 3a 29 18 07 f6 e5 d4 c3 b2 a1 ends"))
    #expect(search.finds(in: Sample.key))
    #expect(search.finds(in: Sample.octets))
    #expect(search.finds(in: ByteSlice(Sample.octets)))
    #expect(search.finds(in: UInt64(truncatingIfNeeded: Sample.key)))
    #expect(!search.finds(in: Sample.key ^ (1 << 64 | 1)))
  }

  @Test(
    "The description of a command with a key omits it, in words, as packet and by reflection",
    arguments: Sample.commands)
  func commands(command: HCI.Command) {
    #expect(!search.finds(in: command))
    #expect("\(command)".contains("hidden"))
    let packet = command.packet(in: PacketPool())
    #expect(!search.finds(in: packet))
    #expect("\(packet)".contains("\(command.opcode)"))
  }

  @Test(
    "The description of an event with a key omits it, in words, as packet and by reflection", arguments: Sample.events)
  func events(event: HCI.Event) {
    #expect(!search.finds(in: event))
    #expect("\(event)".contains("hidden"))
    let packet = event.packet(in: PacketPool())
    #expect(!search.finds(in: packet))
  }

  @Test("The description of an HCI packet without keys has its octets")
  func others() {
    let packet = HCI.Command.leSetScanEnable(true, filterDuplicates: false).packet(in: PacketPool())
    #expect("\(packet)" == "command LE Set Scan Enable [0100]")
    #expect("\(HCI.Packet.event(code: 0x10, parameters: [0x2A]))" == "event 0x10 [2A]")
  }

  @Test("The description of truncated parameters omits keys too", arguments: Sample.commands)
  func short(command: HCI.Command) {
    guard case .command(let opcode, let parameters) = command.packet(in: PacketPool()) else {
      Issue.record("\(command) makes no command packet")
      return
    }
    for count in 0..<parameters.count {
      #expect(!search.finds(in: HCI.Packet.command(opcode: opcode, parameters: parameters.prefix(count))))
    }
    for count in 0..<5 {
      #expect(
        !search.finds(in: HCI.Packet.event(code: 0x0E, parameters: ByteSlice([1, 0x17, 0x20, 0, 1].prefix(count)))))
    }
  }

  @Test(
    "The description of a Security Manager PDU with a key omits it, and so does that of its ACL data",
    arguments: [
      .encryptionInformation(longTermKey: Secret(ByteSlice(Sample.octets))),
      .identityInformation(identityResolvingKey: Secret(ByteSlice(Sample.octets))),
      .signingInformation(signatureKey: Secret(ByteSlice(Sample.octets))),
    ] as [SMP.PDU])
  func securityManager(pdu: SMP.PDU) throws {
    #expect(!search.finds(in: pdu))
    var writer = ByteWriter(PacketPool())
    pdu.encode(into: &writer)
    let bytes = writer.finish()
    #expect(try SMP.PDU.decode(bytes) == pdu)
    let data = HCI.ACLData(handle: Sample.handle, boundary: .firstFlushable, payload: bytes)
    #expect(!search.finds(in: data))
    #expect(!search.finds(in: HCI.Packet.acl(data)))
  }

  @Test("The description of an encrypted session's record omits its key")
  func session() {
    let part = LL.SessionPart(diversifier: 1, initializationVector: 2)
    let record = LL.SessionRecord(
      accessAddress: 3, central: DeviceAddress(4, .public), peripheral: DeviceAddress(5, .random),
      keys: LL.SessionKeys(longTermKey: Secret(Sample.key), central: part, peripheral: part))
    #expect(!search.finds(in: record))
  }
}
