import ArgumentParser
import BluetoothAir
import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothDissection
import BluetoothTypes
import BluetoothWire

/// The command that tells which apps use a device.
struct Why: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Tells which apps of a btserver hold the link to a device, and what they wait for."
  )
  .examples("ble why strap", "ble why E7:0C:B8:CF:22:CB --json")

  @OptionGroup var options: ServerOptions

  @Argument(help: "The name of the device, its address, or an identifier by which an app knows it.")
  var device: String

  @OptionGroup var output: OutputOptions

  func run() throws {
    let usages = try options.ask { try $0.uses(of: device) }
    guard !usages.isEmpty else {
      let names = try options.ask { try $0.peers().compactMap(\.name) }
      throw Failure(
        "the adapter knows no device \"\(device)\"" + NameSuggestion.suggestion(for: device, among: names),
        status: ExitStatus.notFound)
    }
    if output.json { return try put(usages.map { $0.record.line + "\n" }.joined()) }
    for usage in usages { try say(lines: usage.lines) }
  }
}

extension PeerUsage {
  /// The uses in lines, for people.
  fileprivate var lines: [String] {
    let device = name.map { "\($0) (\(address))" } ?? "\(address)"
    let link = isEnding ? "the link is being ended" : isLinked ? "linked" : "not linked"
    guard isLinked || !users.isEmpty else {
      return ["\(device): there is no link to this device, and no app waits for it"]
    }
    var lines = [users.isEmpty ? "\(device): \(link), by the device itself" : "\(device): \(link)"]
    for user in users {
      lines.append("  \(user.text)")
      lines += user.pending.map { "    waits for \($0.text)" }
    }
    for app in served {
      let name = app.app ?? "a program that is no app"
      let types = app.subscriptions.map(\.title).joined(separator: ", ")
      lines.append("  \(name) serves it" + (types.isEmpty ? "" : "; it has subscribed to \(types)"))
      lines += app.pending.map { "    must answer \($0.text)" }
    }
    return lines
  }
}

extension PeerUsage {
  /// The uses as a record.
  fileprivate var record: JSONRecord {
    var record = JSONRecord("use")
    record.add("name", name)
    record.add("address", address.digits)
    record.add("addressKind", address.kind == .public ? "public" : "random")
    record.add("linked", .flag(isLinked))
    record.add("ending", .flag(isEnding))
    record.add("users", .list(users.map(\.json)))
    record.add("served", .list(served.map(\.json)))
    return record
  }
}

extension PeerUsage.User {
  /// The user as a value of a record.
  fileprivate var json: JSONText {
    let phase =
      switch self.phase {
      case .delayed: "delayed"
      case .connecting: "connecting"
      case .connected: "connected"
      case .disconnecting: "disconnecting"
      }
    var fields: [(String, JSONText)] = []
    if let app { fields.append(("app", .text(app))) }
    fields += [
      ("phase", .text(phase)), ("reconnects", .flag(reconnects)), ("preserved", .flag(isPreserved)),
      ("blocked", .flag(isBlocked)), ("pending", .list(pending.map(\.json))),
    ]
    return .object(fields)
  }
}

extension PeerUsage.Served {
  /// The served app as a value of a record.
  fileprivate var json: JSONText {
    var fields: [(String, JSONText)] = []
    if let app { fields.append(("app", .text(app))) }
    fields += [
      ("subscriptions", .list(subscriptions.map { .text("\($0)") })), ("pending", .list(pending.map(\.json))),
    ]
    return .object(fields)
  }
}

extension PeerUsage.Pending {
  /// The procedure as a value of a record.
  fileprivate var json: JSONText {
    let procedure =
      switch self.procedure {
      case .read: "read"
      case .write: "write"
      case .writeWithoutResponse: "writeWithoutResponse"
      case .discovery: "discovery"
      }
    var fields: [(String, JSONText)] = [("procedure", .text(procedure))]
    if let attribute { fields.append(("attribute", .text("\(attribute)"))) }
    fields.append(("time", .decimal(Double(milliseconds) / 1_000, places: 3)))
    return .object(fields)
  }

  fileprivate var text: String {
    let type = attribute.map(\.title)
    let procedure =
      switch self.procedure {
      case .read: "a read of \(type ?? "a value")"
      case .write: "a write to \(type ?? "a value")"
      case .writeWithoutResponse: "the transmission of a write without response"
      case .discovery: "a discovery"
      }
    return "\(procedure), for \(milliseconds / 1_000).\(milliseconds % 1_000 / 100) s"
  }
}

extension BluetoothUUID {
  /// The assigned name with the UUID, or the UUID alone.
  fileprivate var title: String { KnownNames.name(of: self).map { "\($0) (\(self))" } ?? "\(self)" }
}

extension PeerUsage.User {
  fileprivate var text: String {
    var parts: [String] = []
    switch phase {
    case .delayed: parts.append("begins to connect later")
    case .connecting: parts.append("waits until the device advertises")
    case .connected: parts.append("is connected")
    case .disconnecting: parts.append("is disconnecting")
    }
    if reconnects { parts.append("connects again after a loss") }
    if isPreserved { parts.append("has ended, and the system keeps its state") }
    if isBlocked { parts.append("does not handle its events, so that the device must wait") }
    return "\(app ?? "a program that is no app") \(parts.joined(separator: "; "))"
  }
}
