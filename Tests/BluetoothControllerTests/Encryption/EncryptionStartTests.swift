import BluetoothRadio
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("Encryption start")
struct EncryptionStartTests {
  @Test("LE Enable Encryption runs the three-way handshake, and both hosts get an event")
  func handshake() throws {
    let link = try LinkHarness()
    link.air.clearLog()
    #expect(link.enableEncryption() == .success)
    link.runEvents(3)
    #expect(
      link.peripheral.events == [
        .leLongTermKeyRequest(link.peripheralHandle, random: testRandom, encryptedDiversifier: testDiversifier)
      ])
    #expect(
      link.peripheral.complete(.leLongTermKeyRequestReply(link.peripheralHandle, longTermKey: testKey))
        == .handle(.success, link.peripheralHandle))
    link.runEvents(4)
    #expect(link.central.encryptionChanges == [.encryptionChange(.success, link.centralHandle, enabled: 1)])
    #expect(link.peripheral.encryptionChanges == [.encryptionChange(.success, link.peripheralHandle, enabled: 1)])
    #expect(
      link.controlPDUs.map(\.pdu.opcode) == [.encReq, .encRsp, .startEncReq, .startEncRsp, .startEncRsp])
    #expect(link.controlPDUs.map(\.device) == [0, 1, 1, 0, 1])
    let isEncrypted = link.air.log.filter { $0.controlPDU != nil }.map { $0.packet.plainPayload != nil }
    #expect(isEncrypted == [false, false, false, true, true])
  }

  @Test("P8 The two parts of a session have different diversifiers and vectors")
  func newParts() throws {
    let parts = try (0..<2).flatMap { _ -> [LL.SessionPart] in
      let link = try LinkHarness.encrypted()
      link.enableEncryption()
      link.runEvents(8)
      return link.controlPDUs.compactMap {
        switch $0.pdu {
        case .encReq(_, _, let part), .encRsp(let part): part
        default: nil
        }
      }
    }
    #expect(parts.count == 4)
    #expect(Set(parts.prefix(2).map(\.diversifier)).count == 2)
    #expect(Set(parts.map(\.initializationVector)).count == 2, "the same seed gives the same session")
  }

  @Test("Encrypted data pass both ways, and the air carries only ciphertext", .requirement("L175"))
  func ciphertext() throws {
    let link = try LinkHarness.encrypted()
    let secret = Array("nobody reads this".utf8)
    link.central.send(secret, on: link.centralHandle)
    link.peripheral.send(secret, on: link.peripheralHandle)
    link.runEvents(3)
    #expect(link.central.data.map(\.payload.bytes) == [secret])
    #expect(link.peripheral.data.map(\.payload.bytes) == [secret])
    let sent = link.air.log.filter { !$0.packet.payload.isEmpty }
    #expect(sent.count == 2)
    #expect(sent.allSatisfy { $0.packet.payload.count == secret.count + 4 })
    #expect(Set(sent.map { Array($0.packet.payload.bytes.prefix(secret.count)) }).union([secret]).count == 3)
    #expect(link.isAllEncrypted)
  }

  @Test("Empty PDUs are sent without encryption, and use no packet counter")
  func emptyPDUs() throws {
    let link = try LinkHarness.encrypted()
    link.runEvents(10)
    #expect(link.air.log.allSatisfy { $0.packet.payload.isEmpty })
    #expect(link.isAlive())
  }

  @Test("A retransmitted PDU has the same octets")
  func retransmission() throws {
    let link = try LinkHarness.encrypted()
    var losses = 3
    link.air.outcome = { transmission in
      guard transmission.device == 0, !transmission.packet.payload.isEmpty, losses > 0 else { return .arrives }
      losses -= 1
      return losses == 1 ? .lost : .corrupt
    }
    link.central.send([1, 2, 3], on: link.centralHandle)
    link.runEvents(6)
    let sent = link.air.log.filter { $0.device == 0 && !$0.packet.payload.isEmpty }
    #expect(sent.count == 4)
    #expect(Set(sent.map(\.packet.payload)).count == 1)
    #expect(link.peripheral.data.map(\.payload) == [[1, 2, 3]])
    #expect(link.isAlive())
  }

  @Test("The MIC is added to the data length", .requirement("L097"), arguments: [27, 251])
  func dataLength(octets: Int) throws {
    let link = try LinkHarness.encrypted { central, peripheral in
      let length = HCI.DataLength(octets: UInt16(octets), time: UInt16(octets + 14) * 8)
      for device in [central, peripheral] {
        #expect(device.send(.leWriteSuggestedDefaultDataLength(length)) == .success)
      }
    }
    let data = (0..<251).map { UInt8($0) }
    link.central.send(data, on: link.centralHandle)
    link.peripheral.send(data, on: link.peripheralHandle)
    link.runEvents(8)
    #expect(link.air.log.map(\.packet.payload.count).max() == octets + 4)
    for device in [link.central, link.peripheral] { #expect(device.data.flatMap(\.payload.bytes) == data) }
  }

  @Test("Data that the hosts send during the encryption start wait, and arrive in order")
  func heldBack() throws {
    let link = try LinkHarness()
    link.air.clearLog()
    link.enableEncryption()
    for index in UInt8(0)..<5 {
      link.central.send([index], on: link.centralHandle)
      link.peripheral.send([index], on: link.peripheralHandle)
      link.runEvents(1)
    }
    let beforeRequest = link.air.log.prefix { $0.controlPDU?.opcode != .encReq }
    #expect(beforeRequest.allSatisfy { $0.packet.payload.isEmpty })
    #expect(link.peripheral.data.isEmpty)
    link.peripheral.send(.leLongTermKeyRequestReply(link.peripheralHandle, longTermKey: testKey))
    link.runEvents(5)
    #expect(link.peripheral.data.map(\.payload) == [[0], [1], [2], [3], [4]])
    #expect(link.central.data.map(\.payload) == [[0], [1], [2], [3], [4]])
    let data = link.air.log.filter { $0.dataHeader?.llid == .start && $0.device == 0 }
    #expect(data.allSatisfy { $0.packet.plainPayload != nil })
  }

  @Test("The link stays unencrypted and alive if the peripheral's host has no key")
  func noKey() throws {
    let link = try LinkHarness()
    link.peripheral.answersKeyRequests(with: nil)
    link.enableEncryption()
    link.runEvents(6)
    #expect(link.central.encryptionChanges == [.encryptionChange(.pinOrKeyMissing, link.centralHandle, enabled: 0)])
    #expect(link.peripheral.encryptionChanges.isEmpty)
    let rejection = LL.ControlPDU.rejectExtInd(opcode: LL.ControlOpcode.encReq.rawValue, .pinOrKeyMissing)
    #expect(link.controlPDUs.last?.pdu == rejection)
    #expect(link.isAlive())
    link.peripheral.answersKeyRequests()
    link.enableEncryption()
    link.runEvents(6)
    #expect(link.central.encryptionChanges == [.encryptionChange(.success, link.centralHandle, enabled: 1)])
  }

  @Test(
    "The host gets the reason why a peer refuses encryption: 0x25, 0x2F or any other", .requirement("L136"),
    arguments: [0x25, 0x2F, 0x1A])
  func refused(reason: UInt8) throws {
    let reason = HCI.ErrorCode(rawValue: reason)
    let link = try LinkHarness()
    link.peripheral.answersKeyRequests(with: nil)
    // This link layer uses only one reason; other link layers use other reasons.
    let known = LL.ControlPDU.rejectExtInd(opcode: LL.ControlOpcode.encReq.rawValue, .pinOrKeyMissing)
    let other = LL.ControlPDU.rejectExtInd(opcode: LL.ControlOpcode.encReq.rawValue, reason)
    let pool = link.central.pool
    link.air.outcome = { sent in
      if sent.controlPDU == known { sent.packet.payload = other.payload(in: pool) }
      return .arrives
    }
    link.enableEncryption()
    link.runEvents(6)
    #expect(link.central.encryptionChanges == [.encryptionChange(reason, link.centralHandle, enabled: 0)])
    #expect(link.isAlive())
  }

  @Test("The controller has no key if the host has masked the Long Term Key Request event")
  func maskedKeyRequest() throws {
    let link = try LinkHarness()
    link.peripheral.send(.leSetEventMask(HCI.LEEventMask(rawValue: 0x0F)))
    link.enableEncryption()
    link.runEvents(6)
    #expect(link.central.encryptionChanges == [.encryptionChange(.pinOrKeyMissing, link.centralHandle, enabled: 0)])
    #expect(link.isAlive())
  }

  @Test("Different keys end the connection with a MIC failure at the first encrypted PDU")
  func differentKeys() throws {
    let link = try LinkHarness()
    link.peripheral.answersKeyRequests(with: 1)
    link.enableEncryption()
    link.runEvents(8)
    #expect(link.peripheral.disconnections == [.connectionTerminatedMICFailure])
    #expect(link.peripheral.encryptionChanges.isEmpty)
    link.air.run(for: .seconds(3))
    #expect(link.central.disconnections == [.connectionTimeout])
    #expect(!link.controlPDUs.contains { $0.pdu.opcode == .terminateInd })
  }

  @Test("A peer that does not know LL_ENC_REQ causes Unsupported Remote Feature")
  func unknownToPeer() throws {
    let link = try LinkHarness()
    link.air.outcome = { transmission in
      switch transmission.controlPDU {
      case .encReq?: transmission.packet.payload = ByteSlice([0x3F] + transmission.packet.payload.bytes.dropFirst())
      case .unknownRsp?: transmission.packet.payload = [0x07, 0x03]
      default: break
      }
      return .arrives
    }
    link.enableEncryption()
    link.runEvents(4)
    #expect(
      link.central.encryptionChanges == [.encryptionChange(.unsupportedRemoteFeature, link.centralHandle, enabled: 0)])
    #expect(link.isAlive())
  }

  @Test("No LL_ENC_REQ is sent to a peer whose features exclude encryption")
  func knownNotToEncrypt() throws {
    let link = try LinkHarness()
    link.air.outcome = { transmission in
      if case .featureRsp(let features)? = transmission.controlPDU {
        transmission.packet.payload = LL.ControlPDU.featureRsp(features & ~1).payload(in: PacketPool())
      }
      return .arrives
    }
    link.central.send(.leReadRemoteFeatures(link.centralHandle))
    link.runEvents(3)
    link.air.clearLog()
    link.enableEncryption()
    link.runEvents(3)
    #expect(
      link.central.encryptionChanges == [.encryptionChange(.unsupportedRemoteFeature, link.centralHandle, enabled: 0)])
    #expect(!link.air.log.contains { $0.controlPDU != nil })
    #expect(link.isAlive())
  }

  @Test("A peripheral with latency continues the encryption start as soon as its host has replied with the key")
  func latency() throws {
    let link = try LinkHarness(latency: 10, timeout: 600)
    link.enableEncryption()
    link.air.run(until: { !link.peripheral.events.isEmpty })
    link.air.run(for: .milliseconds(500))
    let start = link.air.now
    link.peripheral.send(.leLongTermKeyRequestReply(link.peripheralHandle, longTermKey: testKey))
    link.air.run(until: { !link.central.encryptionChanges.isEmpty })
    #expect(link.air.now - start < .milliseconds(150))
  }

  @Test("Encryption commands in the wrong state, or for an unknown connection, are refused")
  func wrongCommands() throws {
    let link = try LinkHarness()
    let nobody = HCI.ConnectionHandle(rawValue: 0x0EFF)
    let handle = link.peripheralHandle
    func enable(_ handle: HCI.ConnectionHandle) -> HCI.Command {
      .leEnableEncryption(handle, random: 0, encryptedDiversifier: 0, longTermKey: 0)
    }
    #expect(link.central.send(enable(nobody)) == .unknownConnectionIdentifier)
    #expect(link.peripheral.send(enable(handle)) == .commandDisallowed)
    let reply = HCI.Command.leLongTermKeyRequestReply(handle, longTermKey: 0)
    #expect(link.peripheral.complete(reply) == .handle(.commandDisallowed, handle))
    #expect(
      link.peripheral.complete(.leLongTermKeyRequestNegativeReply(handle)) == .handle(.commandDisallowed, handle))
    #expect(
      link.peripheral.complete(.leLongTermKeyRequestNegativeReply(nobody))
        == .handle(.unknownConnectionIdentifier, nobody))
    #expect(link.enableEncryption() == .success)
    #expect(link.enableEncryption() == .commandDisallowed)
  }
}
