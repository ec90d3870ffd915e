import BluetoothWire
import Testing

@testable import BluetoothController

/// A command that is answered first, and the later event with its result.
private struct Completion: Sendable, CustomTestStringConvertible {
  let opcode: HCI.Opcode
  let situation: Situation
  /// Returns the status of the completing event, or nil for any other event.
  let completes: @Sendable (HCI.Event) -> HCI.ErrorCode?
  var status = HCI.ErrorCode.success

  var testDescription: String { "\(opcode), \(situation.testDescription)" }
}

@Suite("HCI conformance: the order of events")
struct EventOrderTests {
  private static let ways: [Situation] = [.central, .encryptedCentral]

  private static let onLinks: [(HCI.Opcode, @Sendable (HCI.Event) -> HCI.ErrorCode?)] = [
    (.disconnect, { if case .disconnectionComplete(let status, _, _) = $0 { status } else { nil } }),
    (
      .readRemoteVersionInformation,
      { if case .readRemoteVersionInformationComplete(let status, _, _) = $0 { status } else { nil } }
    ),
    (.leConnectionUpdate, { if case .leConnectionUpdateComplete(let status, _, _) = $0 { status } else { nil } }),
    (.leReadRemoteFeatures, { if case .leReadRemoteFeaturesComplete(let status, _, _) = $0 { status } else { nil } }),
    (.leSetPHY, { if case .lePHYUpdateComplete(let status, _, _, _) = $0 { status } else { nil } }),
    (.leRequestPeerSCA, { if case .leRequestPeerSCAComplete(let status, _, _) = $0 { status } else { nil } }),
  ]

  private static let rows: [Completion] =
    onLinks.flatMap { row in ways.map { Completion(opcode: row.0, situation: $0, completes: row.1) } } + [
      Completion(
        opcode: .leReadLocalP256PublicKey, situation: .afterReset,
        completes: { if case .leReadLocalP256PublicKeyComplete(let status, _) = $0 { status } else { nil } }),
      Completion(
        opcode: .leGenerateDHKeyV2, situation: .afterReset,
        completes: { if case .leGenerateDHKeyComplete(let status, _) = $0 { status } else { nil } }),
      Completion(
        opcode: .leCreateConnectionCancel, situation: .initiating,
        completes: {
          switch $0 {
          case .leConnectionComplete(let complete), .leEnhancedConnectionComplete(let complete): complete.status
          default: nil
          }
        }, status: .unknownConnectionIdentifier),
      Completion(
        opcode: .lePeriodicAdvertisingCreateSyncCancel, situation: .synchronizing,
        completes: { if case .lePeriodicAdvertisingSyncEstablished(let status, _) = $0 { status } else { nil } },
        status: .operationCancelledByHost),
    ]

  /// The commands that end with the help of another device, or that are a version of a command with a row.
  private static let withoutRow: Set<HCI.Opcode> = [
    .leCreateConnection, .leExtendedCreateConnection, .lePeriodicAdvertisingCreateSync, .leEnableEncryption,
    .leGenerateDHKey,
  ]

  @Test("Every command that Command Status answers has a row, or can't end without another device")
  func isComplete() {
    let rows = Set(Self.rows.map(\.opcode))
    for command in CommandTable.rows where command.answer == .status && !rows.contains(command.opcode) {
      #expect(Self.withoutRow.contains(command.opcode), "\(command.testDescription)")
    }
  }

  @Test("The answer precedes the event that completes the command, which comes once · 4.4", arguments: rows)
  private func order(_ row: Completion) throws {
    let world = SweepWorld()
    try row.situation.prepare(world)
    world.device.clear()
    let command = try #require(CommandTable.row(row.opcode))
    #expect(world.device.status(of: row.opcode, command.octets(world.handle)) == .success)
    world.air.run(for: .seconds(1))
    let events = world.device.events
    let answer = events.firstIndex { if case .commandStatus = $0 { true } else { $0.isCompletion(of: row.opcode) } }
    let completions = events.indices.filter { row.completes(events[$0]) != nil }
    #expect(completions.count == 1)
    #expect(completions.first.flatMap { row.completes(events[$0]) } == row.status)
    let (first, last) = (try #require(answer), try #require(completions.first))
    #expect(first < last)
  }
}

extension HCI.Event {
  fileprivate func isCompletion(of opcode: HCI.Opcode) -> Bool {
    if case .commandComplete(_, opcode, _) = self { true } else { false }
  }
}
