import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

/// The accounting of the controller's buffers · Vol 4, Part E, 4.1, 4.3.
struct BufferAccountingTests {
  /// A controller that counts its packets, and a host that answers signalling commands.
  private struct Counted {
    var bench = HostHarness()
    /// The number of packets in the controller, for each link.
    var held: [HCI.ConnectionHandle: Int] = [:]
    var most = 0

    init(aclLength: UInt16, aclCount: UInt8) {
      bench.facts.aclLength = aclLength
      bench.facts.aclCount = aclCount
      bench.powerOn()
    }

    mutating func take() {
      for packet in bench.data { held[packet.handle, default: 0] += 1 }
      bench.forget()
      most = max(most, held.values.reduce(0, +))
    }

    mutating func complete(_ handle: HCI.ConnectionHandle, _ count: Int) {
      held[handle, default: 0] -= count
      bench.receive(.numberOfCompletedPackets(HCI.CompletedPackets(handle, count: UInt16(count), in: bench.pool)))
      take()
    }

    /// Sends an unknown command; the host has to send an answer of ten octets.
    mutating func ask(_ handle: HCI.ConnectionHandle) {
      bench.receive(.signalling, [0xFE, 7, 0, 0], on: handle)
      take()
    }

    mutating func open(_ number: UInt16) {
      bench.link(.peripheral, handle: number, to: DeviceAddress(UInt64(number) | 0xC000_0001_0000, .random))
      take()
    }

    mutating func close(_ handle: HCI.ConnectionHandle) {
      held[handle] = nil
      bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTimeout))
      take()
    }
  }

  @Test(
    "H10 After ten thousand links that end with packets in the controller, the buffer count is right",
    arguments: [(27, 4), (4, 8), (251, 1)] as [(UInt16, UInt8)])
  func cycles(_ length: UInt16, _ count: UInt8) throws {
    var random = RandomStream(seed: UInt64(length))
    var counted = Counted(aclLength: length, aclCount: count)
    for cycle in 0..<10_000 {
      let number = UInt16(random.next() % 4)
      let handle = HCI.ConnectionHandle(rawValue: number)
      if !counted.bench.host.links.contains(where: { $0.handle == handle }) {
        counted.open(number)
        continue
      }
      switch random.next() % 6 {
      case 0: counted.close(handle)
      case 1, 2:
        let held = counted.held[handle] ?? 0
        if held > 0 { counted.complete(handle, 1 + Int(random.next() % UInt64(held))) }
      case 3:
        // A late report for a link that does not exist.
        counted.bench.receive(
          .numberOfCompletedPackets(
            HCI.CompletedPackets(HCI.ConnectionHandle(rawValue: 9), count: 3, in: counted.bench.pool)))
        counted.take()
      default: for _ in 0..<1 + random.next() % 5 { counted.ask(handle) }
      }
      guard counted.most <= Int(count) else {
        Issue.record("\(counted.most) packets after \(cycle) cycles")
        return
      }
    }
    #expect(counted.most == Int(count))
    for link in counted.bench.host.links { counted.close(link.handle) }
    // All buffers are free again, for one link.
    counted.open(0x42)
    for _ in 0..<12 { counted.ask(HCI.ConnectionHandle(rawValue: 0x42)) }
    #expect(counted.held[HCI.ConnectionHandle(rawValue: 0x42)] == Int(count))
    while let held = counted.held[HCI.ConnectionHandle(rawValue: 0x42)], held > 0 {
      counted.complete(HCI.ConnectionHandle(rawValue: 0x42), held)
    }
    #expect(counted.bench.pool.count < 128)
    try counted.bench.expectWorking(secondLink: nil)
  }

  @Test("H10 A packet that completes while the next one is being handed over counts once")
  func completedAtOnce() throws {
    var (bench, secondLink) = HostHarness.withSecondLink()
    var taken = 0
    for _ in 0..<10_000 {
      bench.host.receive(
        .acl(
          HCI.ACLData(
            handle: secondLink, boundary: .firstFlushable,
            payload: ByteSlice(HostHarness.frame(.signalling, [0xFE, 7, 0, 0])))
        ),
        at: bench.now)
      while let packet = bench.host.takePacket() {
        guard case .acl(let data) = packet else { continue }
        taken += 1
        bench.send(.numberOfCompletedPackets(HCI.CompletedPackets(data.handle, count: 1, in: bench.pool)))
      }
    }
    #expect(taken == 10_000)
    try bench.expectWorking(secondLink: secondLink)
  }

  @Test(
    "Late completed packets of an ended link do not add room to its successor with the same handle"
  )
  func reusedHandle() {
    var counted = Counted(aclLength: 27, aclCount: 4)
    let handle = HCI.ConnectionHandle(rawValue: 1)
    counted.open(1)
    for _ in 0..<8 { counted.ask(handle) }
    #expect(counted.held[handle] == 4)
    counted.close(handle)
    counted.bench.receive(.numberOfCompletedPackets(HCI.CompletedPackets(handle, count: 4, in: counted.bench.pool)))
    counted.open(1)
    counted.bench.receive(.numberOfCompletedPackets(HCI.CompletedPackets(handle, count: 4, in: counted.bench.pool)))
    for _ in 0..<8 { counted.ask(handle) }
    #expect(counted.held[handle] == 4)
  }

  @Test("A link that ends in the middle of a frame keeps no buffer, and no fragment of it reaches the next link")
  func endInTheMiddle() {
    var counted = Counted(aclLength: 4, aclCount: 2)
    let (first, second) = (HCI.ConnectionHandle(rawValue: 1), HCI.ConnectionHandle(rawValue: 2))
    counted.open(1)
    counted.ask(first)
    #expect(counted.held[first] == 2)
    counted.close(first)
    counted.open(2)
    counted.ask(second)
    counted.complete(second, 2)
    // The third fragment has ten octets.
    #expect(counted.held[second] == 1)
    counted.complete(second, 1)
    counted.open(1)
    #expect(counted.held[first, default: 0] == 0)
  }
}
