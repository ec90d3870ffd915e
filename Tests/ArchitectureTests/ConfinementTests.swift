import Testing

/// A class that the compiler does not confine, because it is `@unchecked Sendable`.
private struct UncheckedClass {
  let name: String
  /// Its doc comment, and the comments on its members.
  let comments: String
  let body: [Substring]

  /// Returns the unchecked classes that a file declares.
  static func all(in text: String) -> [UncheckedClass] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let declaration =
      /^( *)(?:@\S+ )*(?:(?:public|package|private|fileprivate|open|nonisolated) )*(?:final )?class (\w+).*@unchecked Sendable/
    return lines.indices.compactMap { index in
      guard lines[index].contains("@unchecked"), let match = try? declaration.prefixMatch(in: lines[index]) else {
        return nil
      }
      let documentation = lines[..<index].reversed().prefix { $0.drop { $0 == " " }.hasPrefix("///") }.reversed()
      let body = lines[(index + 1)...].prefix { !$0.hasPrefix("\(match.1)}") }
      let notes = body.filter { $0.hasPrefix("\(match.1)  //") }
      let words = (documentation + notes).map { $0.trimmingPrefix(#/ *\/+ */#) }
      return UncheckedClass(name: String(match.2), comments: words.joined(separator: " "), body: Array(body))
    }
  }

  /// True if the comments say that one thread at a time uses the class.
  var isConfined: Bool {
    let claim =
      /[Cc]onfined to|\b(?:[Oo]nly|alone)\b[^.;]*\b(?:loop|executor|thread|queue)\b|\b(?:loop|executor|thread|queue)\b[^.;]*\b(?:only|alone)\b|\bbelongs to\b[^.;]*\bloop\b|\bthreads?\b[^.;]* at a time/
    return comments.contains(claim)
  }

  /// True if a function of the class checks the thread.
  var checks: Bool {
    body.contains { $0.contains(/InEventLoop\(\)|(?:bound|gate)\.check\(\)|dispatchPrecondition\(/) }
  }
}

/// A class that only one thread at a time may use checks it: the compiler does not, because the class is `@unchecked
/// Sendable`. Where the class is hot, the check is an assertion.
@Suite struct ConfinementTests {
  /// The classes that need no check, with the reason.
  private static let exceptions: [String: String] = [
    "CLLocationManager": "a lock has its state; one function calls the delegate, on the queue",
    "WorkItem": "a semaphore passes it from one thread to the other",
    "VirtualRunner": "`enter` and `inspect` stop the program themselves",
    "MainBatch": "`take` admits one thread",
    "WorldDriver": "its `DrivenWorld` checks each step",
    "WorldBound": "it is the check",
    "SocketLines": "a launch has one thread, which makes it",
    "Lockstep": "one thread makes it and runs it; `requestEnd` uses a state of its own",
    "SteppedExecutor": "the thread of a lockstep makes and uses it",
    "WorldCapture": "a lock has its state, and `CaptureQueue` checks the use of the file",
  ]

  private static let classes = Repository.swiftFiles(in: "Sources").flatMap { UncheckedClass.all(in: $0.text) }

  @Test("Each class whose comments confine it to a thread checks the thread")
  func confined() {
    let confined = Self.classes.filter(\.isConfined)
    #expect(confined.count > 25)
    for type in confined where Self.exceptions[type.name] == nil {
      #expect(type.checks, "\(type.name) is confined by its comments alone: check the loop, or the bound of its world")
    }
  }

  @Test("Every exception to the checks of threads is needed", arguments: exceptions.keys.sorted())
  func exceptionsAreNeeded(name: String) throws {
    let type = try #require(Self.classes.first { $0.name == name })
    #expect(type.isConfined && !type.checks)
  }

  @Test("A comment that confines a class is found, and so is its check")
  func claims() {
    func first(_ text: String) -> UncheckedClass? { UncheckedClass.all(in: text).first }
    let held = first("/// Confined to the event loop.\nfinal class A: @unchecked Sendable {\n  var a = 1\n}\n")
    #expect(held?.isConfined == true && held?.checks == false)
    let checked = first(
      """
        final class A: @unchecked Sendable {
          // Unchecked: accessed on the loop only.
          func add() {
            loop.assertInEventLoop()
          }
        }
      """)
    #expect(checked?.isConfined == true && checked?.checks == true)
    #expect(first("/// Has a lock.\nclass A: @unchecked Sendable {\n}")?.isConfined == false)
    #expect(first("/// Confined to the event loop.\nfinal class A {\n}") == nil)
  }
}
