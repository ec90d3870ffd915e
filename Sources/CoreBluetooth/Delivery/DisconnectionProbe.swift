import NIOConcurrencyHelpers

/// Detects whether a delegate implements the older of the two disconnection methods. Without Objective-C a program
/// can't ask for that, so the probe calls the method, whose default implementation reports the call.
enum DisconnectionProbe {
  private struct Probe {
    let delegate: ObjectIdentifier
    var isMissing = false
  }

  /// The probes by manager, the innermost delivery last.
  private static let probes = NIOLockedValueBox<[ObjectIdentifier: [Probe]]>([:])

  /// Makes the call and returns true if it reached the default implementation of `delegate` itself, not of another
  /// delegate to which it forwards calls.
  static func isMethodMissing(in delegate: AnyObject, manager: AnyObject, call: () -> Void) -> Bool {
    let (delegate, manager) = (ObjectIdentifier(delegate), ObjectIdentifier(manager))
    probes.withLockedValue { $0[manager, default: []].append(Probe(delegate: delegate)) }
    call()
    return probes.withLockedValue { probes in
      let probe = probes[manager]?.popLast()
      if probes[manager]?.isEmpty == true { probes[manager] = nil }
      return probe?.isMissing == true
    }
  }

  /// Records that the default implementation was called. Compares only object identities, because apps may call it
  /// with any objects.
  static func methodIsMissing(in delegate: AnyObject, manager: AnyObject) {
    let (delegate, manager) = (ObjectIdentifier(delegate), ObjectIdentifier(manager))
    probes.withLockedValue { probes in
      guard let last = probes[manager]?.indices.last, probes[manager]?[last].delegate == delegate else { return }
      probes[manager]?[last].isMissing = true
    }
  }
}
