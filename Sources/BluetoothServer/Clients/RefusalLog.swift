import BluetoothDaemonProtocol

/// The refusals that the log has. A program that a server refuses tries again without end, and one line tells of it
/// until the server accepts the program.
struct RefusalLog {
  private struct Key: Hashable {
    let program: String
    let reason: RefusalReason
  }

  /// The maximum number of refusals that are remembered. Above it, all are forgotten, and the log may repeat lines.
  private static let maximumCount = 1_024

  private var logged: Set<Key> = []

  /// Returns true if the log has no line about the refusal of this program for this reason.
  mutating func isNew(_ reason: RefusalReason, of client: ClientIdentity) -> Bool {
    if logged.count >= Self.maximumCount { logged.removeAll() }
    return logged.insert(Key(program: Self.program(of: client), reason: reason)).inserted
  }

  /// Forgets the refusals of a program, because the server has accepted it.
  mutating func accepted(_ client: ClientIdentity) {
    guard !logged.isEmpty else { return }
    let program = Self.program(of: client)
    logged = logged.filter { $0.program != program }
  }

  /// The program of a client, which is the same in its next attempt. The port of a client on TCP is another one then.
  private static func program(of client: ClientIdentity) -> String {
    if let process = client.process { return "\(process.user) \(process.program ?? "process \(process.id)")" }
    let address = client.address ?? ""
    return "TCP " + (address.lastIndex(of: ":").map { String(address[..<$0]) } ?? address)
  }
}
