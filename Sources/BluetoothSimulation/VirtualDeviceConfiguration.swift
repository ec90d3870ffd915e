import BluetoothController
import BluetoothDaemon
import BluetoothHost
import BluetoothRadio
import BluetoothWire

/// How a virtual device is made.
package struct VirtualDeviceConfiguration: Sendable {
  /// Names the device in the world: its share of the seed, its interface in captures. Unique in its world.
  package var name: String
  package var radio: RadioProperties
  /// dBm.
  package var transmitPower = Decibel(0)
  /// The accuracy that it claims for its sleep clock, parts per million, 0 to 500.
  package var sleepClockAccuracy = 50
  /// How much longer the seconds of its sleep clock really are, parts per billion.
  package var sleepClockDrift: Int64 = 0
  /// nil: one is drawn.
  package var publicAddress: UInt64?
  /// It has what a peripheral of Bluetooth 4.0 had, and no more.
  package var isBluetooth40 = false
  /// The host's configuration. A device whose configuration is the usual one does not store it: a crowd has thousands.
  package var host: HostConfiguration {
    get { changedHost?.value ?? HostConfiguration(deviceName: name) }
    set { changedHost = Shared(newValue) }
  }
  private var changedHost: Shared<HostConfiguration>?
  /// Which system it is like.
  package var profile = SystemProfile.apple
  /// Who asks the user when devices pair.
  package var prompts: any Prompts = AutomaticPrompts.accepting
  /// The store of the device's bonds; nil: a store in memory with room for `bondLimit` bonds, made at the device's first use.
  package var bonds: (any BondStore)?
  /// The largest number of bonds of a store in memory.
  package var bondLimit = SystemProfile.apple.bondLimit
  /// Whom the user is asked about before any app may use the device; nil: nobody is asked.
  package var app: String?
  /// The device is who it was in other runs: its address and its identity key are kept with its bonds.
  package var hasLastingIdentity = false

  package init(name: String, position: GridPosition) {
    self.name = name
    radio = RadioProperties(position: position)
  }

  /// What stands above its controller.
  var daemon: DaemonConfiguration {
    var result = DaemonConfiguration(name: name, host: host)
    result.profile = profile
    result.prompts = prompts
    result.bonds = bonds ?? MemoryBondStore(limit: bondLimit)
    result.app = app
    result.hasLastingIdentity = hasLastingIdentity
    return result
  }

  /// - Parameter generator: the device's share of the world's chance.
  package func controller(random generator: SplitGenerator) -> ControllerConfiguration {
    var addresses = generator.split("address")
    // The company's part of the public address is a locally administered one, so that no real device has it.
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

/// A value outside of what has it, so that copies of its owner share it.
private final class Shared<Value: Sendable>: Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
