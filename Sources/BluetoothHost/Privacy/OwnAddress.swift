// Design: private addresses
//
// - `HostConfiguration.usesPrivateAddresses` is true if this device hides its identity. The default is off, because
//   tests with a simulated device need to recognize it. `DeviceOptions` of the lab can turn it on.
// - `OwnAddress` is the controller's random address: a private address, generated at each start and every 15 min. It
//   changes in the same way as the resolving list, while all activities that use it pause; advertising sets get it as
//   their address. If the controller generates addresses itself, it uses this one for every peer that is not on its
//   list, so the identity address is on the air for no peer. Pairing uses the addresses that were on the air when the
//   link was established.
// - A peer reveals its identity when it pairs. Under a permanent address it can only be that device: another identity,
//   and the key that came with it, are dropped, as some devices send them by mistake. Under a private address it can be
//   any device that has no bond.

import BluetoothCrypto
import BluetoothWire

/// The random address that this device sets in its controller: the permanent static address, or resolvable private
/// addresses, which change regularly and which bonded peers can resolve · Vol 3, Part C, 10.7; Vol 6, Part B, 1.3.2,
/// 6.1.
///
/// A controller with a resolving list generates the private addresses for the peers on the list. It uses the host's
/// address for all other peers, or for all peers if it does not support a resolving list, or claims support without
/// having it.
struct OwnAddress {
  /// The key of the private addresses; nil: the address never changes.
  private let key: IdentityResolvingKey?
  private let lifetime: TimeSpan
  private var generator: KeyGenerator
  /// The address that the controller has.
  private(set) var current: DeviceAddress
  /// The next address to set in the controller.
  private var pendingAddress: DeviceAddress? { didSet { noteChanges() } }
  private var inFlight: DeviceAddress? { didSet { noteChanges() } }
  /// True if the controller's address must change. It is stored because reading it must not copy the generator.
  private(set) var isDirty = false
  /// The time of the next change of address.
  private(set) var deadline: Instant?

  /// Creates the value with the static address as the current one.
  ///
  /// - Parameters:
  ///   - identity: The static address.
  ///   - key: The key that generates private addresses; nil: the device uses none.
  init(identity: DeviceAddress, key: IdentityResolvingKey?, lifetime: TimeSpan, generator: KeyGenerator) {
    self.key = key
    self.lifetime = lifetime
    self.generator = generator
    current = identity
  }

  /// Returns the address for a controller that is being reset: a new private address, or the static address.
  mutating func reset() -> DeviceAddress {
    stop()
    current = newAddress() ?? current
    return current
  }

  /// Starts the timer after the controller has accepted the address of `reset` during start-up.
  mutating func started(at now: Instant) {
    if key != nil { deadline = now + lifetime }
  }

  /// Stops the changes, because the controller is no longer in use.
  mutating func stop() { (pendingAddress, inFlight, deadline) = (nil, nil, nil) }

  private mutating func newAddress() -> DeviceAddress? {
    key.map { DeviceAddress($0.newAddress(using: &generator), .random) }
  }

  mutating func timeReached(_ now: Instant) {
    guard let due = deadline, due <= now else { return }
    deadline = now + lifetime
    pendingAddress = newAddress()
  }

  private mutating func noteChanges() { isDirty = pendingAddress != nil || inFlight != nil }

  /// Returns the command that sets the next address, to be sent while the controller uses no addresses; nil: the
  /// command is in progress, or the address need not change.
  mutating func next() -> HCI.Command? {
    guard inFlight == nil, let address = pendingAddress else { return nil }
    (inFlight, pendingAddress) = (address, nil)
    return .leSetRandomAddress(address.value)
  }

  /// Handles the end of the command. A controller that rejects it keeps the old address until the next change.
  mutating func ended(_ status: HCI.ErrorCode) {
    if status == .success, let address = inFlight { current = address }
    inFlight = nil
  }
}
