/// The questions to an adapter's user on behalf of apps: for permission to use Bluetooth, and to switch it on.
struct AppQuestions {
  enum Access: Hashable {
    case allowed, denied
    /// The user must be asked about this app.
    case unasked(app: String)
    case asking(app: String, PromptID)
  }

  var access: Access
  /// True if an app wants Bluetooth on. The user is asked once Bluetooth turns out to be off.
  var wantsPower = false
  /// The open question to switch Bluetooth on; nil: none.
  var power: PromptID?
  /// True if the user has agreed and Bluetooth is not on yet.
  var isTurningOn = false

  /// Creates the questions of one adapter.
  ///
  /// - Parameter app: the app for which the user must give permission; nil: the user is not asked.
  init(app: String?) { access = app.map { .unasked(app: $0) } ?? .allowed }
}
