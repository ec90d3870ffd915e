import BluetoothWire
import Requirements
import Testing

@testable import BluetoothHost

/// LE signalling · Vol 3, Part A, 4.
struct HostSignallingTests {
  private let request: [UInt8] = [0x12, 1, 8, 0, 0x18, 0, 0x28, 0, 0, 0, 0x2A, 0]
  private let parameters = LinkParameters(
    minimumInterval: 24, maximumInterval: 40, latency: 0, supervisionTimeout: 42)

  private func bench(_ role: Link.Role) -> (HostHarness, HCI.ConnectionHandle) {
    var bench = HostHarness()
    bench.powerOn()
    let handle = bench.link(role)
    bench.completeAll()
    bench.forget()
    return (bench, handle)
  }

  private func answers(_ bench: HostHarness, _ handle: HCI.ConnectionHandle) throws -> [[UInt8]] {
    try bench.payloads(on: handle, .signalling)
  }

  @Test(
    "A central accepts a peripheral's valid parameter request and updates the connection", .requirement("L076", "L140"))
  func accepted() throws {
    var (bench, handle) = bench(.central)
    bench.receive(.signalling, request, on: handle)
    #expect(try answers(bench, handle) == [[0x13, 1, 2, 0, 0, 0]])
    #expect(bench.commands == [.leConnectionUpdate(handle, parameters, HCI.ConnectionEventLength())])
  }

  @Test(
    "A central accepts every value in the ranges of the Core Specification, including the limits", .requirement("L140"),
    arguments: [
      [6, 6, 0, 10], [3_200, 3_200, 0, 3_200], [6, 3_200, 0, 801], [6, 6, 499, 3_200], [16, 32, 4, 600],
    ] as [[UInt16]])
  func wideRange(_ fields: [UInt16]) throws {
    var (bench, handle) = bench(.central)
    bench.receive(
      .signalling, [0x12, 7, 8, 0] + fields.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }, on: handle)
    #expect(try answers(bench, handle) == [[0x13, 7, 2, 0, 0, 0]])
    let parameters = LinkParameters(
      minimumInterval: fields[0], maximumInterval: fields[1], latency: fields[2], supervisionTimeout: fields[3])
    #expect(bench.commands == [.leConnectionUpdate(handle, parameters, HCI.ConnectionEventLength())])
  }

  @Test(
    "L11: invalid parameter requests are rejected", .requirement("L076"),
    arguments: [
      [5, 0, 40, 0, 0, 0, 42, 0], [40, 0, 24, 0, 0, 0, 42, 0], [24, 0, 0x81, 0x0C, 0, 0, 42, 0],
      [24, 0, 40, 0, 0xF4, 1, 42, 0], [24, 0, 40, 0, 0, 0, 9, 0], [24, 0, 40, 0, 0, 0, 10, 0],
    ] as [[UInt8]])
  func invalid(_ fields: [UInt8]) throws {
    var (bench, handle) = bench(.central)
    bench.receive(.signalling, [0x12, 7, 8, 0] + fields, on: handle)
    #expect(try answers(bench, handle) == [[0x13, 7, 2, 0, 1, 0]])
    #expect(bench.commands.isEmpty)
  }

  @Test("L11: a parameter request during an update is rejected; a flood of them causes one update")
  func flood() throws {
    var (bench, handle) = bench(.central)
    for _ in 0..<1000 {
      bench.receive(.signalling, request, on: handle)
      bench.completeAll()
    }
    #expect(bench.commands.count == 1)
    bench.receive(
      .leConnectionUpdateComplete(
        .success, handle, HCI.ConnectionValues(interval: 40, latency: 0, supervisionTimeout: 42)))
    bench.receive(.signalling, request, on: handle)
    #expect(try answers(bench, handle) == [[0x13, 1, 2, 0, 0, 0]])
  }

  @Test("L11: a parameter request from a central to a peripheral gets Command Not Understood")
  func wrongRole() throws {
    var (bench, handle) = bench(.peripheral)
    bench.receive(.signalling, request, on: handle)
    #expect(try answers(bench, handle) == [[0x01, 1, 2, 0, 0, 0]])
    #expect(bench.commands.isEmpty)
  }

  @Test("A central updates a connection with an HCI command")
  func centralUpdate() {
    var (bench, handle) = bench(.central)
    bench.perform { [parameters] host, now in host.updateConnection(handle, parameters, at: now) }
    #expect(bench.commands == [.leConnectionUpdate(handle, parameters, HCI.ConnectionEventLength())])
  }

  @Test("A peripheral sends its central one parameter request at a time; of the pending ones the last is sent")
  func peripheralUpdate() throws {
    var (bench, handle) = bench(.peripheral)
    bench.pass(.seconds(5))
    var later = parameters
    for latency: UInt16 in [0, 1, 2] {
      later.latency = latency
      bench.perform { [later] host, now in host.updateConnection(handle, later, at: now) }
    }
    #expect(bench.commands.isEmpty)
    #expect(try answers(bench, handle) == [request])
    bench.receive(.signalling, [0x13, 9, 2, 0, 0, 0], on: handle)
    #expect(try answers(bench, handle).count == 1)
    bench.receive(.signalling, [0x13, 1, 2, 0, 1, 0], on: handle)
    #expect(try answers(bench, handle).last == [0x12, 2, 8, 0, 0x18, 0, 0x28, 0, 2, 0, 0x2A, 0])
    bench.passToDeadline()
    // The only deadline left is the next link check.
    #expect(bench.host.deadline == bench.host.table.check.deadline)
  }

  @Test("The link layer's own parameter request is answered", .requirement("A002", "K041"))
  func remoteRequest() {
    var (bench, handle) = bench(.central)
    bench.receive(.leRemoteConnectionParameterRequest(handle, parameters))
    var bad = parameters
    bad.latency = 500
    bench.receive(.leRemoteConnectionParameterRequest(handle, bad))
    #expect(
      bench.commands == [
        .leRemoteConnectionParameterRequestReply(handle, parameters, HCI.ConnectionEventLength()),
        .leRemoteConnectionParameterRequestNegativeReply(handle, reason: .unacceptableConnectionParameters),
      ])
  }

  @Test(
    "Requests for channels are refused with the results of the specification",
    arguments: [
      // LE Credit Based Connection Request: SPSM not supported.
      ([0x14, 2, 10, 0, 0x80, 0, 0x40, 0, 0, 2, 0xF7, 0, 10, 0], [0x15, 2, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]),
      // L3: as many channels as the request has.
      (
        [0x17, 8, 12, 0, 0x27, 0, 0, 2, 0, 1, 5, 0, 0x40, 0, 0x41, 0],
        [0x18, 8, 12, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0]
      ),
      // Reconfiguration of a channel that does not exist.
      ([0x19, 9, 8, 0, 0, 4, 0, 2, 0x40, 0, 0x41, 0], [0x1A, 9, 2, 0, 3, 0]),
      // Disconnection Request: invalid CID.
      ([0x06, 6, 4, 0, 0x41, 0, 0x40, 0], [0x01, 6, 6, 0, 2, 0, 0x41, 0, 0x40, 0]),
    ] as [([UInt8], [UInt8])])
  func refused(_ request: [UInt8], _ answer: [UInt8]) throws {
    var (bench, handle) = bench(.peripheral)
    bench.receive(.signalling, request, on: handle)
    #expect(try answers(bench, handle) == [answer])
  }

  @Test(
    "L10: commands that are not understood are rejected", .requirement("L139"),
    arguments: [
      // A code that LE does not define.
      ([0x0F, 5, 0, 0], [0x01, 5, 2, 0, 0, 0]),
      ([0x08, 5, 0, 0], [0x01, 5, 2, 0, 0, 0]),
      // More than 23 octets.
      ([0x0A, 4, 20, 0] + [UInt8](repeating: 0, count: 20), [0x01, 4, 4, 0, 1, 0, 23, 0]),
      // A wrong length for the code.
      ([0x12, 3, 2, 0, 0, 0], [0x01, 3, 2, 0, 0, 0]),
      // Two commands in one frame.
      ([0x16, 2, 4, 0, 0x40, 0, 1, 0, 0x16, 3, 4, 0, 0x40, 0, 1, 0], [0x01, 2, 2, 0, 0, 0]),
      // L2: an odd number of octets; six channels do not fit into the signalling MTU.
      ([0x17, 8, 17, 0] + [UInt8](repeating: 0x40, count: 17), [0x01, 8, 2, 0, 0, 0]),
    ] as [([UInt8], [UInt8])])
  func rejected(_ request: [UInt8], _ answer: [UInt8]) throws {
    var (bench, handle) = bench(.peripheral)
    bench.receive(.signalling, request, on: handle)
    #expect(try answers(bench, handle) == [answer])
  }

  @Test(
    "L10, L12: identifier 0, truncated commands and unexpected responses get no answer", .requirement("L138"),
    arguments: [
      [0x12, 0, 8, 0, 0x18, 0, 0x28, 0, 0, 0, 0x2A, 0], [], [0x12], [0x12, 1, 8], [0x14, 2, 10, 0, 0x80, 0, 0x40, 0],
      [0x01, 3, 2, 0, 0, 0], [0x07, 6, 4, 0, 0x41, 0, 0x40, 0], [0x13, 1, 2, 0, 0, 0], [0x13, 1, 2, 0, 7, 0],
      [0x15, 2, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0], [0x18, 8, 8, 0, 0, 0, 0, 0, 0, 0, 2, 0], [0x1A, 9, 2, 0, 3, 0],
      // Credits for a channel that does not exist.
      [0x16, 7, 4, 0, 0x40, 0, 10, 0],
    ] as [[UInt8]])
  func silent(_ octets: [UInt8]) {
    var (bench, handle) = bench(.peripheral)
    bench.receive(.signalling, octets, on: handle)
    #expect(bench.data.isEmpty)
    #expect(bench.commands.isEmpty)
  }

  @Test("L10: answers to a flood that the peer does not receive are dropped, not queued")
  func answersAreBounded() {
    var (bench, handle) = bench(.peripheral)
    for _ in 0..<1000 { bench.receive(.signalling, [0x0F, 5, 0, 0], on: handle) }
    #expect(bench.data.count == 8)
    #expect(bench.host.metrics.droppedAnswers == 1000 - 8 - 16)
    bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTimeout))
    #expect(bench.disconnections == [.connectionTimeout])
  }
}
