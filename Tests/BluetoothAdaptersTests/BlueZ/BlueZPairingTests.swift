import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothTypes
import BluetoothWire
import NIOConcurrencyHelpers
import Testing

@testable import BluetoothAdapters

/// Prompts that note each question and answer by a rule.
private final class NotingPrompts: Prompts {
  let ioCapability = SMP.IOCapability.keyboardDisplay
  let isAutomatic: Bool
  let log = EventLog<String>()
  private let answer: @Sendable (PairingPrompt) -> PairingAnswer?

  init(isAutomatic: Bool = false, _ answer: @escaping @Sendable (PairingPrompt) -> PairingAnswer?) {
    (self.isAutomatic, self.answer) = (isAutomatic, answer)
  }

  func ask(_ prompt: Prompt, reply: PromptReply) {
    guard case .pairing(let question, let pairing) = prompt.question else { return }
    log.add("\(question) \(pairing.name ?? "nil") \(pairing.isLocallyInitiated)")
    if let answer = answer(question) { reply(answer) }
  }

  func withdraw(_ id: PromptID) { log.add("withdrawn") }
  func keypress(_ notification: SMP.KeypressNotification, for id: PromptID) { log.add("keypress") }
}

@Suite("Pairing beside BlueZ", .enabled(if: PrivateBus.isAvailable, BlueZScene.needs), .timeLimit(.minutes(1)))
struct BlueZPairingTests {
  private let device = DBusValue.path(FakeBlueZ.device)

  @Test("The prompts answer the questions of BlueZ while a link is used")
  func questions() async throws {
    let prompts = NotingPrompts { question in
      switch question {
      case .enterPasskey: .passkey(123_456)
      case .compare(let number): number == 7 ? .yes : .no
      case .allow: .yes
      case .show: nil
      }
    }
    let scene = try await BlueZScene(prompts: prompts)
    defer { scene.bus.stop() }
    let (session, client) = try await scene.central()
    #expect(scene.bluez.state.withLockedValue { $0.agent == nil })
    let peer = try await scene.connect(session, client)
    #expect(scene.bluez.state.withLockedValue { $0.agent?.capability } == "KeyboardDisplay")
    #expect(scene.bluez.calls.contains("RequestDefaultAgent"))

    #expect(try await scene.bluez.ask("RequestPasskey", [device]).body == [.uint32(123_456)])
    try await scene.bluez.ask("RequestAuthorization", [device])
    try await scene.bluez.ask("RequestConfirmation", [device, .uint32(7)])
    let rejected = DBusError("org.bluez.Error.Rejected", "refused")
    await #expect(throws: rejected) { try await scene.bluez.ask("RequestConfirmation", [device, .uint32(8)]) }
    await #expect(throws: rejected) { try await scene.bluez.ask("RequestPinCode", [device]) }
    try await scene.bluez.ask("DisplayPasskey", [device, .uint32(42), .uint16(0)])
    try await scene.bluez.ask("DisplayPasskey", [device, .uint32(42), .uint16(1)])
    try await scene.bluez.ask("Cancel", [])
    let expected = [
      "enterPasskey strap true", "allow strap true", "compare(7) strap true", "compare(8) strap true",
      "show(passkey: 42) strap true", "keypress", "withdrawn",
    ]
    for line in expected { #expect(try await prompts.log.next { $0 } == line) }

    session.send(.cancelConnection(peer))
    while scene.bluez.state.withLockedValue({ $0.agent != nil }) { await Task.yield() }
    #expect(scene.bluez.calls.contains("UnregisterAgent"))
  }

  @Test("The end of a link withdraws a question that the user has not answered")
  func withdrawal() async throws {
    let prompts = NotingPrompts { _ in nil }
    let scene = try await BlueZScene(prompts: prompts)
    defer { scene.bus.stop() }
    let (session, client) = try await scene.central()
    _ = try await scene.connect(session, client)
    async let answer = scene.bluez.ask("RequestAuthorization", [device])
    #expect(try await prompts.log.next { $0 } == "allow strap true")
    scene.bluez.disconnect()
    #expect(try await prompts.log.next { $0 } == "withdrawn")
    do {
      _ = try await answer
      Issue.record("the question was answered")
    } catch { #expect((error as? DBusError)?.name == "org.bluez.Error.Canceled") }
    withExtendedLifetime(session) {}
  }

  @Test("A rule does not answer for a device that this process does not use")
  func strangers() async throws {
    let prompts = NotingPrompts(isAutomatic: true) { _ in .yes }
    let scene = try await BlueZScene(prompts: prompts)
    defer { scene.bus.stop() }
    let (session, client) = try await scene.central()
    _ = try await scene.connect(session, client)
    let other = DBusValue.path(FakeBlueZ.adapter + "/dev_00_00_00_00_00_01")
    await #expect(throws: DBusError.self) { try await scene.bluez.ask("RequestAuthorization", [other]) }
    try await scene.bluez.ask("RequestAuthorization", [device])
    withExtendedLifetime(session) {}
  }

  @Test("Prompts that ask nobody are no agent: the desktop's agent stays")
  func nobody() async throws {
    let prompts = TerminalPrompts(terminal: nil, errors: .standardError)
    let scene = try await BlueZScene(prompts: prompts)
    defer { scene.bus.stop() }
    let (session, client) = try await scene.central()
    _ = try await scene.connect(session, client)
    #expect(scene.bluez.state.withLockedValue { $0.agent == nil })
    withExtendedLifetime(session) {}
  }
}
