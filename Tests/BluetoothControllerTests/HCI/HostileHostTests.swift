import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("A hostile host")
struct HostileHostTests {
  /// All named opcodes and their neighbours.
  private static let knownAndNeighbours: [HCI.Opcode] = {
    var numbers: Set<UInt16> = []
    for number: UInt16 in 0...0xFFFF where HCI.Opcode(rawValue: number).name != nil {
      numbers.formUnion([number &- 1, number, number &+ 1])
    }
    return numbers.sorted().map(HCI.Opcode.init)
  }()

  /// Returns the number of Command Complete and Command Status events that answer `opcode` with these parameters.
  private func answers(_ device: ControllerHarness, _ opcode: HCI.Opcode, _ parameters: ByteSlice) -> Int {
    let before = device.events.count
    device.controller.receive(.command(opcode: opcode, parameters: parameters), at: device.now)
    device.air?.processOutput(of: device.number)
    return device.events[before...].count {
      switch $0 {
      case .commandComplete(_, opcode, _), .commandStatus(_, _, opcode): true
      default: false
      }
    }
  }

  private func expectOneAnswer(
    _ device: ControllerHarness, _ opcode: HCI.Opcode, _ parameters: ByteSlice,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let count = answers(device, opcode, parameters)
    // Host Number Of Completed Packets has no answer unless it is invalid.
    let isRight = count == 1 || opcode == .hostNumberOfCompletedPackets && count == 0
    // An `#expect` for each command would take most of the test's time.
    if !isRight {
      Issue.record("\(count) answers to \(opcode) with \(parameters)", sourceLocation: sourceLocation)
    }
  }

  private func expectWorking(_ link: LinkHarness) throws {
    for device in [link.central, link.peripheral] {
      #expect(device.send(.reset) == .success)
    }
    link.air.run(for: .seconds(1))
    for device in [link.central, link.peripheral] { device.start() }
    link.peripheral.advertise()
    link.central.connect(to: link.peripheral)
    link.air.run(until: {
      !link.central.connectionCompletes.isEmpty && !link.peripheral.connectionCompletes.isEmpty
    })
    let handle = try #require(link.central.connectionCompletes.first).handle
    link.central.send([1, 2, 3], on: handle)
    link.runEvents(3)
    #expect(link.peripheral.data.map(\.payload) == [[1, 2, 3]])
  }

  @Test(
    "Every known command and its neighbours get one answer at every length, and the controller works afterwards")
  func everyLength() throws {
    let link = try LinkHarness()
    let device = link.central
    var generator = RandomStream(seed: 3)
    for opcode in Self.knownAndNeighbours {
      for length in 0...255 {
        let parameters = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
        expectOneAnswer(device, opcode, ByteSlice(parameters))
      }
      device.send(.reset)
      device.clear()
    }
    try expectWorking(link)
  }

  @Test("Each of the 65,536 opcodes gets one answer")
  func everyOpcode() {
    let air = PerfectAir()
    let device = ControllerHarness("device", address: 0x1111_1111_1111)
    air.add(device)
    for number: UInt16 in 0...0xFFFF {
      expectOneAnswer(device, HCI.Opcode(rawValue: number), [])
      device.clear()
    }
    #expect(device.send(.reset) == .success)
  }

  @Test("Random parameters that begin with a handle or are small get one answer each, while links begin and end")
  func plausible() throws {
    let link = try LinkHarness()
    let device = link.central
    var generator = RandomStream(seed: 5)
    let opcodes = Self.knownAndNeighbours.filter { $0.name != nil && $0 != .reset }
    for round in 0..<40 {
      for opcode in opcodes.shuffled(using: &generator) {
        let length = Int.random(in: 0...40, using: &generator)
        var parameters = (0..<length).map { _ in UInt8.random(in: 0...4, using: &generator) }
        if round % 2 == 0, length >= 2 {
          let handle = device.connectionCompletes.last?.handle ?? link.centralHandle
          parameters[0] = UInt8(truncatingIfNeeded: handle.rawValue)
          parameters[1] = UInt8(truncatingIfNeeded: handle.rawValue >> 8)
        }
        expectOneAnswer(device, opcode, ByteSlice(parameters))
        // Parameters of the exact length of the command pass the length check.
        for exact in [2, 3, 4, 6, 7, 10, 12, 14, 16, 25, 28, 32] where exact <= length {
          expectOneAnswer(device, opcode, ByteSlice(parameters.prefix(exact)))
        }
      }
      link.air.run(for: .milliseconds(20))
      device.clear()
      link.peripheral.clear()
    }
    try expectWorking(link)
  }

  @Test("ACL data without a connection, without a start, empty, too long or too many do no harm")
  func data() throws {
    let link = try LinkHarness()
    let device = link.central
    for handle: UInt16 in [0x0000, 0x0123, 0x0EFF, 0x0FFF, 0xFFFF] where handle != link.centralHandle.rawValue {
      device.send([1, 2, 3], on: HCI.ConnectionHandle(rawValue: handle))
      device.send([], on: HCI.ConnectionHandle(rawValue: handle), boundary: .continuing)
    }
    #expect(device.events.isEmpty)
    device.send([UInt8](repeating: 7, count: 252), on: link.centralHandle)
    #expect(device.events == [.dataBufferOverflow(linkType: 1)])
    device.clear()
    device.send([1], on: link.centralHandle, boundary: .continuing)
    device.send([], on: link.centralHandle)
    device.send([2], on: link.centralHandle, boundary: .firstFlushable)
    link.runEvents(4)
    #expect(device.completedPackets == 3)
    // Reassembly is up to the peer's host.
    #expect(link.peripheral.data.map(\.payload) == [[1], [2]])
    device.clear()
    for _ in 0..<1_000 { device.send([3], on: link.centralHandle) }
    #expect(device.events.count == 1_000 - 64)
    link.air.run(for: .seconds(4))
    #expect(device.completedPackets == 64)
    #expect(link.isAlive())
  }
}
