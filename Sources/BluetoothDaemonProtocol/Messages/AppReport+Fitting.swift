import BluetoothDaemon

// A list for people must reach them although one of its entries is too long for a message.
extension AppReport {
  /// The maximum number of users, and of served apps, of a peer in a list. With pending procedures (16), subscriptions
  /// and texts of the maximum length, a peer takes less than 0.8 MiB.
  private static let maximumUsers = 200
  /// The maximum number of subscriptions of a served app in a list.
  private static let maximumSubscriptions = 64

  /// The report in a form that fits into one message: long texts are cut, and entries without room are left out. Of
  /// alerts these are the oldest ones, of other lists the last ones.
  package var fitted: AppReport {
    switch self {
    case .stop(let reason, let byUser): .stop(reason.cut(), byUser: byUser)
    case .apps(let apps): .apps(Self.beginning(of: apps.map(\.withShortTexts)) { .apps($0) })
    case .done(let failure): .done(failure: failure?.cut())
    case .alerts(let alerts):
      .alerts(Self.beginning(of: alerts.reversed().map(\.withShortTexts)) { .alerts($0) }.reversed())
    case .links(let usages): .links(Self.beginning(of: usages.map { Self.fitted($0) }) { .links($0) })
    case .stateChanged, .packet: self
    }
  }

  /// Returns the first entries of a list, as many as fit into one message.
  private static func beginning<Entry>(of entries: [Entry], _ report: ([Entry]) -> AppReport) -> [Entry] {
    var length = Self.length(of: report([]))
    // The length of a list is the length of the empty list and those of its entries.
    let emptyLength = length
    let fitting = entries.prefix { entry in
      length += Self.length(of: report([entry])) - emptyLength
      return length <= DaemonProtocol.maximumFrameLength
    }
    return Array(fitting)
  }

  /// The length of the frame in octets, without its length field.
  private static func length(of report: AppReport) -> Int {
    ServerMessage.app(report).encode(.none).octets.count - Frame.headerLength
  }

  private static func fitted(_ usage: PeerUsage) -> PeerUsage {
    var usage = usage
    usage.name = usage.name?.cut()
    usage.users = usage.users.prefix(maximumUsers).map { user in
      var user = user
      user.app = user.app?.cut()
      return user
    }
    usage.served = usage.served.prefix(maximumUsers).map { served in
      var served = served
      served.app = served.app?.cut()
      served.subscriptions = Array(served.subscriptions.prefix(maximumSubscriptions))
      return served
    }
    return usage
  }
}

extension AppDescription {
  fileprivate var withShortTexts: AppDescription {
    var copy = self
    copy.name = name.cut()
    copy.adapter = adapter.cut()
    copy.question = question?.cut()
    return copy
  }
}

extension AlertDescription {
  fileprivate var withShortTexts: AlertDescription {
    var copy = self
    copy.app = app.cut()
    copy.text = text.cut()
    return copy
  }
}
