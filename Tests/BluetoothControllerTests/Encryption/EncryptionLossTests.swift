import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("Encryption procedures with lost packets and collisions")
struct EncryptionLossTests {
  /// Starts encryption and refreshes it, while data pass in both directions.
  private func startAndRefresh(_ link: LinkHarness) {
    link.peripheral.answersKeyRequests()
    let started: HCI.Event = .encryptionChange(.success, link.centralHandle, enabled: 1)
    link.enableEncryption()
    for index in UInt8(0)..<20 {
      link.central.send([index], on: link.centralHandle)
      link.peripheral.send([index], on: link.peripheralHandle)
      link.runEvents(1)
      if link.central.encryptionChanges == [started] { link.enableEncryption() }
    }
    link.runEvents(30)
    #expect(link.central.encryptionChanges == [started, .encryptionKeyRefreshComplete(.success, link.centralHandle)])
    #expect(
      link.peripheral.encryptionChanges == [
        .encryptionChange(.success, link.peripheralHandle, enabled: 1),
        .encryptionKeyRefreshComplete(.success, link.peripheralHandle),
      ])
    let expected = (UInt8(0)..<20).map { ByteSlice([$0]) }
    #expect(link.central.data.map(\.payload) == expected)
    #expect(link.peripheral.data.map(\.payload) == expected)
  }

  @Test("Encryption completes if any one LL Control PDU or its acknowledgement is lost", arguments: 0..<13)
  func lostControlPDU(step: Int) throws {
    for lost in [PerfectAir.Outcome.lost, .corrupt] {
      for answersToo in [false, true] {
        let link = try LinkHarness()
        var seen = -1
        var last: [Int: Bool] = [:]
        var losesNext = false
        link.air.outcome = { transmission in
          defer { losesNext = false }
          if losesNext { return lost }
          guard let header = transmission.dataHeader,
            last.updateValue(header.sequenceNumber, forKey: transmission.device) != header.sequenceNumber,
            transmission.controlPDU != nil
          else { return .arrives }
          seen += 1
          guard seen == step else { return .arrives }
          // Loses either the PDU, or the packet after it that acknowledges it.
          losesNext = answersToo
          return answersToo ? .arrives : lost
        }
        startAndRefresh(link)
        #expect(seen == 12, "eight PDUs of the refresh follow five of the start")
      }
    }
  }

  @Test("Encryption completes if any one packet is lost", arguments: 0..<60)
  func lostPacket(number: Int) throws {
    let link = try LinkHarness()
    var count = 0
    link.air.outcome = { _ in
      count += 1
      return count == number ? .lost : .arrives
    }
    startAndRefresh(link)
  }

  @Test("Encryption completes if a quarter of all packets are lost", arguments: 1...8)
  func manyLost(seed: UInt64) throws {
    let link = try LinkHarness(timeout: 3_200)
    var random = RandomStream(seed: seed)
    link.air.outcome = { _ in
      switch random.next() % 8 {
      case 0: .lost
      case 1: .corrupt
      default: .arrives
      }
    }
    link.peripheral.answersKeyRequests()
    link.enableEncryption()
    link.air.run(until: { !link.central.encryptionChanges.isEmpty })
    link.enableEncryption()
    link.air.run(until: { link.peripheral.encryptionChanges.count == 2 && link.central.encryptionChanges.count == 2 })
    link.air.outcome = { _ in .arrives }
    #expect(link.isAlive())
    #expect(link.isAllEncrypted == false, "the start is in clear")
  }

  // MARK: Collisions

  @Test("A peripheral's request that crosses LL_ENC_REQ is answered after the encryption start")
  func crossingRequest() throws {
    let link = try LinkHarness()
    link.air.clearLog()
    link.enableEncryption()
    link.peripheral.send(.leReadRemoteFeatures(link.peripheralHandle))
    link.air.run(until: { !link.peripheral.events.filter(\.isKeyRequest).isEmpty })
    link.runEvents(5)
    #expect(link.peripheral.send(.leLongTermKeyRequestReply(link.peripheralHandle, longTermKey: testKey)) != nil)
    link.runEvents(8)
    #expect(link.peripheral.events.contains(.leReadRemoteFeaturesComplete(.success, link.peripheralHandle, .visible)))
    let opcodes = link.controlPDUs.map(\.pdu.opcode)
    let answer = try #require(opcodes.firstIndex(of: .featureRsp))
    let end = try #require(opcodes.lastIndex(of: .startEncRsp))
    #expect(answer > end)
    #expect(link.isAlive())
  }

  @Test("A procedure requested by the peripheral's host waits for the end of the start", arguments: [true, false])
  func requestOfPeripheralMeanwhile(isVersion: Bool) throws {
    let link = try LinkHarness()
    link.enableEncryption()
    link.air.run(until: { link.peripheral.events.contains(where: \.isKeyRequest) })
    let handle = link.peripheralHandle
    link.peripheral.send(isVersion ? .readRemoteVersionInformation(handle) : .leReadRemoteFeatures(handle))
    link.runEvents(4)
    link.peripheral.send(.leLongTermKeyRequestReply(handle, longTermKey: testKey))
    link.runEvents(8)
    #expect(link.peripheral.disconnections.isEmpty && link.central.disconnections.isEmpty)
    let hasAnswer = link.peripheral.events.contains {
      switch $0 {
      case .readRemoteVersionInformationComplete(.success, handle, _): isVersion
      case .leReadRemoteFeaturesComplete(.success, handle, _): !isVersion
      default: false
      }
    }
    #expect(hasAnswer)
    #expect(link.isAlive())
  }

  @Test("Encryption waits for the central's connection update, and starts after it")
  func afterUpdate() throws {
    let link = try LinkHarness()
    link.peripheral.acceptsParameters = true
    link.peripheral.answersKeyRequests()
    let parameters = LinkParameters(
      minimumInterval: 40, maximumInterval: 40, latency: 0, supervisionTimeout: 200)
    link.central.send(.leConnectionUpdate(link.centralHandle, parameters, .init()))
    link.enableEncryption()
    link.air.run(for: .seconds(2))
    let values = HCI.ConnectionValues(interval: 40, latency: 0, supervisionTimeout: 200)
    #expect(
      link.central.events.suffix(2) == [
        .leConnectionUpdateComplete(.success, link.centralHandle, values),
        .encryptionChange(.success, link.centralHandle, enabled: 1),
      ])
    #expect(link.isAlive())
  }

  @Test("A connection update that encryption delays has an instant in the future when it is finally sent")
  func heldBackUpdate() throws {
    let link = try LinkHarness()
    let parameters = LinkParameters(
      minimumInterval: 40, maximumInterval: 40, latency: 0, supervisionTimeout: 200)
    #expect(link.peripheral.send(.leConnectionUpdate(link.peripheralHandle, parameters, .init())) == .success)
    link.air.run(until: { link.central.events.contains(where: \.isParameterRequest) })
    link.enableEncryption()
    link.air.run(until: { link.peripheral.events.contains(where: \.isKeyRequest) })
    // The central's host accepts while LL_CONNECTION_UPDATE_IND must wait.
    let reply = HCI.Command.leRemoteConnectionParameterRequestReply(link.centralHandle, parameters, .init())
    #expect(link.central.send(reply) == .success)
    link.runEvents(20)
    link.peripheral.send(.leLongTermKeyRequestReply(link.peripheralHandle, longTermKey: testKey))
    link.runEvents(30)
    #expect(link.central.disconnections.isEmpty && link.peripheral.disconnections.isEmpty)
    let values = HCI.ConnectionValues(interval: 40, latency: 0, supervisionTimeout: 200)
    for (device, handle) in [(link.central, link.centralHandle), (link.peripheral, link.peripheralHandle)] {
      #expect(device.encryptionChanges == [.encryptionChange(.success, handle, enabled: 1)])
      #expect(device.events.last == .leConnectionUpdateComplete(.success, handle, values))
    }
    #expect(link.isAlive())
  }

  @Test("Either host may disconnect during the encryption start", arguments: [true, false], 0..<8)
  func disconnect(isCentral: Bool, events: Int) throws {
    let link = try LinkHarness()
    link.peripheral.answersKeyRequests()
    link.enableEncryption()
    link.runEvents(Int64(events))
    let (device, peer) = isCentral ? (link.central, link.peripheral) : (link.peripheral, link.central)
    let handle = isCentral ? link.centralHandle : link.peripheralHandle
    device.send(.disconnect(handle, reason: .remoteUserTerminatedConnection))
    link.runEvents(6)
    #expect(device.disconnections == [.connectionTerminatedByLocalHost])
    #expect(peer.disconnections == [.remoteUserTerminatedConnection])
  }

  // MARK: Time

  @Test("A host that never answers the Long Term Key Request loses the connection after 40 s")
  func procedureTimeout() throws {
    let link = try LinkHarness()
    link.enableEncryption()
    link.air.run(for: .seconds(39))
    #expect(link.central.disconnections.isEmpty && link.peripheral.disconnections.isEmpty)
    link.air.run(for: .seconds(4))
    #expect(link.central.disconnections == [.llResponseTimeout])
    #expect([[.llResponseTimeout], [.connectionTimeout]].contains(link.peripheral.disconnections))
  }
}

extension HCI.Event {
  fileprivate var isKeyRequest: Bool { if case .leLongTermKeyRequest = self { true } else { false } }
  fileprivate var isParameterRequest: Bool {
    if case .leRemoteConnectionParameterRequest = self { true } else { false }
  }
}
