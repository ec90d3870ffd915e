import NIOConcurrencyHelpers

/// Finds out whether a delegate has the older of the two methods that announce a disconnection. The question cannot be
/// asked without Objective-C: the method is called, and its default body answers.
enum DisconnectionProbe {
  private struct Probe {
    let delegate: ObjectIdentifier
    var isMissing = false
  }

  /// By manager, the innermost delivery last.
  private static let probes = NIOLockedValueBox<[ObjectIdentifier: [Probe]]>([:])

  /// Makes the call and tells whether it came to the default body of `delegate` itself, not of another delegate that it
  /// forwards to.
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

  /// The default body ran. Looks at the identities of the objects only: anybody may call it, with anything.
  static func methodIsMissing(in delegate: AnyObject, manager: AnyObject) {
    let (delegate, manager) = (ObjectIdentifier(delegate), ObjectIdentifier(manager))
    probes.withLockedValue { probes in
      guard let last = probes[manager]?.indices.last, probes[manager]?[last].delegate == delegate else { return }
      probes[manager]?[last].isMissing = true
    }
  }
}
