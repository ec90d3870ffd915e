import BluetoothHost
import BluetoothWire
import Requirements
import TestSupport
import Testing

/// ACL data and its flow control · Vol 4, Part E, 4.1.
struct HostDataTests {
  private let uuid: BluetoothUUID = 0xFFF1

  private func bench(aclLength: UInt16 = 27, aclCount: UInt8 = 4) -> HostHarness {
    var bench = HostHarness()
    bench.facts.aclLength = aclLength
    bench.facts.aclCount = aclCount
    bench.powerOn()
    return bench
  }

  /// Returns the handle of a link as central whose MTU exchange is complete.
  private func link(_ bench: inout HostHarness, _ number: UInt16 = 0x40, mtu: UInt16 = 517) -> HCI.ConnectionHandle {
    let peer = DeviceAddress(UInt64(number) | 0xC000_0000_0000, .random)
    let handle = bench.link(.central, handle: number, to: peer)
    bench.receive(.attribute, [0x03, UInt8(truncatingIfNeeded: mtu), UInt8(truncatingIfNeeded: mtu >> 8)], on: handle)
    bench.completeAll()
    bench.forget()
    return handle
  }

  private func write(_ bench: inout HostHarness, _ count: Int, on handle: HCI.ConnectionHandle) {
    let value = ByteSlice([UInt8](repeating: 0x55, count: count))
    bench.perform { host, now in host.request(.writeWithoutResponse(3, value), token: 1, on: handle, at: now) }
  }

  @Test("A frame is fragmented to the controller's packet length, with the first fragment marked as such")
  func fragmentation() throws {
    var bench = bench(aclCount: 32)
    let handle = link(&bench)
    write(&bench, 100, on: handle)
    #expect(bench.data.map(\.payload.count) == [27, 27, 27, 26])
    #expect(bench.data.map(\.boundary) == [.firstNonFlushable, .continuing, .continuing, .continuing])
    let expected = [0x52, 3, 0] + [UInt8](repeating: 0x55, count: 100)
    #expect(try bench.payloads(on: handle, .attribute) == [expected])
  }

  @Test("The controller never has more packets than buffers, and gets the next packet as one completes")
  func credits() throws {
    var bench = bench()
    let handle = link(&bench)
    for _ in 0..<3 { write(&bench, 40, on: handle) }
    #expect(bench.data.count == 4)
    bench.receive(.numberOfCompletedPackets(HCI.CompletedPackets(handle, count: 1, in: bench.pool)))
    #expect(bench.data.count == 5)
    bench.receive(.numberOfCompletedPackets(HCI.CompletedPackets(handle, count: 3, in: bench.pool)))
    #expect(bench.data.count == 6)
    #expect(try bench.payloads(on: handle, .attribute).count == 3)
  }

  @Test("A write without a response completes only when the controller has accepted it")
  func backPressure() {
    var bench = bench()
    let handle = link(&bench)
    func completed(_ bench: HostHarness) -> Int {
      bench.events.count { if case .gatt(_, .completed) = $0 { true } else { false } }
    }
    for _ in 0..<6 { write(&bench, 20, on: handle) }
    #expect(completed(bench) == 4)
    bench.receive(.numberOfCompletedPackets(HCI.CompletedPackets(handle, count: 1, in: bench.pool)))
    #expect(completed(bench) == 5)
  }

  @Test("H3: completed packets of an unknown link, or more than were sent, add no room beyond the buffers")
  func clampedCredits() {
    var bench = bench()
    let handle = link(&bench)
    for _ in 0..<12 { write(&bench, 20, on: handle) }
    let unknown = HCI.ConnectionHandle(rawValue: 0x99)
    bench.receive(.numberOfCompletedPackets(HCI.CompletedPackets(unknown, count: 4, in: bench.pool)))
    #expect(bench.data.count == 4)
    bench.receive(.numberOfCompletedPackets(HCI.CompletedPackets(handle, count: 0xFFFF, in: bench.pool)))
    #expect(bench.data.count == 8)
    #expect(bench.host.metrics.unknownLinks == 1)
  }

  @Test("H3: Number Of Completed Packets with more handles than octets is dropped as a whole")
  func truncatedCredits() {
    var bench = bench()
    let handle = link(&bench)
    for _ in 0..<12 { write(&bench, 20, on: handle) }
    bench.receive(.unknown(code: 0x13, [2, 0x40, 0, 4, 0]))
    #expect(bench.data.count == 4)
    #expect(bench.host.metrics.malformedEvents == 1)
  }

  @Test("H10: a link that ends returns its controller buffers, ten thousand times")
  func creditsReturn() {
    var bench = bench()
    for _ in 0..<10_000 {
      let handle = bench.link(.peripheral)
      // Four answers without completion: Exchange MTU, and Read Request of the Device Name.
      bench.receive(.attribute, [0x02, 0x17, 0x00], on: handle)
      for _ in 0..<3 { bench.receive(.attribute, [0x0A, 0x03, 0x00], on: handle) }
      guard bench.data.count == 4 else {
        Issue.record("\(bench.data.count) packets")
        return
      }
      bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTimeout))
      bench.forget()
    }
    #expect(bench.pool.count < 64)
  }

  @Test("A link whose peer does not answer leaves the other links their share")
  func share() throws {
    var bench = bench()
    let stuck = link(&bench, 0x40)
    let other = link(&bench, 0x41)
    for _ in 0..<8 { write(&bench, 20, on: stuck) }
    #expect(bench.data.count == 2)
    write(&bench, 20, on: other)
    #expect(try bench.payloads(on: other, .attribute).count == 1)
  }

  @Test("Two links take turns when the controller's buffers are full")
  func turns() {
    var bench = bench(aclCount: 2)
    let one = link(&bench, 0x40)
    let two = link(&bench, 0x41)
    for handle in [one, two] { for _ in 0..<10 { write(&bench, 20, on: handle) } }
    bench.completeAll()
    bench.forget()
    for _ in 0..<3 { for handle in [one, two] { write(&bench, 20, on: handle) } }
    #expect(bench.data.map(\.handle) == [one, two])
  }

  @Test("A fragmented frame is answered like an unfragmented one")
  func reassembly() throws {
    var bench = bench()
    let handle = bench.link(.peripheral)
    bench.receive([3, 0, 4], on: handle)
    bench.receive([0, 0x0A, 0x03], on: handle, .continuing)
    #expect(bench.data.isEmpty)
    bench.receive([0x00], on: handle, .continuing)
    #expect(try bench.payloads(on: handle, .attribute) == [[0x0B] + Array("Bench".utf8)])
  }

  @Test("Channels 4, 5 and 6 carry ATT, LE signalling and the Security Manager", .requirement("L137"))
  func fixedChannels() throws {
    var configuration = HostConfiguration(deviceName: "Bench", address: HostHarness.address)
    configuration.pairing.isPairable = false
    var bench = HostHarness(configuration: configuration)
    bench.powerOn()
    let handle = bench.link(.peripheral)
    // The Device Name is read; a code that LE does not define is rejected; pairing is not supported.
    for (channel, request, answer) in [
      (4, [0x0A, 3, 0], [0x0B] + Array("Bench".utf8)), (5, [0x0F, 5, 0, 0], [0x01, 5, 2, 0, 0, 0]),
      (6, [0x01, 3, 0, 1, 16, 0, 1], [0x05, 0x05]),
    ] as [(UInt16, [UInt8], [UInt8])] {
      let channel = L2CAP.ChannelID(rawValue: channel)
      bench.receive(channel, request, on: handle)
      #expect(try bench.payloads(on: handle, channel) == [answer])
    }
  }

  @Test("L8: frames for channels that do not exist are dropped", .requirement("L137"))
  func unknownChannels() {
    var bench = bench()
    let handle = bench.link(.peripheral)
    for channel: UInt16 in [0, 1, 2, 3, 7, 0x40, 0xFFFF] {
      bench.receive(L2CAP.ChannelID(rawValue: channel), [1, 2, 3], on: handle)
    }
    #expect(bench.data.isEmpty)
    #expect(bench.host.metrics.droppedFrames == 7)
  }

  @Test("A host without pairing answers Pairing Request with Pairing Not Supported")
  func pairing() throws {
    var configuration = HostConfiguration(deviceName: "Bench", address: HostHarness.address)
    configuration.pairing.isPairable = false
    var bench = HostHarness(configuration: configuration)
    bench.powerOn()
    let peripheral = bench.link(.peripheral, handle: 1)
    bench.receive(.securityManager, [0x01, 3, 0, 1, 16, 0, 1], on: peripheral)
    #expect(try bench.payloads(on: peripheral, .securityManager) == [[0x05, 0x05]])
    let central = bench.link(.central, handle: 2, to: DeviceAddress(8, .public))
    bench.receive(.securityManager, [0x0B, 1], on: central)
    #expect(try bench.payloads(on: central, .securityManager) == [[0x05, 0x05]])
  }

  @Test("P13: unknown Security Manager commands, empty frames and Pairing Failed get no answer")
  func strayPairing() throws {
    var bench = bench()
    let handle = bench.link(.peripheral)
    for code: UInt8 in [0, 5, 0x0F, 0xFF] { bench.receive(.securityManager, [code, 1], on: handle) }
    bench.receive(.securityManager, [], on: handle)
    #expect(bench.data.isEmpty)
  }

  @Test("A request without an answer for 30 s ends the link", .requirement("L143"))
  func transactionTimeout() {
    var bench = bench()
    let handle = bench.link(.central)
    bench.forget()
    #expect(bench.host.deadline == .zero + .seconds(30))
    bench.passToDeadline()
    #expect(bench.commands == [.disconnect(handle, reason: .remoteUserTerminatedConnection)])
  }
}
