import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("HCI conformance: every command in every state")
struct CommandSweepTests {
  /// Returns the Supported_Commands bitmap of a controller.
  private func claimed(_ device: ControllerHarness) throws -> HCI.SupportedCommands {
    guard case .localSupportedCommands(let commands)? = device.complete(.readLocalSupportedCommands) else {
      throw HCI.ErrorCode.hardwareFailure
    }
    return commands
  }

  @Test("The table has each command that the bitmap claims exactly once")
  func table() throws {
    let world = SweepWorld()
    let commands = try claimed(world.device)
    let rows = CommandTable.rows.map(\.opcode)
    #expect(Set(rows).count == rows.count)
    // Read Local Supported Commands has no bit · 6.27.
    for number in UInt16.min...UInt16.max {
      let opcode = HCI.Opcode(rawValue: number)
      let isClaimed = commands.contains(opcode) || opcode == .readLocalSupportedCommands
      if isClaimed != rows.contains(opcode) { Issue.record("\(opcode)") }
    }
  }

  @Test(
    "A command gets one answer of its form, with the state's status, a credit and all return parameters",
    arguments: Situation.all)
  func answers(in situation: Situation) throws {
    for row in CommandTable.rows {
      let world = SweepWorld()
      try situation.prepare(world)
      let status = situation.status(of: row)
      let answers = world.device.answers(to: row.opcode, row.octets(world.handle))
      if case .none = row.answer {
        #expect(answers.isEmpty, "\(row.testDescription)")
        continue
      }
      let expected = CommandAnswer(answer: row.answer, status: status, credits: 1, length: row.returnLength(status))
      #expect(answers == [expected], "\(row.testDescription)")
    }
  }

  @Test("A parameter list with an octet too few or too many is refused with 0x12 · Vol 1, Part F, 2.18")
  func lengths() throws {
    let world = SweepWorld()
    try world.connect(as: .central)
    for row in CommandTable.rows where row.opcode != .reset {
      let right = row.octets(world.handle)
      for octets in right.indices.map({ Array(right.prefix($0)) }) + [right + [0]] {
        // Clearing the generation keeps legacy and extended commands from excluding each other.
        world.device.controller.host.commandGeneration = nil
        let answers = world.device.answers(to: row.opcode, octets)
        let length = row.hasHandle && octets.count >= 2 ? 3 : 1
        let expected = CommandAnswer(
          answer: row.answer == .status ? .status : .complete, status: .invalidHCICommandParameters, credits: 1,
          length: row.answer == .status ? 1 : length)
        if answers != [expected] { Issue.record("\(row.testDescription), \(octets.count) octets: \(answers)") }
      }
    }
  }

  @Test("A connection handle without a connection is refused with 0x02 and returned · 4.5")
  func unknownHandles() throws {
    let world = SweepWorld()
    try world.connect(as: .central)
    for row in CommandTable.rows where row.hasHandle {
      for value: UInt16 in [0x0000, 0x0002, 0x0EFF, 0x0F00, 0x0FFF] {
        world.device.controller.host.commandGeneration = nil
        let handle = HCI.ConnectionHandle(rawValue: value)
        let answers = world.device.answers(to: row.opcode, row.octets(handle))
        let expected = CommandAnswer(
          answer: row.answer, status: .unknownConnectionIdentifier, credits: 1,
          length: row.returnLength(.unknownConnectionIdentifier))
        if answers != [expected] { Issue.record("\(row.testDescription), \(value): \(answers)") }
      }
    }
  }

  @Test("A Bluetooth 4.0 controller answers the commands that it claims, and refuses all others with 0x01")
  func version40() throws {
    let world = SweepWorld {
      let address = $0.address
      $0 = .bluetooth40Peripheral(address: address)
    }
    let commands = try claimed(world.device)
    for row in CommandTable.rows where row.opcode != .readLocalSupportedCommands {
      world.device.controller.reset()
      let answers = world.device.answers(to: row.opcode, row.octets(world.handle))
      if commands.contains(row.opcode) {
        #expect(answers.count == (row.answer == .none ? 0 : 1), "\(row.testDescription)")
        #expect(answers.allSatisfy { $0.status == row.idle }, "\(row.testDescription)")
      } else {
        let unknown = CommandAnswer(answer: .status, status: .unknownHCICommand, credits: 1, length: 1)
        #expect(answers == [unknown], "\(row.testDescription)")
      }
    }
  }

  @Test("Each of the 65,536 opcodes that the bitmap does not claim is refused with 0x01 in Command Status · 7.7.15")
  func unclaimed() throws {
    let world = SweepWorld()
    let device = world.device
    let commands = try claimed(device)
    let unknown = CommandAnswer(answer: .status, status: .unknownHCICommand, credits: 1, length: 1)
    for number in UInt16.min...UInt16.max {
      let opcode = HCI.Opcode(rawValue: number)
      guard !commands.contains(opcode), opcode != .readLocalSupportedCommands else { continue }
      for octets in [[], [0, 0, 0]] as [[UInt8]] {
        device.controller.receive(.command(opcode: opcode, parameters: ByteSlice(octets)), at: .zero)
        guard case .event(let code, let parameters)? = device.controller.takePacket(),
          CommandAnswer(code, parameters, to: opcode) == unknown
        else {
          Issue.record("\(opcode)")
          continue
        }
        if device.controller.takePacket() != nil { Issue.record("\(opcode): a second event") }
      }
    }
  }
}
