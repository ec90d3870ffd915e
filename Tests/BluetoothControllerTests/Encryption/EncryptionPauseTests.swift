import BluetoothRadio
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("Encryption pause and refresh")
struct EncryptionPauseTests {
  @Test(
    "LE Enable Encryption on an encrypted link pauses encryption and restarts it with the new key", .requirement("L133")
  )
  func refresh() throws {
    let link = try LinkHarness.encrypted()
    link.peripheral.answersKeyRequests(with: 7)
    #expect(link.enableEncryption(key: 7) == .success)
    link.runEvents(8)
    #expect(link.central.encryptionChanges == [.encryptionKeyRefreshComplete(.success, link.centralHandle)])
    #expect(link.peripheral.encryptionChanges == [.encryptionKeyRefreshComplete(.success, link.peripheralHandle)])
    #expect(
      link.controlPDUs.map(\.pdu.opcode) == [
        .pauseEncReq, .pauseEncRsp, .pauseEncRsp, .encReq, .encRsp, .startEncReq, .startEncRsp, .startEncRsp,
      ])
    let isEncrypted = link.air.log.filter { $0.controlPDU != nil }.map { $0.packet.plainPayload != nil }
    #expect(isEncrypted == [true, true, false, false, false, false, true, true])
    #expect(link.isAlive())
  }

  @Test("Data wait while encryption is paused, and are never sent unencrypted")
  func dataWaits() throws {
    let link = try LinkHarness.encrypted()
    link.enableEncryption()
    var sent: [ByteSlice] = []
    for index in UInt8(0)..<10 {
      link.central.send([index], on: link.centralHandle)
      link.peripheral.send([index], on: link.peripheralHandle)
      sent.append([index])
      link.runEvents(1)
    }
    link.runEvents(4)
    #expect(link.central.data.map(\.payload) == sent && link.peripheral.data.map(\.payload) == sent)
    let data = link.air.log.filter { $0.dataHeader?.llid == .start }
    #expect(data.count == 20 && data.allSatisfy { $0.packet.plainPayload != nil })
  }

  @Test("The peripheral ends the connection if its host has no key for the refresh")
  func noKey() throws {
    let link = try LinkHarness.encrypted()
    link.peripheral.answersKeyRequests(with: nil)
    link.enableEncryption()
    link.central.send([0xAA], on: link.centralHandle)
    link.runEvents(10)
    #expect(link.peripheral.disconnections == [.pinOrKeyMissing])
    #expect(link.central.disconnections == [.pinOrKeyMissing])
    #expect(link.peripheral.data.isEmpty)
  }

  @Test("The central keeps the current key if the peripheral refuses the pause", arguments: [true, false])
  func pauseRefused(isUnknown: Bool) throws {
    let link = try LinkHarness.encrypted()
    let encryption = link.peripheral.controller.connections[0].encryption
    var session = try #require(encryption.session)
    let refusal: LL.ControlPDU =
      isUnknown
      ? .unknownRsp(LL.ControlOpcode.pauseEncReq.rawValue)
      : .rejectExtInd(opcode: LL.ControlOpcode.pauseEncReq.rawValue, .unspecifiedError)
    var pdu = OutgoingPDU(llid: .control, payload: refusal.payload(in: PacketPool()), meaning: .none)
    session.seal(&pdu)
    link.air.outcome = { transmission in
      if case .pauseEncRsp? = transmission.controlPDU, transmission.device == 1 { transmission.replace(with: pdu) }
      return .arrives
    }
    link.enableEncryption()
    link.runEvents(2)
    #expect(
      link.central.encryptionChanges == [
        .encryptionKeyRefreshComplete(isUnknown ? .unsupportedRemoteFeature : .unspecifiedError, link.centralHandle)
      ])
    let centralEncryption = link.central.controller.connections[0].encryption
    #expect(centralEncryption.isOn)
  }

  @Test("A central that pauses encryption and sends nothing more loses the connection after 40 s")
  func pausedForEver() throws {
    let link = try LinkHarness.encrypted()
    link.air.outcome = { transmission in
      // The packet counts as received, so the link itself stays alive.
      if case .encReq? = transmission.controlPDU { transmission.replace(with: .empty) }
      return .arrives
    }
    link.enableEncryption()
    link.air.run(for: .seconds(39))
    #expect(link.peripheral.disconnections.isEmpty)
    link.air.run(for: .seconds(2))
    #expect(link.peripheral.disconnections == [.llResponseTimeout])
  }
}
