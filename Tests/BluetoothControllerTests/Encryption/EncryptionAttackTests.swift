import BluetoothRadio
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("Attacks on encryption")
struct EncryptionAttackTests {
  /// Runs until `victim` has ended the connection for a MIC failure. Its peer then receives nothing more, not even
  /// LL_TERMINATE_IND, and neither host has received any data.
  private func expectMICFailure(of victim: KeyPath<LinkHarness, ControllerHarness>, on link: LinkHarness) {
    let peer = victim == \.central ? link.peripheral : link.central
    let victim = link[keyPath: victim]
    #expect(link.air.run(until: { !victim.disconnections.isEmpty }, limit: .seconds(1)))
    #expect(victim.disconnections == [.connectionTerminatedMICFailure])
    link.air.run(for: .seconds(3))
    #expect(peer.disconnections == [.connectionTimeout])
    #expect(!link.controlPDUs.contains { $0.pdu.opcode == .terminateInd })
    #expect(victim.data.isEmpty && peer.data.isEmpty)
    #expect(link.secondLinksWork())
  }

  /// Applies `change` to one new packet of `device` that meets `condition`.
  private func replace(
    on link: LinkHarness, from device: Int,
    where condition: @escaping (PerfectAir.Transmission) -> Bool = { _ in true },
    by change: @escaping (inout PerfectAir.Transmission) -> Void
  ) {
    let accessAddress = link.accessAddress
    var isDone = false
    link.air.outcome = { transmission in
      guard !isDone, transmission.device == device, transmission.packet.accessAddress == accessAddress,
        condition(transmission)
      else { return .arrives }
      isDone = true
      change(&transmission)
      return .arrives
    }
  }

  @Test("S17: LL_PAUSE_ENC_REQ on an unencrypted link is rejected")
  func pauseInClear() throws {
    let link = try LinkHarness(attacked: [.central, .peripheral])
    #expect(link.injectFromCentral([0x0A]) == [[0x11, 0x0A, 0x24]])
    #expect(link.injectFromPeripheral([0x0A]) == [[0x07, 0x0A]])
    #expect(link.isAlive())
  }

  @Test("S17: an unencrypted LL_PAUSE_ENC_REQ on an encrypted link is a MIC failure")
  func pauseInClearWhileEncrypted() throws {
    let link = try LinkHarness.encrypted(attacked: .peripheral)
    replace(on: link, from: 0) { $0.replace(with: OutgoingPDU(llid: .control, payload: [0x0A], meaning: .none)) }
    expectMICFailure(of: \.peripheral, on: link)
  }

  @Test(
    "S17: the peripheral never delivers unencrypted data that replace the next PDU after a pause",
    arguments: [LL.ControlOpcode.pauseEncRsp, .encReq, .startEncRsp])
  func dataAfterPause(opcode: LL.ControlOpcode) throws {
    let link = try LinkHarness.encrypted(attacked: .peripheral)
    replace(
      on: link, from: 0, where: { $0.controlPDU?.opcode == opcode }, by: { $0.replace(with: .data([1, 2, 3, 4, 5])) })
    link.enableEncryption()
    expectMICFailure(of: \.peripheral, on: link)
  }

  @Test(
    "S17: the central never delivers unencrypted data that replace the next PDU after a pause",
    arguments: [LL.ControlOpcode.encRsp, .startEncReq, .startEncRsp])
  func dataOfPeripheralAfterPause(opcode: LL.ControlOpcode) throws {
    let link = try LinkHarness.encrypted(attacked: .central)
    replace(
      on: link, from: 1, where: { $0.controlPDU?.opcode == opcode }, by: { $0.replace(with: .data([1, 2, 3, 4, 5])) })
    link.enableEncryption()
    expectMICFailure(of: \.central, on: link)
  }

  @Test(
    "A rejection after a pause does not return the link to unencrypted data",
    arguments: [LL.ControlOpcode.encRsp, .startEncReq])
  func refusalAfterPause(opcode: LL.ControlOpcode) throws {
    let link = try LinkHarness.encrypted()
    let refusal = LL.ControlPDU.rejectExtInd(opcode: LL.ControlOpcode.encReq.rawValue, .pinOrKeyMissing)
    replace(
      on: link, from: 1, where: { $0.controlPDU?.opcode == opcode },
      by: {
        $0.replace(with: OutgoingPDU(llid: .control, payload: refusal.payload(in: PacketPool()), meaning: .none))
      })
    link.enableEncryption()
    link.central.send([0xAA], on: link.centralHandle)
    expectMICFailure(of: \.central, on: link)
  }

  @Test(
    "Data in the middle of the encryption start end the connection",
    arguments: [(0, LL.ControlOpcode.startEncRsp), (1, .startEncReq), (1, .startEncRsp)])
  func dataInTheMiddle(device: Int, opcode: LL.ControlOpcode) throws {
    let link = try LinkHarness()
    link.peripheral.answersKeyRequests()
    replace(
      on: link, from: device, where: { $0.controlPDU?.opcode == opcode },
      by: {
        $0.replace(with: .data([1, 2, 3, 4, 5]))
      })
    link.enableEncryption()
    expectMICFailure(of: device == 0 ? \.peripheral : \.central, on: link)
  }

  @Test("S22: a frame that is injected into an encrypted link is a MIC failure", arguments: [1, 4, 5, 20])
  func injection(length: Int) throws {
    let link = try LinkHarness.encrypted(attacked: .peripheral)
    replace(on: link, from: 0) { $0.replace(with: .data(ByteSlice(Array(repeating: 7, count: length)))) }
    expectMICFailure(of: \.peripheral, on: link)
  }

  @Test("S22: a frame that is injected into an unencrypted link is delivered, and the link continues")
  func injectionInClear() throws {
    let link = try LinkHarness(attacked: .peripheral)
    replace(on: link, from: 0) { $0.replace(with: .data([7, 7])) }
    link.runEvents(2)
    #expect(link.peripheral.data.map(\.payload) == [[7, 7]])
    #expect(link.isAlive())
  }

  @Test("S23: a wrong bit anywhere is a MIC failure", .requirement("L097"), arguments: [0, 3, 4, 6])
  func wrongBit(octet: Int) throws {
    let link = try LinkHarness.encrypted(attacked: .peripheral)
    replace(
      on: link, from: 0, where: { !$0.packet.payload.isEmpty },
      by: { transmission in
        var bytes = transmission.packet.payload.bytes
        bytes[octet] ^= 0x10
        transmission.packet.payload = ByteSlice(bytes)
      })
    link.central.send([1, 2, 3], on: link.centralHandle)
    expectMICFailure(of: \.peripheral, on: link)
  }

  @Test("S23: a replayed packet is a MIC failure, and the key remains valid", arguments: [true, false])
  func replay(fromCentral: Bool) throws {
    let link = try LinkHarness.encrypted(attacked: fromCentral ? .peripheral : .central)
    let (sender, handle) = fromCentral ? (link.central, link.centralHandle) : (link.peripheral, link.peripheralHandle)
    sender.send([1, 2, 3], on: handle)
    link.runEvents(2)
    let recorded = try #require(
      link.air.log.first { $0.packet.accessAddress == link.accessAddress && !$0.packet.payload.isEmpty })
    link.central.clear()
    link.peripheral.clear()
    replace(on: link, from: sender.number) {
      $0.replace(with: OutgoingPDU(llid: .start, payload: recorded.packet.payload, meaning: .none))
    }
    expectMICFailure(of: fromCentral ? \.peripheral : \.central, on: link)

    link.air.outcome = { _ in .arrives }
    link.central.clear()
    link.peripheral.clear()
    link.peripheral.advertise()
    link.central.connect(to: link.peripheral)
    link.air.run(until: { !link.central.connectionCompletes.isEmpty })
    let again = try #require(link.central.connectionCompletes.first).handle
    link.central.send(
      .leEnableEncryption(
        again, random: testRandom, encryptedDiversifier: testDiversifier, longTermKey: testKey))
    link.air.run(until: { !link.central.encryptionChanges.isEmpty })
    #expect(link.central.encryptionChanges == [.encryptionChange(.success, again, enabled: 1)])
  }

  @Test("S16: unsolicited encryption PDUs change nothing")
  func stray() throws {
    let link = try LinkHarness(attacked: [.central, .peripheral])
    let response = [UInt8(0x04)] + Array(repeating: 0, count: 12)
    for payload in [response, [0x06], [0x0B]] {
      #expect(link.injectFromCentral(payload).isEmpty)
      #expect(link.injectFromPeripheral(payload).isEmpty)
    }
    #expect(link.injectFromCentral([0x05]) == [[0x07, 0x05]])
    #expect(link.injectFromPeripheral([0x05]) == [[0x07, 0x05]])
    let request = [UInt8(0x03)] + Array(repeating: 0, count: 22)
    #expect(link.injectFromPeripheral(request) == [[0x07, 0x03]])
    #expect(link.isAlive())
  }

  @Test("LL_ENC_REQ on an encrypted link without a pause is rejected")
  func requestWithoutPause() throws {
    let link = try LinkHarness.encrypted()
    let encryption = link.central.controller.connections[0].encryption
    var session = try #require(encryption.session)
    let request = LL.ControlPDU.encReq(
      random: 0, encryptedDiversifier: 0, LL.SessionPart(diversifier: 0, initializationVector: 0))
    var pdu = OutgoingPDU(llid: .control, payload: request.payload(in: PacketPool()), meaning: .none)
    session.seal(&pdu)
    replace(on: link, from: 0) { $0.replace(with: pdu) }
    link.runEvents(2)
    #expect(link.controlPDUs.map(\.pdu) == [.rejectExtInd(opcode: 0x03, .lmpPDUNotAllowed)])
    #expect(link.peripheral.events.isEmpty)
  }
}
