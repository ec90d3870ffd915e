import BluetoothWire
import DequeModule

/// Who asked for a command, and so learns how it ended.
enum CommandPurpose: Hashable {
  case startup
  case shutdown
  case advertising
  case scanning
  case initiating
  case resolvingList
  case ownAddress
  case readRSSI(HCI.ConnectionHandle)
  /// Read RSSI, for its status alone.
  case checkLink(HCI.ConnectionHandle)
  case updateConnection(HCI.ConnectionHandle)
  case readRemoteFeatures(HCI.ConnectionHandle)
  case enableEncryption(HCI.ConnectionHandle)
  case disconnect(HCI.ConnectionHandle)
  /// Nobody waits for the end of it, and it may as well have no effect.
  case other

  /// Whether a controller that does not answer it is taken for broken. Some never answer commands that they do not know.
  var isEssential: Bool {
    switch self {
    case .advertising, .scanning, .initiating, .resolvingList, .readRSSI, .disconnect, .shutdown: true
    case .startup, .ownAddress, .updateConnection, .readRemoteFeatures, .enableEncryption, .checkLink, .other: false
    }
  }
}

/// The commands of a host, which go to the controller one at a time · Vol 4, Part E, 4.4.
struct CommandQueue {
  /// How long a controller may take for Command Complete or Command Status.
  static let timeout = TimeSpan.seconds(2)

  struct Entry {
    var command: HCI.Command
    var purpose: CommandPurpose
  }

  private enum State {
    /// The controller takes a command.
    case ready
    /// A command was sent.
    case waiting(Entry, until: Instant)
    /// The controller takes no command until it says so; `until` is set while one waits.
    case stopped(until: Instant?)
  }

  private var state = State.ready
  private var queue: Deque<Entry> = []

  var deadline: Instant? {
    switch state {
    case .ready: nil
    case .waiting(_, let until): until
    case .stopped(let until): until
    }
  }

  /// Whether no command waits to be sent.
  var isEmpty: Bool { queue.isEmpty }

  mutating func append(_ command: HCI.Command, for purpose: CommandPurpose) {
    queue.append(Entry(command: command, purpose: purpose))
  }

  /// Forgets all commands, sent or not; the controller is taken to be ready.
  mutating func removeAll() {
    state = .ready
    queue.removeAll(keepingCapacity: true)
  }

  /// Takes back what was not sent.
  mutating func removeUnsent() { queue.removeAll(keepingCapacity: true) }

  /// Takes back what was not sent, and nobody waits for the end of what was. The controller still takes nothing before it
  /// says so.
  mutating func disown() {
    removeUnsent()
    if case .waiting(var entry, let until) = state {
      entry.purpose = .other
      state = .waiting(entry, until: until)
    }
  }

  /// Takes back the commands for a link that were not sent: its handle may be another link's when their turn comes.
  mutating func removeAll(for handle: HCI.ConnectionHandle) -> [Entry] {
    guard queue.contains(where: { $0.command.connection == handle }) else { return [] }
    let removed = Array(queue.filter { $0.command.connection == handle })
    queue.removeAll { $0.command.connection == handle }
    return removed
  }

  /// Forgets the commands of these purposes that were not sent.
  mutating func removeUnsent(for purposes: Set<CommandPurpose>) {
    queue.removeAll { purposes.contains($0.purpose) }
  }

  /// Takes back a command: the one that was sent, then those that wait.
  mutating func popFirst() -> Entry? {
    if case .waiting(let entry, _) = state {
      state = .ready
      return entry
    }
    return queue.popFirst()
  }

  /// How far a command has got that was not answered yet.
  enum Progress {
    case waitsToBeSent
    case isSent
  }

  /// How far the commands of this purpose have got, the foremost one first; nil: there is none.
  func progress(of purpose: CommandPurpose) -> Progress? {
    if case .waiting(let entry, _) = state, entry.purpose == purpose { return .isSent }
    return queue.contains { $0.purpose == purpose } ? .waitsToBeSent : nil
  }

  /// The command to send now, if there is one and the controller takes it.
  mutating func takeCommand(at now: Instant) -> HCI.Command? {
    switch state {
    case .waiting: return nil
    case .stopped(let until):
      if until == nil, !queue.isEmpty { state = .stopped(until: now + Self.timeout) }
      return nil
    case .ready:
      guard let entry = queue.popFirst() else { return nil }
      state = .waiting(entry, until: now + Self.timeout)
      return entry.command
    }
  }

  /// A Command Complete or Command Status event has arrived. The result is the command that it answers; nil: none that
  /// waits for an answer, and then only how many commands the controller takes counts.
  mutating func answered(_ opcode: HCI.Opcode, credits: UInt8) -> Entry? {
    switch state {
    case .waiting(let entry, _) where entry.command.opcode == opcode:
      state = credits == 0 ? .stopped(until: nil) : .ready
      return entry
    // A late answer says it as well.
    case .stopped where credits > 0:
      state = .ready
      return nil
    case .ready where opcode == .none && credits == 0:
      state = .stopped(until: nil)
      return nil
    default: return nil
    }
  }

  enum Timeout {
    /// This command got no answer; the next one may be sent.
    case unanswered(Entry)
    /// The controller takes no more commands.
    case stopped
  }

  mutating func timeReached(_ now: Instant) -> Timeout? {
    guard let deadline, deadline <= now else { return nil }
    defer { state = .ready }
    if case .waiting(let entry, _) = state { return .unanswered(entry) }
    return .stopped
  }
}

extension HCI.Command {
  /// The link that it is about, of those commands that this host sends for one.
  fileprivate var connection: HCI.ConnectionHandle? {
    switch self {
    case .disconnect(let handle, _), .readRSSI(let handle), .leConnectionUpdate(let handle, _, _),
      .leSetDataLength(let handle, _), .leSetPHY(let handle, _, _), .leReadRemoteFeatures(let handle),
      .readRemoteVersionInformation(let handle), .leEnableEncryption(let handle, _, _, _),
      .leLongTermKeyRequestReply(let handle, _), .leLongTermKeyRequestNegativeReply(let handle),
      .leRemoteConnectionParameterRequestReply(let handle, _, _),
      .leRemoteConnectionParameterRequestNegativeReply(let handle, _):
      handle
    default: nil
    }
  }
}
