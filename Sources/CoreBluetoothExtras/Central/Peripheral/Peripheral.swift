import BluetoothTypes
import CoreBluetooth
import DequeModule
import NIOConcurrencyHelpers

/// A remote peripheral, for Swift concurrency.
///
/// The app must retain the peripheral: when the last reference is released, the connection or the connection attempt
/// ends. Services, characteristics, descriptors and running iterations retain their peripheral; channels do not.
///
/// Results are reported for each attribute in the order of the calls: operations of one kind on one attribute wait for
/// each other, all others are in progress at the same time.
public final class Peripheral: Sendable, Identifiable {
  struct State {
    /// The delegate, which the peer holds weakly.
    var delegate: PeripheralDelegate?
    /// False once the peer has been forgotten; it must be discovered again.
    var isUsable = true
    // The link; see `Peripheral+Connecting.swift`.
    var isLinked = false
    /// The controller's reason for the end of the link, which is about to be reported.
    var endReason: HCIErrorCode?
    /// True if the end of the link or of the attempt was requested and has not been reported yet.
    var isEnding = false
    var lastDisconnection: Disconnection?
    var connectWaiters: [PendingOperation<Void>] = []
    var disconnectWaiters: [PendingOperation<Void>] = []
    // The operations on the link.
    var operations = OperationTable()
    /// The values that wait for room to be sent without response.
    var unsent: Deque<UnsentValue> = []
    /// The subscriptions with at least one iteration.
    var subscriptions: [ObjectIdentifier: Subscription] = [:]
    var iterationCount = 0
    /// The attributes that were discovered on this link and are valid.
    var attributes: [ObjectIdentifier: CBAttribute] = [:]
    /// The procedures of control points among these attributes.
    var procedures: [ObjectIdentifier: ProcedureState] = [:]
  }

  let central: Central
  private let box: Unchecked<CBPeripheral>
  private let content = NIOLockedValueBox(Unchecked(State()))
  private let ends = Broadcast<Disconnection>()
  private let changes = Broadcast<[RemoteService]>()
  let links = Broadcast<LinkProperties>(repeatsLatest: true)

  init(_ peer: CBPeripheral, of central: Central) {
    box = Unchecked(peer)
    self.central = central
  }

  deinit { central.released(ObjectIdentifier(self), peer) }

  /// Makes this object the delegate of its peer.
  func takeCallbacks() {
    let delegate = PeripheralDelegate(self)
    peer.delegate = delegate
    let box = Unchecked(delegate)
    with { $0.delegate = box.value }
    peer.setLinkObserver { [weak self] event in self?.handle(event) }
  }

  /// The object of Apple's API.
  var peer: CBPeripheral { box.value }

  func with<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try content.withLockedValue { try body(&$0.value) }
  }

  // MARK: Properties

  /// The identifier of the device, constant for as long as this machine knows the device. It is not the device's
  /// address.
  public var id: UUID { peer.identifier }

  /// The value of the peripheral's Device Name characteristic; the advertised name until that value is known.
  public var name: String? { peer.name }

  /// The state of this app's connection to the peripheral.
  public var state: CBPeripheralState { peer.state }

  /// The maximum length of a written value in octets. Without response, it is ATT_MTU − 3, which grows soon after
  /// connecting.
  public func maximumWriteLength(for type: CBCharacteristicWriteType) -> Int { peer.maximumWriteValueLength(for: type) }

  /// The end of the latest connection; nil: there was none.
  public var lastDisconnection: Disconnection? { with { $0.lastDisconnection } }

  /// The ends of this peripheral's connections, from the beginning of the iteration on.
  public var disconnections: EventSequence<Disconnection> {
    EventSequence(owner: self) { [ends] in ends.subscribe() }
  }

  /// The services that have become invalid because the peripheral has changed its attributes, from the beginning of the
  /// iteration on. An empty array reports new services. Operations on invalid attributes throw
  /// `CBError.uuidNotAllowed`; discover the services again.
  public var invalidatedServices: EventSequence<[RemoteService]> {
    EventSequence(owner: self) { [changes] in changes.subscribe() }
  }

  func report(_ disconnection: Disconnection) { ends.send(disconnection) }
  func report(invalid services: [RemoteService]) { changes.send(services) }

  /// Ends all iterations over this peripheral's events.
  func finishEvents() {
    ends.finish()
    changes.finish()
    links.finish()
  }

  /// The number of calls and subscriptions that wait for this peripheral, including cancelled ones that have not been
  /// answered yet; for tests.
  package var pendingCount: Int {
    with { state in
      state.operations.count + state.unsent.count + state.connectWaiters.count + state.disconnectWaiters.count
        + state.subscriptions.count
    }
  }
}

extension Peripheral: Hashable {
  /// True if both are the same object; there is one for each device and central.
  public static func == (one: Peripheral, other: Peripheral) -> Bool { one === other }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Peripheral: CustomStringConvertible {
  /// The name and the identifier.
  public var description: String { "\(name ?? "unnamed peripheral") (\(id))" }
}

/// The end of a connection.
public struct Disconnection: Sendable {
  /// The reason: a `CBError`; nil: this app has ended the connection.
  public let error: (any Error)?
  /// The reason that the controller has reported, such as `remoteUserTerminatedConnection`; nil: there is none, because
  /// Bluetooth was turned off, or because another app still uses the link.
  public let reason: HCIErrorCode?
}
