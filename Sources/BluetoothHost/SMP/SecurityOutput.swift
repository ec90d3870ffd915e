import BluetoothWire
import DequeModule

/// The output of a Security Manager: PDUs for the peer, events, and a command for the controller.
struct SecurityOutput {
  private(set) var pdus: Deque<SMP.PDU> = []
  private(set) var events: Deque<SecurityEvent> = []
  private(set) var command: SecurityCommand?
  /// The current prompt for the user.
  private(set) var prompt: PairingPrompt?

  /// The maximum number of queued PDUs: a peripheral's keys need five. More are responses to a flood.
  private static let maximumCount = 16

  mutating func send(_ pdu: SMP.PDU) {
    if pdus.count < Self.maximumCount { pdus.append(pdu) }
  }

  mutating func tell(_ event: SecurityEvent) { events.append(event) }
  mutating func encrypt(_ key: LongTermKey) { command = .encrypt(key) }

  mutating func ask(_ prompt: PairingPrompt) {
    self.prompt = prompt
    events.append(.prompt(prompt))
  }

  mutating func endPrompt() {
    guard prompt != nil else { return }
    prompt = nil
    events.append(.promptEnded)
  }

  mutating func takePDU() -> SMP.PDU? { pdus.popFirst() }
  mutating func takeEvent() -> SecurityEvent? { events.popFirst() }

  mutating func takeCommand() -> SecurityCommand? {
    defer { command = nil }
    return command
  }

  /// Discards all PDUs and the command, because the Security Manager must not send any more.
  mutating func discardAll() {
    pdus = []
    command = nil
  }
}
