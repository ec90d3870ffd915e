import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("HCI conformance: the limits of every parameter")
struct FieldTests {
  /// Returns the world of a rule in the state before the command with the field.
  private func world(_ rule: FieldRule) throws -> SweepWorld {
    let world = SweepWorld()
    switch rule.place {
    case .unconnected: break
    case .central:
      let isExtended = CommandTable.row(rule.opcode)?.generation == .extended
      try world.connect(as: .central, isExtended: isExtended)
    case .asked: try Situation.asked.prepare(world)
    }
    for step in rule.steps { world.send(step.opcode, step.octets) }
    return world
  }

  @Test("Each value gets the status that the specification requires", arguments: FieldTable.rows)
  private func values(_ rule: FieldRule) throws {
    for (value, status) in rule.cases {
      let world = try world(rule)
      let row = try #require(CommandTable.row(rule.opcode))
      let handle = row.octets(world.handle).prefix(row.hasHandle ? 2 : 0)
      let octets = try #require(rule.parameters(value))
      let answered = world.device.status(of: rule.opcode, handle + octets, rule.field)
      #expect(answered == status, "\(rule.testDescription): \(value)")
    }
  }

  @Test("Every command with parameters has a rule, or its parameters have no limits")
  func isComplete() {
    let ruled = Set(FieldTable.rows.map(\.opcode))
    for row in CommandTable.rows where !row.parameters.isEmpty && !ruled.contains(row.opcode) {
      #expect(Self.withoutLimits.contains(row.opcode), "\(row.testDescription)")
    }
  }

  /// Masks, addresses, keys and handles: every value of their parameters is in range.
  private static let withoutLimits: Set<HCI.Opcode> = [
    .setEventMask, .setEventMaskPage2, .leSetEventMask, .leSetRandomAddress, .leEncrypt, .leEnableEncryption,
    .leLongTermKeyRequestReply, .leGenerateDHKey, .leRemoteConnectionParameterRequestNegativeReply,
    .hostNumberOfCompletedPackets, .leSetPeriodicAdvertisingReceiveEnable, .lePeriodicAdvertisingSyncTransfer,
    .lePeriodicAdvertisingSetInfoTransfer,
  ]
}
