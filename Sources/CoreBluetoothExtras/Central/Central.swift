// Overview
//
// Swift code wants to call Bluetooth with `await`, and some apps need what Apple's API does not have.
// CoreBluetoothExtras is an asynchronous API for both roles, and the features beyond Apple's: advertising packets,
// extended and periodic advertising, properties of links, bonds, addresses.
//
// The idea: it is a client of Apple's API. Each of its objects has one object of that API, and a delegate that holds it
// weakly. It has no queue and no actor between a call and the manager: a call reaches the manager before it suspends,
// and a callback resumes the task before it returns. Order and virtual time are those of the callbacks. What Apple's
// API lacks goes to the daemon as commands of the same session.
//
// Callers: apps, CoreBluetoothProfiles, BeaconLocation, AccessoryPlayer and `ble`. No delegate is in its interface.
//
// Invariants:
// - A call that waits is a `PendingOperation`. Its first `finish` decides the result and resumes the task; later ones
//   do nothing. Answers, errors, ends of the link, power changes, cancellation, `close` and time limits all call
//   `finish`, so no cause needs to know the others. Where a lost result would lose octets or leave a link without an
//   owner, the owner decides the result under its lock (`decide`) and resumes the task later.
// - Only the first operation of each queue of an `OperationTable` is in progress. A cancelled one stays there until its
//   answer arrives; otherwise the next operation would get that answer.
// - A value of a characteristic is the result of a read or a notification. Apple's callback does not tell which;
//   `CBCharacteristic.isValueOfRead` does.
// - A time limit is a second task, which cancels the operation. An operation so needs to know cancellation only.
// - Each `Peripheral` and each `Central` has a lock; the lock of a peripheral is taken first. A call of Apple's API is
//   made under the lock, so that the order of the calls is the order of the queues. Continuations are resumed, and
//   objects of the app released, without a lock.
// - A `Peripheral` retains its `Central`; the `Central` holds its peripherals weakly. A link ends with the last
//   reference to its `Peripheral`, as in Apple's API.
//
// Where to begin: this file and `Peripheral.swift`, then `PendingOperation.swift`; `LocalPeripheral.swift` for the
// other role.
//
// Specification: as the calls of Apple's API; Vol 6, Part B, 4.4 for what advertising sets add.

import CoreBluetooth
import NIOConcurrencyHelpers

/// The central role of this device, for Swift concurrency: it scans for peripherals and connects to them.
///
/// ```swift
/// let central = Central()
/// try await central.waitUntilPoweredOn()
/// for try await discovery in central.scan(for: [CBUUID(string: "180D")]) {
///   try await discovery.peripheral.connect(within: .seconds(10))
///   let services = try await discovery.peripheral.discoverServices()
///   break
/// }
/// ```
///
/// All methods can be called from any task. Each asynchronous method returns or throws exactly once, whatever comes
/// first: the result, an error, the end of the link, Bluetooth turned off, the cancellation of the task, or the time
/// limit. It throws the `CBError` or `CBATTError` that Apple's API reports, `CancellationError`, or
/// `TimeLimitExceeded`. If Bluetooth is turned off, the error is `CBError.operationCancelled`.
///
/// Peripherals retain their central. The scan and all connections end when the central and its peripherals have been
/// released, or with `close`.
public final class Central: Sendable {
  struct State {
    var manager: CBCentralManager?
    /// The delegate, which the manager holds weakly.
    var delegate: CentralDelegate?
    var scan: Scan?
    var scanCount = 0
    /// The synchronizations in progress, by their numbers.
    var synchronizations: [UInt32: Synchronization] = [:]
    var synchronizationCount: UInt32 = 0
    var peripherals: [ObjectIdentifier: WeakPeripheral] = [:]
  }

  /// A scan in progress.
  struct Scan {
    let number: Int
    let receiver: Receiver

    /// The sequence that gets the results of the scan. Its buffer may hold the last reference to a peripheral, and the
    /// deinitializer of a peripheral takes the central's lock. Release a scan without the lock.
    enum Receiver {
      case discoveries(AsyncThrowingStream<Discovery, any Error>.Continuation)
      case packets(AsyncThrowingStream<AdvertisingPacket, any Error>.Continuation)
    }

    /// Ends the sequence.
    func finish(_ error: any Error) {
      switch receiver {
      case .discoveries(let continuation): continuation.finish(throwing: error)
      case .packets(let continuation): continuation.finish(throwing: error)
      }
    }
  }

  /// A weak reference to a peripheral, and the peripheral's identity. The deinitializer of the peripheral, which runs
  /// when the reference is nil already, finds its entry by the identity.
  final class WeakPeripheral {
    private(set) weak var peripheral: Peripheral?
    let identity: ObjectIdentifier

    init(_ peripheral: Peripheral) {
      self.peripheral = peripheral
      identity = ObjectIdentifier(peripheral)
    }
  }

  /// Lock order: the lock of a peripheral, then this lock. No lock is held while tasks are resumed.
  private let content = NIOLockedValueBox(Unchecked(State()))
  private let power = PowerWatch()

  /// Creates a central.
  ///
  /// - Parameters:
  ///   - adapter: the adapter, as for `CBManagerOptionAdapterKey`: a specifier such as `"hci:0"`, an `Adapter`, or a
  ///     device of a `BluetoothLab` world; nil: as for a `CBCentralManager` without this option.
  ///   - options: further options of `CBCentralManager`.
  public init(adapter: Any? = nil, options: [String: Any] = [:]) {
    var options = options
    if let adapter { options[CBManagerOptionAdapterKey] = Adapter.option(adapter) }
    let delegate = CentralDelegate(self)
    let manager = CBCentralManager(
      delegate: delegate, queue: DispatchQueue(label: "CoreBluetoothExtras.Central"), options: options)
    manager.dropLateCommandsSilently()
    manager.observeLinks()
    manager.setPacketObserver { [weak self] packet in self?.received(packet) }
    manager.setTrainObserver { [weak self] event in self?.received(event) }
    let box = Unchecked((manager, delegate))
    with { state in (state.manager, state.delegate) = box.value }
  }

  func with<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try content.withLockedValue { try body(&$0.value) }
  }

  // MARK: State

  /// The state of Bluetooth. Scans and connections are possible only in `poweredOn`.
  public var state: CBManagerState { with { $0.manager?.state ?? .unsupported } }

  /// The states of Bluetooth: the present one, and then each change. The state is `unknown` for a moment after `init`.
  /// An iteration that begins after `close` gets `unsupported` and ends.
  public var states: EventSequence<CBManagerState> {
    EventSequence(owner: self) { [power] in power.subscribe() }
  }

  /// Waits until Bluetooth is on. Returns at once if it is.
  ///
  /// - Throws: `CBError.operationNotSupported` if there is no usable adapter, or the app may not use Bluetooth.
  public func waitUntilPoweredOn(within limit: TimeLimit? = nil) async throws {
    try await power.wait(within: limit) { [self] in
      guard let power = with({ $0.manager?.state }) else { throw Self.closed }
      return power
    }
  }

  func stateChanged(to new: CBManagerState) {
    if new != .poweredOn {
      // As in Apple's API, the peripherals of a manager are invalid after a state below `poweredOff`.
      end(because: CBError.unavailable(new), forgetsPeers: new.rawValue < CBManagerState.poweredOff.rawValue)
    }
    power.report(new)
  }

  /// Ends the scan and all connections, and releases the manager. Pending operations throw
  /// `CBError.operationCancelled`, and all sequences end. The central can't be used again: later calls throw
  /// `CBError.operationCancelled`, and `state` is `unsupported`.
  public func close() {
    // The lock is released before the manager: its deinitializer ends the connections.
    let parts = with { state in
      defer { (state.manager, state.delegate) = (nil, nil) }
      return Unchecked((state.manager, state.delegate))
    }
    guard parts.value.0 != nil else { return }
    withExtendedLifetime(parts) {}
    end(because: Self.closed, forgetsPeers: true)
    power.close(because: Self.closed)
  }

  /// True after `close`.
  var isClosed: Bool { with { $0.manager == nil } }

  private static var closed: CBError { CBError.cancelled("The central was closed.") }

  /// The error of calls that need Bluetooth to be on, when it is not.
  var unavailable: CBError {
    guard let power = with({ $0.manager?.state }) else { return Self.closed }
    return CBError.unavailable(power)
  }

  /// Ends everything that needs Bluetooth to be on.
  private func end(because error: CBError, forgetsPeers: Bool) {
    let (scan, synchronizations, peripherals) = with { state in
      let scan = state.scan
      state.scan = nil
      let synchronizations = state.synchronizations
      state.synchronizations = [:]
      let peripherals = state.peripherals.values.compactMap(\.peripheral)
      if forgetsPeers { state.peripherals = [:] }
      return (scan, synchronizations, peripherals)
    }
    scan?.finish(error)
    for synchronization in synchronizations.values { synchronization.continuation.finish(throwing: error) }
    for peripheral in peripherals { peripheral.ended(because: error, isForgotten: forgetsPeers) }
  }

  // MARK: Peripherals

  /// Returns the known peripherals among these identifiers, in their order. Empty unless Bluetooth is on.
  public func peripherals(withIdentifiers identifiers: [UUID]) -> [Peripheral] {
    manager?.retrievePeripherals(withIdentifiers: identifiers).map { peripheral(for: $0) } ?? []
  }

  /// Returns the peripherals that any app is connected to and that are known to have one of these services. They must
  /// be connected by this app, too, before it can use them. Empty unless Bluetooth is on.
  public func connectedPeripherals(withServices services: [CBUUID]) -> [Peripheral] {
    manager?.retrieveConnectedPeripherals(withServices: services).map { peripheral(for: $0) } ?? []
  }

  /// The manager while Bluetooth is on; nil in other states, in which it would log each call as a mistake.
  var manager: CBCentralManager? {
    let manager = with { Unchecked($0.manager) }.value
    return manager?.state == .poweredOn ? manager : nil
  }

  /// The number of peripherals that the app retains.
  package var peripheralCount: Int { with { $0.peripherals.count } }

  /// The number of calls and iterations that wait for this central or its peripherals, except iterations over states
  /// and ends of connections; for tests.
  package var pendingCount: Int {
    let (own, peripherals) = with { state in
      ((state.scan == nil ? 0 : 1) + state.synchronizations.count, state.peripherals.values.compactMap(\.peripheral))
    }
    return own + power.count + peripherals.reduce(0) { $0 + $1.pendingCount }
  }

  /// Returns the object for a peer, which exists as long as the app retains it.
  func peripheral(for peer: CBPeripheral) -> Peripheral {
    if let known = known(peer) { return known }
    let new = Peripheral(peer, of: self)
    // Another thread may have created an object meanwhile.
    let winner = with { state in
      if let known = state.peripherals[ObjectIdentifier(peer)]?.peripheral { return known }
      state.peripherals[ObjectIdentifier(peer)] = WeakPeripheral(new)
      return new
    }
    if winner === new { new.takeCallbacks() }
    return winner
  }

  /// Returns the object for a peer; nil if the app has none.
  func known(_ peer: CBPeripheral) -> Peripheral? { with { $0.peripherals[ObjectIdentifier(peer)]?.peripheral } }

  /// Removes a peripheral that is being deallocated.
  func released(_ peripheral: ObjectIdentifier, _ peer: CBPeripheral) {
    with { state in
      guard state.peripherals[ObjectIdentifier(peer)]?.identity == peripheral else { return }
      state.peripherals[ObjectIdentifier(peer)] = nil
    }
  }
}
