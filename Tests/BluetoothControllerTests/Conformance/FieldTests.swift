import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("HCI conformance: the limits of every parameter")
struct FieldTests {
  /// Returns the world of a rule in the state before the command with the field.
  ///
  /// - Parameter isEncrypted: on an encrypted link as central, also if the rule needs no connection.
  private func world(_ rule: FieldRule, isEncrypted: Bool = false) throws -> SweepWorld {
    let world = SweepWorld()
    // The rules of LE Set Data Related Address Changes create sets with extended commands.
    let isExtended =
      CommandTable.row(rule.opcode)?.generation == .extended || rule.opcode == .leSetDataRelatedAddressChanges
    switch rule.setup {
    case .unconnected where !isEncrypted: break
    case .unconnected, .central: try world.connect(as: .central, isExtended: isExtended)
    case .asked: try Situation.asked.prepare(world)
    }
    if isEncrypted { try world.encrypt(as: .central) }
    for step in rule.steps { world.send(step.opcode, step.octets) }
    return world
  }

  @Test("Each value gets the status that the specification requires", arguments: FieldTable.rows)
  private func values(_ rule: FieldRule) throws { try check(rule, isEncrypted: false) }

  @Test(
    "Each value gets the same status on an encrypted link",
    arguments: FieldTable.rows.filter { $0.setup != .asked && !notWhileConnected.contains($0.opcode) })
  private func valuesOnEncryptedLink(_ rule: FieldRule) throws { try check(rule, isEncrypted: true) }

  private func check(_ rule: FieldRule, isEncrypted: Bool) throws {
    for (value, status) in rule.cases {
      let world = try world(rule, isEncrypted: isEncrypted)
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

  /// Commands that are disallowed while there is a connection, which the sweep checks · 7.3.38, 7.8.115.
  private static let notWhileConnected: Set<HCI.Opcode> = [.setControllerToHostFlowControl, .leSetHostFeature]

  /// Masks, addresses, keys and handles: every value of their parameters is in range.
  private static let withoutLimits: Set<HCI.Opcode> = [
    .setEventMask, .setEventMaskPage2, .leSetEventMask, .leSetRandomAddress, .leEncrypt, .leEnableEncryption,
    .leLongTermKeyRequestReply, .leGenerateDHKey, .leRemoteConnectionParameterRequestNegativeReply,
    .hostNumberOfCompletedPackets, .leSetPeriodicAdvertisingReceiveEnable, .lePeriodicAdvertisingSyncTransfer,
    .lePeriodicAdvertisingSetInfoTransfer,
  ]
}
