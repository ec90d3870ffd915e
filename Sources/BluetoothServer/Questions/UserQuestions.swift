import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import NIOConcurrencyHelpers

/// A question of a server to its user.
package struct UserQuestion: Hashable, Sendable {
  package enum Subject: Hashable, Sendable {
    /// Asks whether an app may use Bluetooth. `usage` is the app's own description of its use; nil: it has none.
    case permission(app: String, usage: String?)
    /// Asks whether a bonded accessory may get the notifications of the system.
    case notifications(accessory: String)
  }

  /// The number of the question, counted from 1 over all adapters of the server.
  package let number: UInt64
  /// The name of the adapter.
  package let adapter: String
  package let subject: Subject

  /// The question in one line.
  package var text: String {
    switch subject {
    case .permission(let app, let usage):
      "\(app.printable) would like to use Bluetooth" + (usage.map { ": \(Self.line($0))" } ?? "")
    case .notifications(let accessory): "\(accessory.printable) would like to get your notifications"
    }
  }

  /// Returns an app's own text, which can be any text, as one line of at most 300 characters. Spaces replace the
  /// characters that end a line, control a terminal, or change the direction of text.
  static func line(_ text: String) -> String {
    String(text.prefix(300).map { String($0) == String($0).printable ? $0 : " " })
  }
}

/// The open questions of a server to its user. All methods may be called on any thread.
package final class UserQuestions: Sendable {
  /// A change of the open questions.
  package enum Change: Hashable, Sendable {
    case asked(UserQuestion)
    /// The question has been answered or withdrawn.
    case ended(UserQuestion)
  }

  private struct Key: Hashable {
    let adapter: String
    let id: PromptID
  }

  private struct Entry {
    let question: UserQuestion
    let reply: PromptReply
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var count: UInt64 = 0
    var observers: [@Sendable (Change) -> Void] = []
  }

  private let state = NIOLockedValueBox(State())

  package init() {}

  /// The open questions, oldest first.
  package var open: [UserQuestion] {
    state.withLockedValue { $0.entries.values.map(\.question) }.sorted { $0.number < $1.number }
  }

  /// Calls `observer` with each change from now on, and with the questions that are open. No lock is held.
  package func observe(_ observer: @escaping @Sendable (Change) -> Void) {
    let open = state.withLockedValue { state in
      state.observers.append(observer)
      return state.entries.values.map(\.question)
    }
    for question in open.sorted(by: { $0.number < $1.number }) { observer(.asked(question)) }
  }

  /// Answers a question, and the open ones of other adapters with the same subject. Does nothing if the question has
  /// ended.
  package func answer(_ question: UserQuestion, _ isAllowed: Bool) {
    let answered = remove { $1.question.subject == question.subject }
    for entry in answered { entry.reply(isAllowed ? .yes : .no) }
  }

  func ask(_ subject: UserQuestion.Subject, _ prompt: Prompt, on adapter: String, reply: PromptReply) {
    let (question, observers) = state.withLockedValue { state in
      state.count += 1
      let question = UserQuestion(number: state.count, adapter: adapter, subject: subject)
      state.entries[Key(adapter: adapter, id: prompt.id)] = Entry(question: question, reply: reply)
      return (question, state.observers)
    }
    for observer in observers { observer(.asked(question)) }
  }

  /// Withdraws a question. Returns false if there is none.
  func withdraw(_ id: PromptID, on adapter: String) -> Bool {
    !remove { key, _ in key == Key(adapter: adapter, id: id) }.isEmpty
  }

  private func remove(where isMeant: (Key, Entry) -> Bool) -> [Entry] {
    let (removed, observers) = state.withLockedValue { state in
      let removed = state.entries.filter { isMeant($0.key, $0.value) }
      for key in removed.keys { state.entries[key] = nil }
      return (Array(removed.values), state.observers)
    }
    for entry in removed {
      for observer in observers { observer(.ended(entry.question)) }
    }
    return removed
  }
}
