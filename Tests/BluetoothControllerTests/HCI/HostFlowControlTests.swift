import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("Flow control from controller to host")
struct HostFlowControlTests {
  /// Returns a link whose peripheral's host has room for `count` packets of `length` octets.
  private func link(count: UInt16, length: UInt16 = 251) throws -> LinkHarness {
    try LinkHarness(prepare: { _, peripheral in
      #expect(peripheral.send(.hostBufferSize(HCI.BufferSize(aclLength: length, aclCount: count))) == .success)
      #expect(peripheral.send(.setControllerToHostFlowControl(.acl)) == .success)
    })
  }

  private func complete(_ count: UInt16, of link: LinkHarness) {
    let packets = HCI.CompletedPackets(link.peripheralHandle, count: count, in: link.peripheral.pool)
    link.peripheral.send(.hostNumberOfCompletedPackets(packets))
  }

  private func send(_ numbers: Range<UInt8>, on link: LinkHarness) {
    for number in numbers { link.central.send([number], on: link.centralHandle) }
  }

  @Test("ACL data wait while the host has no room, and follow in order when it has")
  func waits() throws {
    let link = try link(count: 2)
    send(0..<5, on: link)
    link.runEvents(10)
    #expect(link.peripheral.data.map(\.payload) == [[0], [1]])
    complete(1, of: link)
    #expect(link.peripheral.data.map(\.payload) == [[0], [1], [2]])
    complete(2, of: link)
    #expect(link.peripheral.data.map(\.payload) == [[0], [1], [2], [3], [4]])
    #expect(link.peripheral.events.isEmpty)
  }

  @Test(
    "S11: data without room at the host are not acknowledged, the link stays alive, and nothing is lost",
    .requirement("L131"))
  func notAcknowledged() throws {
    let link = try link(count: 1)
    send(0..<40, on: link)
    link.air.run(for: .seconds(10))
    #expect(link.peripheral.data.map(\.payload) == [[0]])
    // One at the host, and sixteen waiting.
    #expect(link.central.completedPackets == 17)
    while link.peripheral.data.count < 40 {
      let before = link.peripheral.data.count
      complete(1, of: link)
      link.runEvents(2)
      try #require(link.peripheral.data.count > before)
    }
    #expect(link.peripheral.data.map(\.payload) == (0..<40).map { [$0] })
    #expect(link.central.disconnections.isEmpty && link.peripheral.disconnections.isEmpty)
    #expect(link.central.completedPackets == 40)
    complete(1, of: link)
    #expect(link.peripheral.servesLateJoiner())
  }

  @Test("Data of a held link stay at the peer, other links continue, and nothing is lost")
  func heldLink() throws {
    let link = try LinkHarness(attacked: .peripheral)
    link.peripheral.controller.holdLinks([link.peripheralHandle])
    send(0..<5, on: link)
    link.air.run(for: .seconds(10))
    #expect(!link.peripheral.data.contains { $0.handle == link.peripheralHandle })
    #expect(link.central.completedPackets == 0)
    #expect(link.central.disconnections.isEmpty && link.peripheral.disconnections.isEmpty)
    #expect(link.secondLinksWork())
    link.peripheral.controller.holdLinks([])
    link.runEvents(10)
    let octets = link.peripheral.data.filter { $0.handle == link.peripheralHandle }.map(\.payload)
    #expect(octets == [[0], [1], [2], [3], [4]])
  }

  @Test("Packets longer than the host's buffers arrive in fragments")
  func parts() throws {
    let link = try link(count: 10, length: 27)
    link.central.send([UInt8](0..<60), on: link.centralHandle)
    link.runEvents(4)
    #expect(link.peripheral.data.flatMap(\.payload.bytes) == [UInt8](0..<60))
    #expect(link.peripheral.data.allSatisfy { $0.payload.count <= 27 })
    #expect(link.peripheral.data.map { $0.boundary == .firstFlushable } == [true, false, false])
  }

  @Test("A completed packet count beyond the host's, or for an unknown connection, is refused with 0x12 and ignored")
  func overrun() throws {
    let link = try link(count: 1)
    send(0..<3, on: link)
    link.runEvents(3)
    complete(2, of: link)
    let refusal = HCI.Event.commandComplete(
      credits: 1, .hostNumberOfCompletedPackets, .status(.invalidHCICommandParameters))
    #expect(link.peripheral.events == [refusal])
    let other = HCI.CompletedPackets(HCI.ConnectionHandle(rawValue: 0x0777), count: 1, in: link.peripheral.pool)
    link.peripheral.send(.hostNumberOfCompletedPackets(other))
    #expect(link.peripheral.events == [refusal, refusal])
    #expect(link.peripheral.data.map(\.payload) == [[0]])
    complete(1, of: link)
    #expect(link.peripheral.data.map(\.payload) == [[0], [1]])
  }

  @Test("Packets that the host held for an ended connection no longer count")
  func disconnection() throws {
    let link = try link(count: 1)
    send(0..<3, on: link)
    link.runEvents(3)
    link.central.send(.disconnect(link.centralHandle, reason: .remoteUserTerminatedConnection))
    link.runEvents(3)
    #expect(link.peripheral.disconnections == [.remoteUserTerminatedConnection])
    #expect(link.peripheral.data.map(\.payload) == [[0]])
    link.peripheral.clear()
    link.peripheral.advertise()
    link.central.connect(to: link.peripheral)
    link.air.run(until: { !link.central.connectionCompletes.isEmpty && !link.peripheral.connectionCompletes.isEmpty })
    let handle = try #require(link.central.connectionCompletes.first).handle
    link.central.send([9], on: handle)
    link.runEvents(3)
    #expect(link.peripheral.data.map(\.payload) == [[9]])
  }

  @Test("Flow control is refused for synchronous data, during connections, and with buffers that are too small")
  func refusals() throws {
    let link = try LinkHarness()
    let device = link.central
    #expect(device.send(.setControllerToHostFlowControl(.acl)) == .commandDisallowed)
    #expect(device.send(.setControllerToHostFlowControl(.synchronous)) == .unsupportedFeatureOrParameterValue)
    #expect(device.send(.setControllerToHostFlowControl(.aclAndSynchronous)) == .unsupportedFeatureOrParameterValue)
    for size in [HCI.BufferSize(aclLength: 26, aclCount: 1), HCI.BufferSize(aclLength: 27, aclCount: 0)] {
      #expect(device.send(.hostBufferSize(size)) == .invalidHCICommandParameters)
    }
  }

  @Test("A reset disables flow control, and the controller then ignores the host's counts")
  func off() throws {
    let link = try link(count: 1)
    link.peripheral.send(.reset)
    link.air.run(for: .seconds(4))
    link.peripheral.start()
    link.central.clear()
    link.peripheral.advertise()
    link.central.connect(to: link.peripheral)
    link.air.run(until: { !link.central.connectionCompletes.isEmpty && !link.peripheral.connectionCompletes.isEmpty })
    let handle = try #require(link.central.connectionCompletes.first).handle
    link.peripheral.clear()
    for number in UInt8(0)..<5 { link.central.send([number], on: handle) }
    link.runEvents(4)
    #expect(link.peripheral.data.count == 5)
    complete(3, of: link)
    #expect(link.peripheral.events.isEmpty)
  }
}
