import ArgumentParser
import BluetoothAdapters
import BluetoothDaemon
import BluetoothTypes
import BluetoothWire

/// The command that tells which apps use a device.
struct Why: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Tells which apps of a btserver hold the link to a device, and what they wait for.")

  @OptionGroup var options: ServerOptions

  @Argument(help: "The name of the device, its address, or an identifier by which an app knows it.")
  var device: String

  func run() throws {
    let usages = try options.ask { try $0.uses(of: device) }
    guard !usages.isEmpty else {
      return try say("\(device): there is no link to this device, and no app waits for it")
    }
    for usage in usages { try say(usage.text) }
  }
}

extension PeerUsage {
  /// The uses in lines, for people.
  fileprivate var text: String {
    let device = name.map { "\($0) (\(address))" } ?? "\(address)"
    let link = isEnding ? "the link is being ended" : isLinked ? "linked" : "not linked"
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
    // Names come from peers and from paths of programs, and must not begin other lines.
    return lines.map(\.printable).joined(separator: "\n")
  }
}

extension PeerUsage.Pending {
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
    case .delayed: parts.append("is about to connect")
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
