import BluetoothWire
import TestVectors
import Testing

@testable import BluetoothCapture

/// Commands, events and SMP PDUs that hold keys, and the parameters that a capture shows instead.
private enum Sample {
  static let key: UInt128 = 0xA1B2_C3D4_E5F6_0718_293A_4B5C_6D7E_8F90
  static let octets = (0..<16).map { UInt8(truncatingIfNeeded: key >> (8 * $0)) }
  static let handle = HCI.ConnectionHandle(rawValue: 0x0040)
  static let zeros = [UInt8](repeating: 0, count: 16)
  static let address: [UInt8] = [1, 6, 5, 4, 3, 2, 0xC1]

  static let commands: [(HCI.Command, [UInt8])] = [
    (.leEncrypt(key: key, plaintext: key), zeros + zeros),
    (
      .leEnableEncryption(handle, random: 0x0807_0605_0403_0201, encryptedDiversifier: 0x0A09, longTermKey: key),
      [0x40, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] + zeros
    ),
    (.leLongTermKeyRequestReply(handle, longTermKey: key), [0x40, 0] + zeros),
    (
      .leAddDeviceToResolvingList(
        HCI.PeerAddress(type: 1, value: 0xC102_0304_0506), peerIRK: key, localIRK: key), address + zeros + zeros
    ),
  ]

  static let events: [(HCI.Event, [UInt8])] = [
    (.commandComplete(credits: 1, .leEncrypt, .leEncrypt(key)), [1, 0x17, 0x20, 0] + zeros),
    (
      .commandComplete(credits: 1, .leRand, .leRand(UInt64(truncatingIfNeeded: key))),
      [1, 0x18, 0x20, 0] + zeros.prefix(8)
    ),
    (.leGenerateDHKeyComplete(.success, ByteSlice(octets + octets)), [9, 0] + zeros + zeros),
  ]

  static let pdus: [SMP.PDU] = [
    .encryptionInformation(longTermKey: Secret(ByteSlice(octets))),
    .identityInformation(identityResolvingKey: Secret(ByteSlice(octets))),
    .signingInformation(signatureKey: Secret(ByteSlice(octets))),
  ]
}

@Suite struct KeyTests {
  private let search = KeySearch(Sample.octets)

  /// Returns the packets as a capture with `secrets` shows them, without direction and packet type.
  private func written(
    _ packets: [HCI.Packet], _ secrets: CaptureSecrets = .none, isFromHost: Bool = true
  ) throws -> [[UInt8]] {
    var writer = PcapngWriter(secrets)
    let phone = writer.addInterface(name: "phone", linkType: .hciH4WithDirection)
    for packet in packets { writer.hciPacket(packet, on: phone, isFromHost: isFromHost, at: .zero) }
    var snoop = BtsnoopWriter(showsKeys: secrets.showsKeys)
    for packet in packets { snoop.packet(packet, isFromHost: isFromHost, at: .zero) }
    let data = try CaptureReader(writer.finish()).packets.map(\.data)
    // The file header is followed by a header of 24 octets for each packet.
    var rest = snoop.takeBytes().dropFirst(16)
    for octets in data {
      let packet = octets.dropFirst(4)
      #expect(rest.dropFirst(24).prefix(packet.count) == packet)
      rest = rest.dropFirst(24 + packet.count)
    }
    #expect(rest.isEmpty)
    return data.map { Array($0.dropFirst(5)) }
  }

  @Test(
    "A capture of commands shows zeros in place of keys, and everything else unchanged", arguments: Sample.commands)
  func commands(command: HCI.Command, parameters: [UInt8]) throws {
    let packet = command.packet(in: PacketPool())
    let whole = packet.payload.bytes
    #expect(search.finds(in: whole))
    #expect(whole.count == parameters.count)
    let covered = try written([packet])
    #expect(covered.map { Array($0.dropFirst(3)) } == [parameters])
  }

  @Test("A capture of events shows zeros in place of keys, and everything else unchanged", arguments: Sample.events)
  func events(event: HCI.Event, parameters: [UInt8]) throws {
    let covered = try written([event.packet(in: PacketPool())], isFromHost: false)
    #expect(covered.map { Array($0.dropFirst(2)) } == [parameters])
  }

  @Test(
    "A capture with keys or decryption shows all keys in HCI packets",
    arguments: [CaptureSecrets(decryptsAir: true), CaptureSecrets(writesKeys: true)])
  func whole(secrets: CaptureSecrets) throws {
    for (command, _) in Sample.commands {
      let packet = command.packet(in: PacketPool())
      #expect(try written([packet], secrets).map { Array($0.dropFirst(3)) } == [packet.payload.bytes])
    }
    let packets = fragments(of: frame(.encryptionInformation(longTermKey: Secret(ByteSlice(Sample.octets)))), of: 5)
    let joined = try written(packets, secrets).flatMap { $0.dropFirst(4) }
    #expect(search.finds(in: joined))
  }

  // MARK: Security Manager

  private func frame(_ pdu: SMP.PDU) -> [UInt8] {
    var writer = ByteWriter(PacketPool())
    pdu.encode(into: &writer)
    let bytes = writer.finish().bytes
    return [UInt8(bytes.count), 0, 6, 0] + bytes
  }

  private func fragments(of frame: [UInt8], of length: Int) -> [HCI.Packet] {
    stride(from: 0, to: frame.count, by: length).map { start in
      .acl(
        HCI.ACLData(
          handle: Sample.handle, boundary: start == 0 ? .firstNonFlushable : .continuing,
          payload: ByteSlice(frame.dropFirst(start).prefix(length))))
    }
  }

  @Test(
    "A capture shows Security Manager keys as zeros, however their frame is cut", arguments: Sample.pdus, 1...21)
  func cut(pdu: SMP.PDU, length: Int) throws {
    let frame = frame(pdu)
    for isFromHost in [true, false] {
      let covered = try written(fragments(of: frame, of: length), isFromHost: isFromHost).flatMap { $0.dropFirst(4) }
      #expect(covered == frame.prefix(5) + Sample.zeros)
    }
  }

  @Test("Interleaved frames of several links and both directions are kept apart")
  func turns() throws {
    let key = fragments(of: frame(Sample.pdus[0]), of: 7)
    let values = key.map { packet -> HCI.Packet in
      guard case .acl(var data) = packet else { return packet }
      data.handle = HCI.ConnectionHandle(rawValue: 0x0041)
      if data.boundary == .firstNonFlushable {
        data.payload = ByteSlice([17, 0, 4, 0, 0x1B] + data.payload.bytes[5...])
      }
      return .acl(data)
    }
    var writer = PcapngWriter()
    let phone = writer.addInterface(name: "phone", linkType: .hciH4WithDirection)
    for index in key.indices {
      writer.hciPacket(key[index], on: phone, isFromHost: true, at: .zero)
      writer.hciPacket(values[index], on: phone, isFromHost: true, at: .zero)
      writer.hciPacket(key[index], on: phone, isFromHost: false, at: .zero)
    }
    let packets = try CaptureReader(writer.finish()).packets.map { Array($0.data.dropFirst(9)) }
    let expected = Array(frame(Sample.pdus[0]).prefix(5)) + Sample.zeros
    #expect(stride(from: 0, to: packets.count, by: 3).flatMap { packets[$0] } == expected)
    #expect(stride(from: 2, to: packets.count, by: 3).flatMap { packets[$0] } == expected)
    #expect(stride(from: 1, to: packets.count, by: 3).flatMap { packets[$0] } == [17, 0, 4, 0, 0x1B] + Sample.octets)
  }

  @Test("Data without keys stay unchanged: other PDUs, other channels, data after a key, fragments without a frame")
  func others() throws {
    let confirm = frame(.pairingConfirm(ByteSlice(Sample.octets)))
    let attribute: [UInt8] = [17, 0, 4, 0, 0x06] + Sample.octets
    for octets in [confirm, attribute] {
      for length in [3, 8, 21] {
        #expect(try written(fragments(of: octets, of: length)).flatMap { $0.dropFirst(4) } == octets)
      }
    }
    let afterwards = fragments(of: frame(Sample.pdus[0]), of: 21) + fragments(of: attribute, of: 9)
    #expect(try written(afterwards).dropFirst().flatMap { $0.dropFirst(4) } == attribute)
    let loose = HCI.Packet.acl(
      HCI.ACLData(handle: Sample.handle, boundary: .continuing, payload: ByteSlice(Sample.octets)))
    #expect(
      try written(fragments(of: frame(Sample.pdus[0]), of: 21) + [loose]).last.map { Array($0.dropFirst(4)) }
        == Sample.octets)
  }

  @Test("A capture that begins within a frame shows zeros up to the next frame of the link, and then looks for keys")
  func beginning() throws {
    let frame = frame(Sample.pdus[0])
    let rest = fragments(of: frame, of: 7).dropFirst()
    let attribute: [UInt8] = [17, 0, 4, 0, 0x06] + Sample.octets
    let packets = Array(rest) + fragments(of: attribute, of: 9) + fragments(of: frame, of: 7)
    let covered = try written(packets).flatMap { $0.dropFirst(4) }
    #expect(covered == Array(repeating: 0, count: 14) + attribute + frame.prefix(5) + Sample.zeros)
  }

  @Test("Packets of any length are written, even those too short for their parameters")
  func short() throws {
    for (command, _) in Sample.commands {
      guard case .command(let opcode, let parameters) = command.packet(in: PacketPool()) else { continue }
      for count in 0...parameters.count {
        let packet = HCI.Packet.command(opcode: opcode, parameters: parameters.prefix(count))
        let data = try #require(try written([packet]).first)
        #expect(data.count == 3 + count)
        #expect(!search.finds(in: data))
      }
    }
    for count in 0...5 {
      let packets = fragments(of: Array(frame(Sample.pdus[0]).prefix(count)), of: 2)
      #expect(try written(packets).flatMap { $0.dropFirst(4) }.count == count)
    }
  }
}
