import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("Authenticated payload timeout and LE Ping")
struct AuthenticatedPayloadTests {
  private func write(_ timeout: UInt16, on link: LinkHarness) {
    for (device, handle) in [(link.central, link.centralHandle), (link.peripheral, link.peripheralHandle)] {
      #expect(device.complete(.writeAuthenticatedPayloadTimeout(handle, timeout)) == .handle(.success, handle))
    }
  }

  @Test("The timeout is 30 s by default, and can't be shorter than a peripheral's latency permits")
  func setting() throws {
    let link = try LinkHarness(interval: 40, latency: 3, timeout: 400)
    let handle = link.centralHandle
    let read = HCI.Command.readAuthenticatedPayloadTimeout(handle)
    #expect(link.central.complete(read) == .authenticatedPayloadTimeout(handle, 3_000))
    for (timeout, status) in [
      (UInt16(0), HCI.ErrorCode.invalidHCICommandParameters), (19, .invalidHCICommandParameters), (20, .success),
    ] {
      #expect(link.central.complete(.writeAuthenticatedPayloadTimeout(handle, timeout)) == .handle(status, handle))
    }
    #expect(link.central.complete(read) == .authenticatedPayloadTimeout(handle, 20))
    let nobody = HCI.ConnectionHandle(rawValue: 0x0EFF)
    #expect(
      link.central.complete(.readAuthenticatedPayloadTimeout(nobody))
        == .handle(.unknownConnectionIdentifier, nobody))
  }

  @Test("On a quiet encrypted link LL_PING_REQ is sent shortly before the timeout, without an event for the hosts")
  func ping() throws {
    let link = try LinkHarness.encrypted()
    let start = link.air.now
    link.air.run(for: .seconds(100))
    let pings = link.air.log.filter { $0.controlPDU == .pingReq }
    #expect(3...4 ~= pings.count)
    let first = try #require(pings.first).start - start
    #expect(.seconds(29) < first && first < .seconds(30))
    #expect(link.central.events.isEmpty && link.peripheral.events.isEmpty)
    #expect(link.isAllEncrypted)
    #expect(link.isAlive())
  }

  @Test("Data with a MIC make LL_PING_REQ unnecessary")
  func data() throws {
    let link = try LinkHarness.encrypted()
    write(100, on: link)
    for index in UInt8(0)..<20 {
      link.central.send([index], on: link.centralHandle)
      link.peripheral.send([index], on: link.peripheralHandle)
      link.air.run(for: .milliseconds(500))
    }
    #expect(!link.air.log.contains { $0.controlPDU == .pingReq })
    #expect(link.central.data.count == 20 && link.peripheral.data.count == 20)
  }

  @Test("An unencrypted link has no authenticated payload timeout")
  func inClear() throws {
    let link = try LinkHarness()
    write(10, on: link)
    link.air.clearLog()
    link.air.run(for: .seconds(2))
    #expect(!link.air.log.contains { $0.controlPDU != nil })
    #expect(!link.central.events.contains(.authenticatedPayloadTimeoutExpired(link.centralHandle)))
  }

  @Test("A host gets an event each time the timeout passes without a packet with a MIC")
  func expiry() throws {
    let link = try LinkHarness.encrypted()
    // The peripheral's answer never arrives while its packets are empty.
    link.air.outcome = { transmission in
      if transmission.device == 0, !transmission.packet.payload.isEmpty { transmission.replace(with: .empty) }
      return .arrives
    }
    let handle = link.centralHandle
    link.central.complete(.writeAuthenticatedPayloadTimeout(handle, 50))
    link.air.run(for: .milliseconds(1_700))
    #expect(link.central.events.filter { $0 == .authenticatedPayloadTimeoutExpired(handle) }.count == 3)
    #expect(link.air.log.filter { $0.controlPDU == .pingReq }.count == 1, "one ping at a time")
    link.air.run(for: .seconds(40))
    #expect(link.central.disconnections == [.llResponseTimeout])
  }

  @Test("The event belongs to the second page of the event mask, and a host must enable it")
  func mask() throws {
    let link = try LinkHarness.encrypted()
    link.air.outcome = { transmission in
      if !transmission.packet.payload.isEmpty { transmission.replace(with: .empty) }
      return .arrives
    }
    link.central.send(.setEventMaskPage2([]))
    link.central.clear()
    link.central.complete(.writeAuthenticatedPayloadTimeout(link.centralHandle, 50))
    link.central.clear()
    link.air.run(for: .seconds(1))
    #expect(link.central.events.isEmpty)
  }
}
