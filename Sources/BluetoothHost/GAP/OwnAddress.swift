import BluetoothCrypto
import BluetoothWire

/// The random address that this device gives its controller: its static one for ever, or private ones, which bonded peers
/// can resolve, each for a while · Vol 3, Part C, 10.7; Vol 6, Part B, 1.3.2, 6.1.
///
/// A controller with a resolving list makes private addresses by itself, for the peers on it. For everybody else, and where
/// it has no list, or only claims one, it uses this one.
struct OwnAddress {
  /// nil: the address stays what it is.
  private let key: IdentityResolvingKey?
  private let lifetime: TimeSpan
  private var generator: KeyGenerator
  /// The one that the controller has.
  private(set) var current: DeviceAddress
  /// The one that it is to have.
  private var wanted: DeviceAddress? { didSet { noteChanges() } }
  private var inFlight: DeviceAddress? { didSet { noteChanges() } }
  /// The controller is to get another address. Stored: to look at it must not copy the generator.
  private(set) var isDirty = false
  /// When the next one is due.
  private(set) var deadline: Instant?

  /// - Parameters:
  ///   - identity: the static address.
  ///   - key: what private addresses are made with; nil: there are none.
  init(identity: DeviceAddress, key: IdentityResolvingKey?, lifetime: TimeSpan, generator: KeyGenerator) {
    self.key = key
    self.lifetime = lifetime
    self.generator = generator
    current = identity
  }

  /// The controller is being reset: a new address for it.
  mutating func reset() -> DeviceAddress {
    stop()
    current = newAddress() ?? current
    return current
  }

  /// The controller has taken the address of `reset` at its start.
  mutating func started(at now: Instant) {
    if key != nil { deadline = now + lifetime }
  }

  /// The controller is not used any more.
  mutating func stop() { (wanted, inFlight, deadline) = (nil, nil, nil) }

  private mutating func newAddress() -> DeviceAddress? {
    key.map { DeviceAddress($0.newAddress(using: &generator), .random) }
  }

  mutating func timeReached(_ now: Instant) {
    guard let due = deadline, due <= now else { return }
    deadline = now + lifetime
    wanted = newAddress()
  }

  private mutating func noteChanges() { isDirty = wanted != nil || inFlight != nil }

  /// The next command, while nothing uses the address; nil: it is under way, or there is nothing to do.
  mutating func next() -> HCI.Command? {
    guard inFlight == nil, let address = wanted else { return nil }
    (inFlight, wanted) = (address, nil)
    return .leSetRandomAddress(address.value)
  }

  /// The command has ended. Who refuses it goes on with the old address, until the next one is due.
  mutating func ended(_ status: HCI.ErrorCode) {
    if status == .success, let address = inFlight { current = address }
    inFlight = nil
  }
}
