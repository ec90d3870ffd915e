import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import NIOCore

/// Asks the agents of clients the questions of an adapter about pairing.
final class PairingDesk: BlueZPrompts.Receiver, SystemClient, @unchecked Sendable {
  // Unchecked: the questions are accessed on the loop only.
  private struct Question {
    let peer: PeerHandle
    let reply: PromptReply
    let agent: AgentTable.Agent
    /// The path of the device.
    let device: String
    /// The passkey that the agent shows, with the number of digits that the peer's user has typed; nil: another question.
    var shown: (passkey: UInt32, entered: UInt16)?
  }

  private unowned let adapter: ExportedAdapter
  private let context: ServerContext
  private var questions: [PromptID: Question] = [:]

  init(of adapter: ExportedAdapter) {
    self.adapter = adapter
    context = adapter.context
  }

  // MARK: Adapter

  func ask(_ prompt: Prompt, reply: PromptReply) {
    execute { desk in desk.askOnLoop(prompt, reply) }
  }

  func withdraw(_ id: PromptID) {
    execute { desk in
      guard let question = desk.questions.removeValue(forKey: id) else { return }
      desk.context.bus.send("Cancel", of: BlueZInterface.agent, at: question.agent.path, on: question.agent.client, [])
    }
  }

  func keypress(_ notification: KeypressNotification, for id: PromptID) {
    execute { desk in
      guard var question = desk.questions[id], var shown = question.shown else { return }
      switch notification {
      case .passkeyDigitEntered: shown.entered += 1
      case .passkeyDigitErased: shown.entered -= min(1, shown.entered)
      case .passkeyCleared: shown.entered = 0
      case .passkeyEntryStarted, .passkeyEntryCompleted: return
      }
      question.shown = shown
      desk.questions[id] = question
      desk.call("DisplayPasskey", [.uint32(shown.passkey), .uint16(shown.entered)], question) { _ in }
    }
  }

  func receive(_ event: SystemEvent) {
    guard case .pairingEnded(let peer, let failure) = event else { return }
    execute { desk in
      guard let device = desk.adapter.devices[peer] else { return }
      if let failure { device.pairingFailed(Self.error(failure)) } else { device.paired() }
    }
  }

  private static func error(_ failure: SecurityFailure) -> DBusError {
    switch failure {
    case .timeout: .authenticationTimeout
    case .disconnected: .authenticationCanceled
    case .refusedByPeer(.pairingNotSupported): .authenticationRejected
    case .refused, .refusedByPeer, .keyMissing, .encryption: .authenticationFailed
    }
  }

  private func execute(_ body: @escaping @Sendable (PairingDesk) -> Void) {
    let run: @Sendable () -> Void = { [weak self] in
      guard let self else { return }
      body(self)
      context.tree.flush()
    }
    context.loop.inEventLoop ? run() : context.loop.execute(run)
  }

  // MARK: Questions

  private func askOnLoop(_ prompt: Prompt, _ reply: PromptReply) {
    context.loop.preconditionInEventLoop()
    guard case .pairing(let question, let pairing) = prompt.question,
      let peer = adapter.adapter.directory.peer(pairing.identifier)?.handle, let device = adapter.device(of: peer)
    else { return reply(.no) }
    guard pairing.isLocallyInitiated || adapter.flag("Pairable") else { return reply(.no) }
    let agent = device.pairingClient.flatMap { context.agents.agent(of: $0) } ?? context.agents.defaultAgent
    if case .allow = question, pairing.isLocallyInitiated, !pairing.replacesBond || pairing.isProven {
      // As the Linux kernel, which asks nobody about a pairing of its own without digits.
      return reply(.yes)
    }
    guard let agent, Self.canAsk(question, agent.capability) else { return reply(.no) }
    context.watch(agent.client)
    var open = Question(peer: peer, reply: reply, agent: agent, device: device.path)
    let id = prompt.id
    switch question {
    case .allow: ask("RequestAuthorization", [], id, open) { _ in .yes }
    case .compare(let number): ask("RequestConfirmation", [.uint32(number)], id, open) { _ in .yes }
    case .enterPasskey:
      ask("RequestPasskey", [], id, open) { body in
        guard case .uint32(let passkey)? = body.first, passkey < 1_000_000 else { return .no }
        return .passkey(passkey)
      }
    case .show(let passkey):
      open.shown = (passkey, 0)
      questions[id] = open
      call("DisplayPasskey", [.uint32(passkey), .uint16(0)], open) { result in
        if case .failure(let error) = result, error.name == "org.bluez.Error.Rejected" { reply(.no) }
      }
    }
  }

  /// Returns true if an agent with this capability can answer a question.
  private static func canAsk(_ question: PairingPrompt, _ capability: IOCapability) -> Bool {
    switch question {
    case .allow: true
    case .show: capability != .noInputNoOutput && capability != .keyboardOnly
    case .enterPasskey: capability == .keyboardOnly || capability == .keyboardDisplay
    case .compare: capability == .displayYesNo || capability == .keyboardDisplay
    }
  }

  private func ask(
    _ member: String, _ arguments: [DBusValue], _ id: PromptID, _ question: Question,
    _ answer: @escaping @Sendable ([DBusValue]) -> PairingAnswer
  ) {
    questions[id] = question
    call(member, arguments, question) { [weak self] result in
      guard let self, questions.removeValue(forKey: id) != nil else { return }
      switch result {
      case .success(let body): question.reply(answer(body))
      case .failure: question.reply(.no)
      }
    }
  }

  private func call(
    _ member: String, _ arguments: [DBusValue], _ question: Question,
    _ then: @escaping @Sendable (Result<[DBusValue], DBusError>) -> Void
  ) {
    context.bus.call(
      member, of: BlueZInterface.agent, at: question.agent.path, on: question.agent.client,
      [.path(question.device)] + arguments, then: then)
  }

  /// Answers the open questions about a peer with no.
  func cancel(_ peer: PeerHandle) {
    for (id, question) in questions where question.peer == peer {
      questions[id] = nil
      context.bus.send("Cancel", of: BlueZInterface.agent, at: question.agent.path, on: question.agent.client, [])
      question.reply(.no)
    }
  }

  func clientVanished(_ client: String) {
    for (id, question) in questions where question.agent.client == client {
      questions[id] = nil
      question.reply(.no)
    }
  }
}
