// Design: late answers of a controller
//
// An answer with the opcode of an earlier command that has timed out may be that command's. The host compares the
// connection handles; if they do not decide, it takes the second answer, or the only one once the time of the later
// command is over.

import BluetoothWire
import DequeModule

/// The part of the host that sends a command and handles its end.
enum CommandPurpose: Hashable {
  case startup
  case shutdown
  case advertising(HCI.AdvertisingHandle)
  case scanning
  case initiating
  case synchronizing
  case resolvingList
  case ownAddress
  case readRSSI(HCI.ConnectionHandle)
  /// Read RSSI for its status alone, which shows whether the link exists.
  case checkLink(HCI.ConnectionHandle)
  /// LE Read Buffer Size for its answer alone, which shows that a silent controller works.
  case checkController
  case updateConnection(HCI.ConnectionHandle)
  /// LE Set PHY after the creation of a link.
  case choosePHYs(HCI.ConnectionHandle)
  /// The command of a `LinkRequest`, except for connection parameters.
  case changeLink(HCI.ConnectionHandle)
  case readRemoteFeatures(HCI.ConnectionHandle)
  case enableEncryption(HCI.ConnectionHandle)
  case disconnect(HCI.ConnectionHandle)
  /// A command whose result the host ignores.
  case other

  /// True for commands that exist in a legacy and an extended form, and for those that need the extended form.
  var isForRadio: Bool {
    switch self {
    case .advertising, .scanning, .initiating, .synchronizing: true
    default: false
    }
  }

  /// True if the controller counts as failed when it does not answer the command. Some controllers never answer
  /// commands that they do not know.
  var isEssential: Bool {
    switch self {
    case .advertising, .scanning, .initiating, .resolvingList, .readRSSI, .disconnect, .shutdown, .checkController:
      true
    case .startup, .synchronizing, .ownAddress, .updateConnection, .choosePHYs, .changeLink, .readRemoteFeatures,
      .enableEncryption, .checkLink, .other:
      false
    }
  }

  /// True if the host sends the command again to a controller that has not answered it.
  var isRepeated: Bool {
    switch self {
    case .startup, .checkLink, .checkController: true
    case .shutdown, .advertising, .scanning, .initiating, .synchronizing, .resolvingList, .ownAddress, .readRSSI,
      .updateConnection, .choosePHYs, .changeLink, .readRemoteFeatures, .enableEncryption, .disconnect, .other:
      false
    }
  }
}

/// The queue of a host's commands, which go to the controller one at a time · Vol 4, Part E, 4.4.
struct CommandQueue {
  /// The maximum time to Command Complete or Command Status.
  static let timeout = TimeSpan.seconds(2)

  struct Entry {
    let command: HCI.Command
    let opcode: HCI.Opcode
    var purpose: CommandPurpose

    init(_ command: HCI.Command, for purpose: CommandPurpose) {
      self.command = command
      opcode = command.opcode
      self.purpose = purpose
    }
  }

  /// Command Complete or Command Status.
  struct Answer {
    var opcode: HCI.Opcode
    var status: HCI.ErrorCode
    /// The return parameters of Command Complete; nil: Command Status.
    var parameters: HCI.ReturnParameters?
    /// The number of commands that the controller accepts.
    var credits: UInt8
  }

  private enum State {
    /// The controller accepts a command.
    case ready
    /// A command has been sent and is not answered yet.
    case waiting(Entry, until: Instant)
    /// The controller accepts no command until it reports free command credits; `until` is set while a command is
    /// queued.
    case stopped(until: Instant?)
  }

  /// The maximum number of commands in `overdue`.
  private static let maximumOverdue = 8

  private var state = State.ready
  private var queue: Deque<Entry> = []
  /// The commands that the controller has not answered in time. Their answers may still come.
  private var overdue: [HCI.Command] = []
  /// The latest answer with the opcode of the waiting command that may belong to an overdue command instead.
  private var held: Answer?

  var deadline: Instant? {
    switch state {
    case .ready: nil
    case .waiting(_, let until): until
    case .stopped(let until): until
    }
  }

  /// True if no command is queued.
  var isEmpty: Bool { queue.isEmpty }

  mutating func append(_ command: HCI.Command, for purpose: CommandPurpose) {
    queue.append(Entry(command, for: purpose))
  }

  /// Removes all commands, sent or not, and assumes that the controller accepts a command.
  mutating func removeAll() {
    state = .ready
    queue.removeAll(keepingCapacity: true)
    overdue.removeAll()
    held = nil
  }

  /// Removes the commands that have not been sent.
  mutating func removeUnsent() { queue.removeAll(keepingCapacity: true) }

  /// Removes the commands that have not been sent, and ignores the end of the one that has been sent. The queue still
  /// waits for the controller before it sends the next command.
  mutating func disown() {
    removeUnsent()
    if case .waiting(var entry, let until) = state {
      entry.purpose = .other
      state = .waiting(entry, until: until)
    }
  }

  /// Removes and returns the commands for a link that have not been sent: another link may have the same handle when
  /// they would be sent.
  mutating func removeAll(for handle: HCI.ConnectionHandle) -> [Entry] {
    guard queue.contains(where: { $0.command.connection == handle }) else { return [] }
    let removed = Array(queue.filter { $0.command.connection == handle })
    queue.removeAll { $0.command.connection == handle }
    return removed
  }

  /// Removes the commands for advertising, scanning, connecting and synchronization that have not been sent.
  mutating func removeUnsentRadioCommands() {
    queue.removeAll { $0.purpose.isForRadio }
  }

  /// Removes and returns the first command: the one that was sent, or else the first in the queue.
  mutating func popFirst() -> Entry? {
    if case .waiting(let entry, _) = state {
      state = .ready
      held = nil
      return entry
    }
    return queue.popFirst()
  }

  /// The progress of a command without an answer.
  enum Progress {
    case waitsToBeSent
    case isSent
  }

  /// Returns the progress of the first command for this purpose; nil: there is none.
  func progress(of purpose: CommandPurpose) -> Progress? {
    if case .waiting(let entry, _) = state, entry.purpose == purpose { return .isSent }
    return queue.contains { $0.purpose == purpose } ? .waitsToBeSent : nil
  }

  /// Removes and returns the command to send now; nil: the queue is empty, or the controller accepts no command.
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

  /// Handles Command Complete or Command Status. Returns the command that the event answers; nil: no command waits
  /// for this answer, and only the number of command credits in the event counts.
  ///
  /// An answer that may belong to an overdue command is held: it answers the waiting command only if no other answer
  /// comes in time.
  mutating func answered(_ answer: Answer) -> Entry? {
    if !overdue.isEmpty, isLate(answer) { return nil }
    switch state {
    case .waiting(let entry, _) where entry.opcode == answer.opcode:
      held = nil
      state = answer.credits == 0 ? .stopped(until: nil) : .ready
      return entry
    // A late answer also carries command credits.
    case .stopped where answer.credits > 0:
      state = .ready
      return nil
    case .ready where answer.opcode == .none && answer.credits == 0:
      state = .stopped(until: nil)
      return nil
    default: return nil
    }
  }

  /// Returns true if the answer belongs to an overdue command and not to the waiting one with the same opcode, or if
  /// it may: then the answer is held.
  private mutating func isLate(_ answer: Answer) -> Bool {
    guard let first = overdue.firstIndex(where: { $0.opcode == answer.opcode }) else { return false }
    guard case .waiting(let entry, _) = state, entry.opcode == answer.opcode else {
      overdue.remove(at: first)
      return false
    }
    // If the commands are equal, either answer answers both.
    if overdue.allSatisfy({ $0.opcode != answer.opcode || $0 == entry.command }) { return false }
    if let handle = answer.parameters?.connection {
      let place = overdue.firstIndex { $0.opcode == answer.opcode && $0.connection == handle }
      if handle == entry.command.connection, place == nil { return false }
      if handle != entry.command.connection, let place {
        overdue.remove(at: place)
        return true
      }
    }
    overdue.remove(at: first)
    held = answer
    return true
  }

  enum Timeout {
    /// The command was not answered in time; the next one may be sent.
    case unanswered(Entry)
    /// The command has only an answer that might have belonged to an overdue command.
    indirect case answered(Entry, Answer)
    /// The controller has stopped accepting commands.
    case stopped
  }

  mutating func timeReached(_ now: Instant) -> Timeout? {
    guard let deadline, deadline <= now else { return nil }
    guard case .waiting(let entry, _) = state else {
      state = .ready
      return .stopped
    }
    if let answer = held {
      held = nil
      // The missing answer was lost, so the next commands do not wait for it.
      overdue.removeAll { $0.opcode == answer.opcode }
      state = answer.credits == 0 ? .stopped(until: nil) : .ready
      return .answered(entry, answer)
    }
    state = .ready
    if overdue.count == Self.maximumOverdue { overdue.removeFirst() }
    overdue.append(entry.command)
    return .unanswered(entry)
  }
}
