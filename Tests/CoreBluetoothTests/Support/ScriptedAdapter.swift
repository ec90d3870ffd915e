import DequeModule
import NIOConcurrencyHelpers

@testable import BluetoothAdapters
@testable import BluetoothDaemon

/// An adapter whose service is the test: it sees the commands that come, and says what the service tells.
final class ScriptedAdapter: Adapter, AdapterSource {
  let directory = PeerDirectory()
  let deliversInPlace: Bool
  private let mailbox = Mailbox()
  private let kept = NIOLockedValueBox(Kept())

  private struct Kept {
    var central: CentralSession?
    var peripheral: PeripheralSession?
    var centralCommands: [CentralCommand] = []
    var peripheralCommands: [PeripheralCommand] = []
    var closed = 0
  }

  init(deliversInPlace: Bool = true) { self.deliversInPlace = deliversInPlace }

  var adapter: any Adapter { self }
  func absoluteTime() -> Double { 1234.5 }

  func openCentralSession(for client: any CentralClient) -> CentralSession {
    let session = CentralSession(client: client, mailbox: mailbox)
    kept.withLockedValue { $0.central = session }
    return session
  }

  func openPeripheralSession(for client: any PeripheralClient) -> PeripheralSession {
    let session = PeripheralSession(client: client, mailbox: mailbox)
    kept.withLockedValue { $0.peripheral = session }
    return session
  }

  /// Says to both managers what the adapter's state is.
  func tell(state: AdapterState) {
    tell(CentralEvent.stateChanged(state))
    tell(PeripheralEvent.stateChanged(state))
  }

  /// Says something to the central manager.
  func tell(_ event: CentralEvent) { kept.withLockedValue { $0.central }?.client?.receive(event) }

  /// Says something to the peripheral manager.
  func tell(_ event: PeripheralEvent) { kept.withLockedValue { $0.peripheral }?.client?.receive(event) }

  /// What the central manager has asked for since the last time; echoes are answered.
  func centralCommands() -> [CentralCommand] {
    takeMail()
    return kept.withLockedValue { kept in
      defer { kept.centralCommands = [] }
      return kept.centralCommands
    }
  }

  /// What the peripheral manager has asked for since the last time; echoes are answered.
  func peripheralCommands() -> [PeripheralCommand] {
    takeMail()
    return kept.withLockedValue { kept in
      defer { kept.peripheralCommands = [] }
      return kept.peripheralCommands
    }
  }

  /// How many sessions were closed.
  var closedSessions: Int {
    takeMail()
    return kept.withLockedValue { $0.closed }
  }

  func writeCredits(for peer: PeerHandle) -> TransmitCredits? {
    kept.withLockedValue { $0.central }?.writeCredits(for: peer)
  }

  var updateCredits: TransmitCredits? { kept.withLockedValue { $0.peripheral }?.updateCredits }

  private func takeMail() {
    var mail: Deque<Mail> = []
    mailbox.takeAll(&mail)
    for letter in mail {
      switch letter {
      case .central(_, .echo(let number), _): tell(CentralEvent.echoed(number))
      case .peripheral(_, .echo(let number), _): tell(PeripheralEvent.echoed(number))
      case .central(_, let command, _): kept.withLockedValue { $0.centralCommands.append(command) }
      case .peripheral(_, let command, _): kept.withLockedValue { $0.peripheralCommands.append(command) }
      case .centralClosed, .peripheralClosed: kept.withLockedValue { $0.closed += 1 }
      case .centralOpened, .peripheralOpened, .channel: break
      }
    }
  }
}
