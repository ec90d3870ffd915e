// Design: pairing beside BlueZ
//
// BlueZ pairs when an attribute needs it, and asks an agent: that of the program which has called Device1.Pair, otherwise
// the default one, which is the last that has asked for it. This process is the default agent while one of its sessions
// uses a link or has a service, and only if its prompts can answer: a program without a terminal leaves the questions to
// the desktop. A rule answers only for devices that this process uses; a user is asked about all.

import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothTypes
import BluetoothWire
import NIOCore

/// A question of BlueZ to the user of this process.
struct BlueZQuestion {
  let device: String
  /// The call to answer; nil: it has been answered, and the question only shows a passkey.
  let responder: DBusResponder?
  /// True if the answer is a passkey.
  let wantsPasskey: Bool
}

extension BlueZRunner {
  private static let agentManager = "org.bluez.AgentManager1"
  private static let agentPath = "/org/corebluetooth/agent"

  /// Registers this process as an agent, or ends that.
  func updateAgent() {
    let isUsed =
      centrals.values.contains { !$0.uses.isEmpty } || peripherals.values.contains { !$0.services.isEmpty }
    let wants = state == .poweredOn && isUsed && (prompts.isUser || prompts.isAutomatic)
    guard wants != isAgent, let connection else { return }
    isAgent = wants
    guard wants else {
      call("UnregisterAgent", of: Self.agentManager, at: BlueZName.root, [.path(Self.agentPath)])
      return connection.unexport(at: Self.agentPath)
    }
    connection.export([agentInterface], at: Self.agentPath)
    let capability = DBusValue.string(questions.ioCapability.nameInBlueZ)
    call("RegisterAgent", of: Self.agentManager, at: BlueZName.root, [.path(Self.agentPath), capability]) {
      [weak self] in
      if case .failure(let error) = $0, let self {
        DaemonLog.note("bluetoothd takes no agent, so that it does not ask here: \(error)", of: name)
      }
    }
    call("RequestDefaultAgent", of: Self.agentManager, at: BlueZName.root, [.path(Self.agentPath)])
  }

  /// Forgets the agent, which BlueZ has forgotten, too.
  func dropAgent() {
    withdrawQuestions()
    guard isAgent else { return }
    isAgent = false
    connection?.unexport(at: Self.agentPath)
  }

  // MARK: The agent's interface

  private var agentInterface: DBusInterface {
    func method(
      _ name: String, _ inputs: KeyValuePairs<String, String>, out: KeyValuePairs<String, String> = [:],
      _ body: @escaping @Sendable (BlueZRunner, DBusCall, DBusResponder) -> Void
    ) -> DBusMethod {
      DBusMethod(name, in: inputs, out: out) { [weak self] call, responder in
        guard let self, isFromService(call) else { return responder.fail(Self.rejected) }
        body(self, call, responder)
      }
    }
    func refused(
      _ name: String, _ inputs: KeyValuePairs<String, String>, out: KeyValuePairs<String, String> = [:]
    ) -> DBusMethod { method(name, inputs, out: out) { $2.fail(Self.rejected) } }
    return DBusInterface(
      "org.bluez.Agent1",
      methods: [
        method("RequestAuthorization", ["device": "o"]) { $0.ask(.allow, $1, $2) },
        method("RequestConfirmation", ["device": "o", "passkey": "u"]) { runner, call, responder in
          runner.ask(.compare(UInt32(truncatingIfNeeded: call.arguments[1].integer ?? 0)), call, responder)
        },
        method("RequestPasskey", ["device": "o"], out: ["passkey": "u"]) { $0.ask(.enterPasskey, $1, $2) },
        method("DisplayPasskey", ["device": "o", "passkey": "u", "entered": "q"]) { $0.show($1, $2) },
        method("Cancel", [:]) { runner, _, responder in
          runner.withdrawQuestions()
          responder.reply()
        },
        method("Release", [:]) { runner, _, responder in
          runner.dropAgent()
          responder.reply()
        },
        // Those of BR/EDR.
        refused("RequestPinCode", ["device": "o"], out: ["pincode": "s"]),
        refused("DisplayPinCode", ["device": "o", "pincode": "s"]),
        refused("AuthorizeService", ["device": "o", "uuid": "s"]),
      ])
  }

  private static let rejected = DBusError(BlueZName.error + "Rejected", "refused")

  private func ask(_ question: PairingPrompt, _ call: DBusCall, _ responder: DBusResponder) {
    guard let path = call.arguments.first?.path, let pairing = pairing(ofDeviceAt: path) else {
      return responder.fail(Self.rejected)
    }
    let wantsPasskey = question == .enterPasskey
    let open = BlueZQuestion(device: path, responder: responder, wantsPasskey: wantsPasskey)
    openQuestions[questions.ask(.pairing(question, pairing), at: now)] = open
    takeAnswers()
  }

  private func show(_ call: DBusCall, _ responder: DBusResponder) {
    responder.reply()
    guard let path = call.arguments.first?.path, let passkey = call.arguments[1].integer else { return }
    // BlueZ repeats the call with the number of digits that were typed on the peer.
    if let id = openQuestions.first(where: { $0.value.device == path && $0.value.responder == nil })?.key {
      return questions.keypress(.passkeyDigitEntered, for: id)
    }
    guard let pairing = pairing(ofDeviceAt: path) else { return }
    let prompt = PairingPrompt.show(passkey: UInt32(truncatingIfNeeded: passkey))
    openQuestions[questions.ask(.pairing(prompt, pairing), at: now)] = BlueZQuestion(
      device: path, responder: nil, wantsPasskey: false)
    takeAnswers()
  }

  /// Describes a pairing; nil: a rule must not answer for a device that this process does not use.
  private func pairing(ofDeviceAt path: String) -> Prompt.Pairing? {
    guard let peer = peers[path], let info = directory.peer(peer) else { return nil }
    let isOwn = centrals.values.contains { $0.uses[peer] != nil }
    let isServed = devices[peer]?.isConnected == true && peripherals.values.contains { !$0.services.isEmpty }
    guard isOwn || isServed || !prompts.isAutomatic else { return nil }
    let isPaired = tree.properties(BlueZName.device, at: path)?["Paired"]?.bool == true
    return Prompt.Pairing(
      identifier: info.identifier, name: info.name, isLocallyInitiated: isOwn, replacesBond: isPaired)
  }

  // MARK: Answers

  /// Takes the answers that have come.
  func takeAnswers() {
    loop.preconditionInEventLoop()
    questions.collect(at: now)
    while let answer = questions.takeAnswer(at: now) { take(answer) }
    guard let deadline = questions.deadline else { return }
    loop.scheduleTask(in: .nanoseconds(max(0, (deadline - now).nanoseconds))) { [weak self] in self?.takeAnswers() }
  }

  private func take(_ answer: PromptQueue.Answer) {
    if case .keypress = answer.answer { return }
    guard let question = openQuestions.removeValue(forKey: answer.id) else { return }
    switch (answer.answer, question.wantsPasskey) {
    case (.yes, false): question.responder?.reply()
    case (.passkey(let passkey), true): question.responder?.reply([.uint32(passkey)])
    default:
      question.responder?.fail(Self.rejected)
      if question.responder == nil { call("CancelPairing", of: BlueZName.device, at: question.device) }
    }
  }

  /// Withdraws the questions about a device whose pairing or link has ended; nil: all questions.
  func withdrawQuestions(ofDeviceAt path: String? = nil) {
    for (id, question) in openQuestions where path == nil || question.device == path {
      openQuestions[id] = nil
      questions.withdraw(id)
      question.responder?.fail(DBusError(BlueZName.error + "Canceled", "the pairing has ended"))
    }
  }

  private var now: Instant { Instant(nanoseconds: (NIODeadline.now() - origin).nanoseconds) }
}

extension IOCapability {
  /// The name of the capability in BlueZ's interface.
  var nameInBlueZ: String {
    switch self {
    case .displayOnly: "DisplayOnly"
    case .displayYesNo: "DisplayYesNo"
    case .keyboardOnly: "KeyboardOnly"
    case .noInputNoOutput: "NoInputNoOutput"
    case .keyboardDisplay: "KeyboardDisplay"
    }
  }
}
