/// Whether this process's apps may use an adapter.
package enum AppAccess: Hashable, Sendable {
  /// The user has not been asked, or has not answered.
  case undetermined
  case denied
  case allowed
}

/// What the user of an adapter is asked for apps: whether they may use it, and to turn it on.
struct AppQuestions {
  enum Access: Hashable {
    case allowed, denied
    /// This app's user is to be asked.
    case unasked(app: String)
    case asking(app: String, PromptID)
  }

  var access: Access
  /// Somebody wants Bluetooth to be on; the user is asked when it turns out to be off.
  var wantsPower = false
  /// The user is asked to turn it on.
  var power: PromptID?
  /// The user has said yes, and it is not on yet.
  var isTurningOn = false

  /// - Parameter app: whom the user is asked about; nil: nobody is asked.
  init(app: String?) { access = app.map { .unasked(app: $0) } ?? .allowed }
}
