import DequeModule
import NIOConcurrencyHelpers

@testable import BluetoothAdapters
@testable import BluetoothDaemon

/// An adapter whose daemon is the test: the test reads the managers' commands and sends the daemon's events.
final class ScriptedAdapter: DaemonAdapter, AdapterSource {
  let directory = PeerDirectory()
  let deliversInPlace: Bool
  private let sessions = LocalSessions()
  private let kept = NIOLockedValueBox(Kept())

  private struct Kept {
    var central: CentralSession?
    var peripheral: PeripheralSession?
    var centralCommands: [CentralCommand] = []
    var peripheralCommands: [PeripheralCommand] = []
    var closed = 0
  }

  init(deliversInPlace: Bool = true) { self.deliversInPlace = deliversInPlace }

  var adapter: any DaemonAdapter { self }
  func absoluteTime() -> Double { 1234.5 }

  func openCentralSession(for client: any CentralClient, owner: SessionOwner?) -> CentralSession {
    let session = CentralSession(client: client, in: sessions)
    kept.withLockedValue { $0.central = session }
    return session
  }

  func openPeripheralSession(for client: any PeripheralClient, owner: SessionOwner?) -> PeripheralSession {
    let session = PeripheralSession(client: client, in: sessions)
    kept.withLockedValue { $0.peripheral = session }
    return session
  }

  /// Reports the adapter's state to both managers.
  func tell(state: AdapterState) {
    tell(CentralEvent.stateChanged(state))
    tell(PeripheralEvent.stateChanged(state))
  }

  /// Sends an event to the central manager.
  func tell(_ event: CentralEvent) {
    if let session = kept.withLockedValue({ $0.central }) { sessions.client(of: session.id)?.receive(event) }
  }

  /// Sends an event to the peripheral manager.
  func tell(_ event: PeripheralEvent) {
    if let session = kept.withLockedValue({ $0.peripheral }) { sessions.client(of: session.id)?.receive(event) }
  }

  /// Returns the central manager's commands since the last call, and answers barriers.
  func centralCommands() -> [CentralCommand] {
    takeRequests()
    return kept.withLockedValue { kept in
      defer { kept.centralCommands = [] }
      return kept.centralCommands
    }
  }

  /// Returns the peripheral manager's commands since the last call, and answers barriers.
  func peripheralCommands() -> [PeripheralCommand] {
    takeRequests()
    return kept.withLockedValue { kept in
      defer { kept.peripheralCommands = [] }
      return kept.peripheralCommands
    }
  }

  /// The number of closed sessions.
  var closedSessions: Int {
    takeRequests()
    return kept.withLockedValue { $0.closed }
  }

  func writeCredits(for peer: PeerHandle) -> TransmitCredits? {
    kept.withLockedValue { $0.central }?.writeCredits(for: peer)
  }

  var updateCredits: TransmitCredits? { kept.withLockedValue { $0.peripheral }?.updateCredits }

  private func takeRequests() {
    var requests: Deque<DaemonRequest> = []
    sessions.requests.takeAll(&requests)
    for request in requests {
      switch request {
      case .central(_, .barrier(let number), _): tell(CentralEvent.barrierReached(number))
      case .peripheral(_, .barrier(let number), _): tell(PeripheralEvent.barrierReached(number))
      case .central(_, let command, _): kept.withLockedValue { $0.centralCommands.append(command) }
      case .peripheral(_, let command, _): kept.withLockedValue { $0.peripheralCommands.append(command) }
      case .closeCentral, .closePeripheral: kept.withLockedValue { $0.closed += 1 }
      case .openCentral, .openPeripheral, .channel, .app, .system, .introduce, .unhandled: break
      }
    }
  }
}
