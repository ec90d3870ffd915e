import BluetoothDaemon
import NIOConcurrencyHelpers

/// A central's request to read or to write a local characteristic.
open class CBATTRequest: NSObject {
  private let requester: CBCentral
  private let target: CBCharacteristic
  private let start: Int
  private let content: NIOLockedValueBox<Data?>
  /// Shared by all requests of one batch: one answer is for all of them.
  let answer: PendingAnswer

  init(central: CBCentral, characteristic: CBCharacteristic, offset: Int, value: Data?, answer: PendingAnswer) {
    requester = central
    target = characteristic
    start = offset
    content = NIOLockedValueBox(value)
    self.answer = answer
    super.init()
  }

  /// Requests are made by `CBPeripheralManager`.
  @available(*, unavailable)
  public override init() { fatalError("CBATTRequest can't be created directly") }

  /// Who asks.
  open var central: CBCentral { requester }

  /// What for: the object that was published.
  open var characteristic: CBCharacteristic { target }

  /// The first octet of the value that is asked for.
  open var offset: Int { start }

  /// Of a write: what is to be written. Of a read: nil until the app puts the octets from `offset` on there.
  open var value: Data? {
    get { content.withLockedValue { $0 } }
    set { content.withLockedValue { $0 = newValue } }
  }
}

/// A request that waits for `respond`.
final class PendingAnswer: Sendable {
  enum State {
    case open(CentralRequestID)
    /// A write without response: nobody waits.
    case notNeeded
    case given
    /// The central is gone.
    case void
  }

  private let state: NIOLockedValueBox<State>
  let central: PeerHandle
  /// The manager that received the request, and that alone can answer it.
  let owner: ManagerIdentity

  init(_ request: CentralRequestID?, from central: PeerHandle, to owner: ManagerIdentity) {
    self.central = central
    self.owner = owner
    state = NIOLockedValueBox(request.map { .open($0) } ?? .notNeeded)
  }

  /// The state so far; one that was open is given now.
  func give() -> State {
    state.withLockedValue { state in
      let before = state
      if case .open = state { state = .given }
      return before
    }
  }

  func cancel() {
    state.withLockedValue { state in
      if case .open = state { state = .void }
    }
  }
}
