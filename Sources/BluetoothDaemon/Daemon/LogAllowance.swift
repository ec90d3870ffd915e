import BluetoothWire

/// The log lines that others may cause: a number in each period for each origin, so that nobody fills the disk or hides
/// other lines. Further lines are omitted and counted.
package struct LogAllowance<Origin: Hashable> {
  /// The number of lines of an origin that have been omitted; of all origins without an allowance, if there is no origin.
  package typealias Omission = (origin: Origin?, count: Int)

  private struct Account {
    var end: Instant
    var lines = 0
    var omitted = 0
  }

  /// The maximum number of lines of an origin in a period.
  package let lines: Int
  package let period: TimeSpan
  /// The maximum number of origins with an allowance. Lines of further ones are omitted.
  package let maximumOrigins: Int
  private var accounts: [Origin: Account] = [:]
  /// The origins with accounts, in the order in which their periods end.
  private var order: [Origin] = []
  /// The number of omitted lines of origins without an account.
  private var omittedOfOthers = 0

  package init(lines: Int = 60, period: TimeSpan = .seconds(60), maximumOrigins: Int = 1_024) {
    (self.lines, self.period, self.maximumOrigins) = (lines, period, maximumOrigins)
  }

  /// Returns true if a line of an origin may be logged, and counts it. `takeOmissions` must have been called if
  /// `deadline` has passed.
  package mutating func admits(_ origin: Origin, at now: Instant) -> Bool {
    guard var account = accounts[origin] else {
      guard accounts.count < maximumOrigins, lines > 0 else {
        omittedOfOthers += 1
        return false
      }
      accounts[origin] = Account(end: now + period, lines: 1)
      order.append(origin)
      return true
    }
    let isAdmitted = account.lines < lines
    if isAdmitted { account.lines += 1 } else { account.omitted += 1 }
    accounts[origin] = account
    return isAdmitted
  }

  /// The time at which `takeOmissions` must be called next; nil: no line has been caused lately.
  package var deadline: Instant? { order.first.flatMap { accounts[$0]?.end } }

  /// Ends the periods that are over.
  ///
  /// - Parameter now: the time; nil: ends all periods, because the log ends.
  /// - Returns: the number of omitted lines of each origin that has some, in the order of their periods; nil stands for
  ///   all origins without an allowance.
  package mutating func takeOmissions(at now: Instant?) -> [Omission] {
    var result: [Omission] = []
    var ended = 0
    while ended < order.count, let account = accounts[order[ended]], now.map({ account.end <= $0 }) ?? true {
      if account.omitted > 0 { result.append((order[ended], account.omitted)) }
      accounts[order[ended]] = nil
      ended += 1
    }
    order.removeFirst(ended)
    if ended > 0, omittedOfOthers > 0 {
      result.append((nil, omittedOfOthers))
      omittedOfOthers = 0
    }
    return result
  }
}

extension LogAllowance: Sendable where Origin: Sendable {}
