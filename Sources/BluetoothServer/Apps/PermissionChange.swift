/// A decision of the user on an app that the adapters are storing.
final class PermissionChange {
  /// The numbers of the requests that have no answer.
  var unanswered: Set<UInt64> = []
  private var failures: [String] = []
  private let answer: (String?) -> Void

  init(_ answer: @escaping (String?) -> Void) { self.answer = answer }

  /// Takes the answer of an adapter: the reason why the decision is not stored; nil: it is stored.
  func take(_ failure: String?, of number: UInt64) {
    unanswered.remove(number)
    if let failure, !failures.contains(failure) { failures.append(failure) }
    guard unanswered.isEmpty else { return }
    answer(
      failures.isEmpty
        ? nil
        : "the decision applies only to this run of the server, because it can't be saved: "
          + failures.joined(separator: "; "))
  }
}
