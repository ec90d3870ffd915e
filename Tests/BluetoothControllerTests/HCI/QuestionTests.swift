import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("Read-only commands")
struct QuestionTests {
  private static let questions: [HCI.Command] = [
    .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures,
    .readLocalExtendedFeatures(page: 0), .readLocalExtendedFeatures(page: 1), .readBufferSize, .readBDADDR,
    .leReadBufferSize, .leReadLocalSupportedFeatures, .leReadSupportedStates, .leReadTransmitPower,
    .leReadSuggestedDefaultDataLength, .leReadMaximumDataLength,
  ]

  private let pool = PacketPool()

  private func controller() -> Controller {
    Controller(
      configuration: ControllerConfiguration(address: DeviceAddress(0x1111_1111_1111, .public), name: "device"),
      random: RandomStream(seed: 1), pool: pool)
  }

  @Test("A read-only command is answered, and affects neither the radio nor the next deadline", arguments: questions)
  func changeNothing(_ question: HCI.Command) {
    var controller = controller()
    let parameters = HCI.AdvertisingParameters(
      minimumInterval: 160, maximumInterval: 160, type: .nonConnectableUndirected, ownAddressType: .public)
    for command in [HCI.Command.leSetAdvertisingParameters(parameters), .leSetAdvertisingEnable(true)] {
      let matters = controller.receive(command.packet(in: pool), at: .zero)
      #expect(matters)
    }
    while controller.takePacket() != nil {}
    // In the middle of a packet, and between two packets.
    var now = Instant.zero
    var packetEnd = packetEnd(controller.takeRadioCommand(), at: now)
    #expect(packetEnd != nil)
    for _ in 0..<8 {
      let deadline = controller.deadline
      let matters = controller.receive(question.packet(in: pool), at: now)
      #expect(!matters)
      let later = controller.deadline
      #expect(later == deadline)
      let answer = controller.takePacket()
      #expect(isCompletion(answer, of: question.opcode))
      let (next, order) = (controller.takePacket(), controller.takeRadioCommand())
      #expect(next == nil && order == nil)
      now = max(now, packetEnd ?? deadline ?? now)
      if packetEnd != nil { controller.radio(.transmitted, at: now) } else { controller.timeReached(now) }
      packetEnd = self.packetEnd(controller.takeRadioCommand(), at: now)
    }
    #expect(now > .zero + .milliseconds(100))
  }

  /// Returns the end of the packet that the radio is commanded to send, or nil if there is none.
  private func packetEnd(_ command: RadioCommand?, at now: Instant) -> Instant? {
    guard case .transmit(let packet, on: _, let modulation, power: _)? = command else { return nil }
    return now + packet.airTime(modulation)
  }

  private func isCompletion(_ packet: HCI.Packet?, of opcode: HCI.Opcode) -> Bool {
    guard case .event(let code, let parameters)? = packet,
      let event = try? HCI.Event(code: code, parameters: parameters),
      case .commandComplete(_, opcode, _) = event
    else { return false }
    return true
  }

  @Test("A command that is refused before it is parsed changes nothing, and a command that sets a value may")
  func others() {
    var controller = controller()
    let unknown = controller.receive(.command(opcode: HCI.Opcode(group: 0x3F, command: 1), parameters: []), at: .zero)
    #expect(!unknown)
    let tooShort = controller.receive(.command(opcode: .leSetEventMask, parameters: [1]), at: .zero)
    #expect(!tooShort)
    let mask = controller.receive(HCI.Command.leSetEventMask([]).packet(in: pool), at: .zero)
    #expect(mask)
    let reset = controller.receive(HCI.Command.reset.packet(in: pool), at: .zero)
    #expect(reset)
  }
}
