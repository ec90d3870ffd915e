// Overview
//
// Code for Apple's CoreBluetooth must build and behave the same here. CoreBluetooth is that API: Apple's classes,
// delegates, queues, errors and constants, above a daemon that any adapter provides.
//
// The idea: an app's object is a thin, open class; its state is in a final core that is Sendable. `ManagerCore` below
// is the core of a manager: its session with the daemon, and its state. A call becomes a command of the session and
// returns; an event arrives on the adapter's executor, and is handled on the app's queue, where it changes the state
// that the app reads just before the callback that announces it.
//
// Callers: apps, CoreBluetoothExtras and BluetoothLab's test kit. The module calls BluetoothDaemon's sessions, and
// BluetoothAdapters for the adapter. It knows no PDUs and no opcodes.
//
// Invariants:
// - No call waits for the adapter's executor, and no lock is held while the app's code runs. The app's objects are
//   never released while the lock is held. Documentation/Contributing/Design.md, "Queues", has the rules of threads.
// - CB classes are open and not Sendable: subclasses of an `@unchecked Sendable` class warn in clients, and only CBUUID
//   may be. App objects cross threads in one box type (`AppBox`) that only the delivery opens.
// - Locks are `NIOLock` and `NIOLockedValueBox`, because Thread Sanitizer reports false races on
//   `Synchronization.Mutex` on Linux.
// - A mistake that raises an Objective-C exception on Apple's systems stops the program with Apple's reason
//   (`Raise.swift`); another misuse is logged (`Log.swift`).
// - Names, types and behaviour are Apple's; what differs is listed in Documentation/Differences.md.
//
// Where to begin: `CBCentralManager.swift` and `CentralManagerCore.swift` for one role; `CallbackQueue.swift` for
// delivery; `ConnectionAttempts.swift` for commands and events that cross; `ChannelStreams.swift` for L2CAP channels.
//
// Specification: Apple's documentation of Core Bluetooth.

import BluetoothDaemon
import DequeModule
import Foundation
import NIOConcurrencyHelpers

/// The types of a role's manager, and the steps that differ between the roles.
protocol ManagerRole: SessionRole {
  associatedtype Manager: CBManager
  /// The part of the core's state that only this role has.
  associatedtype State
  associatedtype Event: ManagerEvent
  /// The parts of an event that must be read when it arrives: its octets are not valid afterwards.
  associatedtype Copies: Sendable

  /// The copies of an event that needs none.
  static var noCopies: Copies { get }
  static func copies(of event: Event, for core: ManagerCore<Self>) -> Copies
  /// Handles an event on the app's queue.
  static func handle(_ event: Event, _ copies: Copies, _ core: ManagerCore<Self>, _ manager: Manager)

  static func makeState() -> State
  static func openSession(of core: ManagerCore<Self>, on adapter: any DaemonAdapter) -> Session<Self>
  static func sendBarrier(_ number: UInt32, on session: Session<Self>)
}

/// An event of a session.
protocol ManagerEvent: Sendable {
  static func stateChanged(_ state: AdapterState) -> Self
  var isStateChange: Bool { get }
  var withoutOctets: Self { get }
}

/// The implementation of a manager: its session with the daemon, and its state.
///
/// Events arrive on the adapter's executor and are handled on the app's queue; commands come from any thread. The lock
/// is never held while the app's code runs. The app's objects are never released while the lock is held, because the
/// deinit of a peripheral takes the lock.
///
/// This file has the part that both roles share.
final class ManagerCore<Role: ManagerRole>: Sendable {
  struct State {
    weak var manager: Role.Manager?
    var session: Session<Role>?
    var managerState = CBManagerState.unknown
    /// False if the app checks the state before each command; see `LateCommands.swift`.
    var reportsLateCommands = true
    var replies = OrderedReplies()
    /// The keys of options, and the names of functions, without effect that have been logged.
    var notedOptions: Set<String> = []
    var role = Role.makeState()
  }

  let identity = ManagerIdentity()
  let adapter: (any DaemonAdapter)?
  let callbacks: CallbackQueue
  /// The app and the restore identifier of the session; nil: the manager belongs to no app.
  let owner: SessionOwner?
  private let state = NIOLockedValueBox(AppBox(value: State()))
  private let mailbox = EventMailbox<Role>()

  init(queue: DispatchQueue?, adapter: (any DaemonAdapter)?, restoreIdentifier: String?) {
    self.adapter = adapter
    owner = adapter?.app.map { SessionOwner(app: $0, restoreIdentifier: restoreIdentifier) }
    callbacks = CallbackQueue(queue, inVirtualTime: adapter?.deliversInPlace ?? false)
  }

  func with<R>(_ body: (inout State) -> R) -> R { state.withLockedValue { body(&$0.value) } }

  /// Opens the session and starts to receive events.
  func open(for manager: Role.Manager) {
    with { state in
      state.manager = manager
      state.session = adapter.map { Role.openSession(of: self, on: $0) }
    }
    // Without an adapter there is no session to report the state.
    if adapter == nil {
      callbacks.enqueue { self.handle(.stateChanged(.unsupported), Role.noCopies) }
    }
  }

  /// Resets the state, which ends all callbacks. Returns the previous state, whose session the caller must close.
  func reset() -> State {
    with { state in
      let before = state
      state = State()
      return before
    }
  }

  // MARK: Identifiers

  /// Returns the identifier by which the app knows a peer.
  func identifier(of peer: PeerIdentifier) -> UUID {
    let identifier = adapter?.identifier(of: peer) ?? peer
    return UUID(high: identifier.high, low: identifier.low)
  }

  /// Returns the adapter's identifiers of the peers that the app knows by `identifiers`, without unknown ones.
  func adapterIdentifiers(_ identifiers: [UUID]) -> [PeerIdentifier] {
    let identifiers = identifiers.map { PeerIdentifier(high: $0.halves.high, low: $0.halves.low) }
    return adapter?.adapterIdentifiers(of: identifiers) ?? identifiers
  }

  /// Logs why the option for restoration has no effect.
  func noteRestorability(of manager: Role.Manager, _ identifier: String?) {
    if identifier == nil {
      Log.misuse("\(manager): the restore identifier is not a String: the manager is not restored")
    } else if owner == nil {
      Log.warning(
        "\(manager): the restore identifier has no effect, because the process is not an app of a world or of btserver")
    }
  }

  // MARK: State for apps

  var managerState: CBManagerState { with { $0.managerState } }
  var access: AppAccess { adapter?.access ?? .allowed }

  /// Returns true if commands are accepted now. Otherwise the command is logged and dropped.
  func accepts(from manager: Role.Manager) -> Bool {
    callbacks.noteCaller(of: manager)
    if managerState == .poweredOn { return true }
    reportLateCommand("\(manager) can only accept this command while in the powered on state")
    return false
  }

  /// Runs `answer` on the app's queue, after the answers to all earlier calls.
  func answerInTurn(_ answer: @escaping () -> Void) {
    let (session, number) = with { ($0.session, $0.replies.add(answer)) }
    if let session { Role.sendBarrier(number, on: session) }
  }

  // MARK: Events

  var queuesEvents: Bool { !callbacks.isInVirtualTime }

  /// Takes an event on the adapter's executor and handles it on the app's queue.
  func take(_ event: Role.Event) {
    let copies = Role.copies(of: event, for: self)
    if callbacks.isInVirtualTime {
      callbacks.perform { handle(event, copies) }
    } else {
      let session = with { $0.session }
      session?.eventQueued()
      mailbox.add(EventMailbox.Entry(core: self, session: session, event: event.withoutOctets, copies: copies))
      callbacks.enqueue(mailbox.handleOldest)
    }
  }

  fileprivate func handle(_ event: Role.Event, _ copies: Role.Copies) {
    guard let manager = with({ $0.manager }) else { return }
    Role.handle(event, copies, self, manager)
  }
}

extension ManagerCore: AnyManagerCore {}

/// The events that wait for the app's queue, the oldest one first.
///
/// One block, which is made once, handles the oldest event each time the queue executes it: neither a closure nor a
/// block is allocated for an event.
private final class EventMailbox<Role: ManagerRole>: Sendable {
  struct Entry {
    let core: ManagerCore<Role>
    let session: Session<Role>?
    let event: Role.Event
    let copies: Role.Copies

    func handle() {
      if event.isStateChange { session?.noteStateSeen() }
      core.handle(event, copies)
      session?.eventHandled()
    }
  }

  private let entries: NIOLockedValueBox<Deque<Entry>>
  /// Is enqueued once for each entry.
  let handleOldest: @Sendable @convention(block) () -> Void

  init() {
    let entries = NIOLockedValueBox(Deque<Entry>())
    self.entries = entries
    handleOldest = { entries.withLockedValue { $0.popFirst() }?.handle() }
  }

  func add(_ entry: Entry) { entries.withLockedValue { $0.append(entry) } }
}
