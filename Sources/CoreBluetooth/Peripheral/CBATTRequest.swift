import BluetoothDaemon
import NIOConcurrencyHelpers

/// A central's request to read or write a local characteristic.
open class CBATTRequest: NSObject {
  private let requester: CBCentral
  private let target: CBCharacteristic
  private let start: Int
  private let content: NIOLockedValueBox<Data?>
  /// The pending answer, shared by all requests of one callback: one response answers them all.
  let answer: PendingAnswer

  init(central: CBCentral, characteristic: CBCharacteristic, offset: Int, value: Data?, answer: PendingAnswer) {
    requester = central
    target = characteristic
    start = offset
    content = NIOLockedValueBox(value)
    self.answer = answer
    super.init()
  }

  /// Unavailable: `CBPeripheralManager` creates requests.
  @available(*, unavailable)
  public override init() { fatalError("CBATTRequest can't be created directly") }

  /// The central that sent the request.
  open var central: CBCentral { requester }

  /// The published characteristic object that the request refers to.
  open var characteristic: CBCharacteristic { target }

  /// The offset of the first requested octet in the value.
  open var offset: Int { start }

  /// For a write request, the value to write. For a read request, nil until the app sets the octets from `offset` on.
  open var value: Data? {
    get { content.withLockedValue { $0 } }
    set { content.withLockedValue { $0 = newValue } }
  }
}

extension CBATTRequest {
  /// True if the central waits for the response, false for a write without response and after the end of the link.
  package var needsResponse: Bool { answer.isOpen }
}

/// The state of a request that awaits `respond(to:withResult:)`.
final class PendingAnswer: Sendable {
  enum State {
    case open(CentralRequestID)
    /// A write without response, which needs no answer.
    case notNeeded
    case given
    /// The central has disconnected.
    case void
  }

  private let state: NIOLockedValueBox<State>
  let central: PeerHandle
  /// The manager that received the request, and the only one that can answer it.
  let owner: ManagerIdentity

  init(_ request: CentralRequestID?, from central: PeerHandle, to owner: ManagerIdentity) {
    self.central = central
    self.owner = owner
    state = NIOLockedValueBox(request.map { .open($0) } ?? .notNeeded)
  }

  /// Returns the previous state. An open request becomes given.
  func give() -> State {
    state.withLockedValue { state in
      let before = state
      if case .open = state { state = .given }
      return before
    }
  }

  var isOpen: Bool {
    state.withLockedValue { state in
      if case .open = state { true } else { false }
    }
  }

  func cancel() {
    state.withLockedValue { state in
      if case .open = state { state = .void }
    }
  }
}
