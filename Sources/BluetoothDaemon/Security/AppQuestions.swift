// Design: questions about apps
//
// If an adapter must ask about an app, no session gets the adapter's state before the user has answered. After a
// refusal all sessions see `unauthorized`, whatever happens (`AppQuestions`, `AppAccess`). An adapter without Bluetooth
// asks nothing. If the last session of a question closes, the question is withdrawn, and the next session asks again.
// The default device never asks, since its air is simulated; adapters with a transport ask about the program. An answer
// that came from a rule, or from the lack of a terminal, is not stored (`Prompts.isUser`).

/// The questions to an adapter's user on behalf of apps: for permission to use Bluetooth, and to switch it on.
struct AppQuestions {
  enum Access: Hashable {
    case allowed, denied
    /// The user must be asked about this app.
    case unasked
    case asking(PromptID)
  }

  /// An app as the permissions know it: an app with a life of its own, or the process for all sessions without one.
  enum Subject: Hashable {
    case process
    case app(AppIndex)

    init(_ app: AppIndex?) { self = app.map { .app($0) } ?? .process }

    /// The app; nil: the process.
    var app: AppIndex? { if case .app(let app) = self { app } else { nil } }
  }

  /// The name of the process in questions; nil: the user is not asked about the process.
  let processName: String?
  /// True if the user is asked about each app with a life of its own.
  let asksForApps: Bool
  /// The permissions of the subjects that have had a session.
  var access: [Subject: Access] = [:]
  /// True if questions about apps wait until an earlier one of the same user has ended.
  var hasWaiting = false
  /// True if an app wants Bluetooth on. The user is asked once Bluetooth turns out to be off.
  var wantsPower = false
  /// The open question to switch Bluetooth on; nil: none.
  var power: PromptID?
  /// True if the user has agreed and Bluetooth is not on yet.
  var isTurningOn = false

  /// Creates the questions of one adapter.
  ///
  /// - Parameters:
  ///   - app: the name of the process in questions; nil: the user is not asked about it.
  ///   - asksForApps: true if the user is asked about each app with a life of its own, even if `app` is nil.
  init(app: String?, asksForApps: Bool) {
    processName = app
    self.asksForApps = asksForApps || app != nil
  }

  /// True if no app has been denied the use of Bluetooth, and the user is not asked.
  var allowsAll: Bool { !asksForApps && access.isEmpty }

  func access(of subject: Subject) -> Access {
    if let known = access[subject] { return known }
    let isAsked = if case .app = subject { asksForApps } else { processName != nil }
    return isAsked ? .unasked : .allowed
  }
}
