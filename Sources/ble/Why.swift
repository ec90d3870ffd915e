import ArgumentParser
import BluetoothAdapters
import BluetoothDaemon

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
    guard !users.isEmpty else { return "\(device): \(link), by the device itself" }
    return "\(device): \(link)\n" + users.map { "  \($0.text)" }.joined(separator: "\n")
  }
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
