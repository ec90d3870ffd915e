import BluetoothWire
import DequeModule

/// What a Security Manager has to say, to the peer and to those above.
struct SecurityOutput {
  private(set) var pdus: Deque<SMP.PDU> = []
  private(set) var events: Deque<SecurityEvent> = []
  private(set) var command: SecurityCommand?
  /// What the user is asked.
  private(set) var prompt: PairingPrompt?

  /// How many PDUs may wait: a peripheral's keys are five. More are answers to a flood.
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

  /// Nothing is said to the peer any more.
  mutating func silence() {
    pdus = []
    command = nil
  }
}
