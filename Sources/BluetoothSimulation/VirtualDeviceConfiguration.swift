import BluetoothController
import BluetoothDaemon
import BluetoothHost
import BluetoothRadio
import BluetoothWire

/// The configuration of a virtual device.
package struct VirtualDeviceConfiguration: Sendable {
  /// The device's name, unique in its world. It selects the device's random numbers and names its interface in
  /// captures.
  package var name: String
  package var radio: RadioProperties
  /// The transmit power in dBm.
  package var transmitPower = Decibel(0)
  /// The declared accuracy of the sleep clock in parts per million, 0 to 500.
  package var sleepClockAccuracy = 50
  /// The actual drift of the sleep clock in parts per billion; positive: its seconds are longer.
  package var sleepClockDrift: Int64 = 0
  /// The public device address; nil: a random one.
  package var publicAddress: UInt64?
  /// True if the controller has only the features of a Bluetooth 4.0 peripheral.
  package var isBluetooth40 = false
  /// The host's configuration. It is stored only after it has been set, since a crowd has thousands of devices.
  package var host: HostConfiguration {
    get { changedHost?.value ?? HostConfiguration(deviceName: name) }
    set { changedHost = Shared(newValue) }
  }
  private var changedHost: Shared<HostConfiguration>?
  /// The operating system whose behavior the device follows; stored only after it has been set.
  package var policy: PlatformPolicy {
    get { changedPolicy?.value ?? .macos }
    set { changedPolicy = Shared(newValue) }
  }
  private var changedPolicy: Shared<PlatformPolicy>?
  /// The interface that asks the user when devices pair.
  package var prompts: any Prompts = AutomaticPrompts.accepting
  /// The store of the device's bonds; nil: a store in memory with room for `bondLimit` bonds, created at the device's
  /// first use.
  package var bonds: (any BondStore)?
  /// The maximum number of bonds of a store in memory.
  package var bondLimit = PlatformPolicy.macos.bondLimit
  /// The name of the app for which the user must give permission before any app may use the device; nil: the user is
  /// not asked.
  package var app: String?
  /// The settings of a server that shares the device; nil: none does. Stored by reference, because few devices have them.
  package var serving: ServingOptions? {
    get { changedServing?.value }
    set { changedServing = newValue.map { Shared($0) } }
  }
  private var changedServing: Shared<ServingOptions>?
  /// True if the device keeps its identity across runs: its address and its identity key are stored with its bonds.
  package var hasLastingIdentity = false

  package init(name: String, position: GridPosition) {
    self.name = name
    radio = RadioProperties(position: position)
  }

  /// The configuration of the device above its controller.
  var daemon: DaemonConfiguration {
    var result = DaemonConfiguration(name: name, host: host)
    result.policy = policy
    result.prompts = prompts
    result.bonds = bonds ?? MemoryBondStore(limit: bondLimit)
    result.app = app
    result.hasLastingIdentity = hasLastingIdentity
    if let serving { result.apply(serving) }
    return result
  }

  /// True if the store has bonds with input devices, which the device connects to before any app uses it.
  var hasInputDevices: Bool {
    guard policy.reconnectsInputDevices, let records = try? bonds?.load().records else { return false }
    return records.contains { $0.isInputDevice }
  }

  /// Returns the configuration of the device's controller.
  ///
  /// - Parameter generator: the device's branch of the world's random generator.
  package func controller(random generator: RandomStream) -> ControllerConfiguration {
    var addresses = generator.split("address")
    // The company ID of a generated address is locally administered, so that no real device has the address.
    let drawn = 0x02_0000_0000_00 | addresses.next() & 0xFF_FFFF_FFFF
    let address = DeviceAddress(publicAddress ?? drawn, .public)
    var result =
      isBluetooth40
      ? ControllerConfiguration.bluetooth40Peripheral(address: address)
      : ControllerConfiguration(address: address)
    result.transmitPower = transmitPower
    result.sleepClockAccuracy = sleepClockAccuracy
    result.sleepClockDrift = sleepClockDrift
    return result
  }
}

/// A value stored by reference, so that copies of its owner share it.
private final class Shared<Value: Sendable>: Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
