import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// The rule by which a server gives apps permission to use its adapters. In each case the user can change the permission
/// of an app later.
package enum PermissionRule: String, CaseIterable, Sendable {
  /// An app may use Bluetooth until its user denies it.
  case allow
  /// The server asks its user at the first use. Until the answer, the state of the app's managers is unknown.
  case ask
  /// An app may use Bluetooth once its user has allowed it.
  case deny
}

/// The prompts of one adapter of a server: the server asks its user, or answers by its rule, and passes on the questions
/// about pairing.
package final class ServedPrompts: Prompts {
  private let base: any Prompts
  private let rule: PermissionRule
  private let adapter: String
  private let questions: UserQuestions

  /// - Parameters:
  ///   - base: the prompts for all other questions.
  ///   - adapter: the name of the adapter.
  package init(_ base: any Prompts, _ rule: PermissionRule, adapter: String, questions: UserQuestions) {
    self.base = base
    self.rule = rule
    self.adapter = adapter
    self.questions = questions
  }

  package var ioCapability: SMP.IOCapability { base.ioCapability }
  package var isAutomatic: Bool { base.isAutomatic }

  /// True if the answers about apps are those of a user: the answers of a rule are not stored, so that they end with
  /// the rule.
  package var isUser: Bool { rule == .ask }

  package func ask(_ prompt: Prompt, reply: PromptReply) {
    switch prompt.question {
    case .useBluetooth(let app, let usage):
      switch rule {
      case .allow: reply(.yes)
      case .deny:
        let word = app.shellWord
        ServerLog.tell("\(app) may not use Bluetooth (--permissions deny); to allow it: ble settings allow \(word)")
        reply(.no)
      case .ask: questions.ask(.permission(app: app, usage: usage), prompt, on: adapter, reply: reply)
      }
    case .shareNotifications(let accessory) where rule == .ask:
      questions.ask(.notifications(accessory: accessory.who), prompt, on: adapter, reply: reply)
    default: base.ask(prompt, reply: reply)
    }
  }

  package func withdraw(_ id: PromptID) {
    if !questions.withdraw(id, on: adapter) { base.withdraw(id) }
  }

  package func keypress(_ notification: SMP.KeypressNotification, for id: PromptID) {
    base.keypress(notification, for: id)
  }
}

extension ServingOptions {
  /// Creates the settings of a server's adapter.
  ///
  /// - Parameters:
  ///   - adapter: the name of the adapter.
  ///   - questions: the questions of the server.
  package init(_ rule: PermissionRule, shares: AppShares, adapter: String, questions: UserQuestions) {
    self.init()
    self.shares = shares
    asksForApps = rule != .allow
    prompts = { ServedPrompts($0, rule, adapter: adapter, questions: questions) }
  }
}
