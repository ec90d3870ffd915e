import BluetoothDaemon
import BluetoothHost
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire
import Foundation

/// The properties of a device in a world.
///
/// ```swift
/// var options = DeviceOptions(position: Position(x: 3), transmitPower: -8)
/// options.generation = .bluetooth40
/// let strap = world.makeDevice(named: "strap", options)
/// ```
public struct DeviceOptions: Hashable, Sendable {
  /// The capabilities of a chip.
  public enum Generation: Hashable, Sendable {
    /// The features of the Core Specification 5.4 that this project implements.
    case bluetooth54
    /// The features of a peripheral of 2010: ATT_MTU 23, data PDUs of 27 octets, one connection, no scanning.
    /// Notifications reach at most 236.7 kbit/s.
    case bluetooth40
  }

  /// The initial position.
  public var position: Position
  /// The transmit power, −20 to 20 dBm; other values are clamped.
  public var transmitPower: Double
  /// The public device address, used as identity address; nil for a random static address. The program stops if a
  /// device is created with an address that is not public.
  public var address: DeviceAddress?
  /// The value of the Device Name characteristic; nil for the name of the device in the world.
  public var gapName: String?
  /// The capabilities of the chip.
  public var generation = Generation.bluetooth54
  /// True if the user is asked (`ScriptedPrompts.Kind.useBluetooth`) before an app may use the device. Managers are
  /// `unknown` until the answer, and `unauthorized` after a no. With a bond folder, the answer is kept for later
  /// worlds.
  public var asksBeforeUse = false
  /// The behavior of the operating system: what apps may do in the background, bonds, restoration.
  public var policy = PlatformPolicy.macos
  /// The maximum number of bonds, 0 to 1,000. Pairing beyond this limit fails with `CBError.tooManyLEPairedDevices`.
  public var bondLimit = 64
  /// True if the device uses resolvable private addresses, renewed at power-on and every 15 minutes, as phones and
  /// watches do. Only bonded devices can identify it; apps on other devices see a new peripheral each time. If false,
  /// the device keeps one address for ever, as most sensors do.
  public var usesPrivateAddresses = false
  /// True if the device encrypts a link to a bonded device as soon as it is established, as phones do, and neither
  /// sends requests nor trusts received data before that. If false, the link stays unencrypted until the peer or a
  /// protected value requires encryption; the peer's identity is then unproven, and eavesdroppers can read the traffic.
  /// Set the property to false to test such links, for example with signed writes: a device signs a write only on an
  /// unencrypted link, and only to a characteristic that permits no other kind of write.
  public var encryptsBondedLinks = true
  /// The sleep clock accuracy that the device claims, in parts per million, 0 to 500.
  public var sleepClockAccuracy = 50
  /// The actual deviation of the sleep clock in parts per million; positive values make the clock run slow. The
  /// deviation of a conforming device is within `sleepClockAccuracy`.
  public var sleepClockDrift = 0.0

  /// The current consumption of the chip.
  public var chip = CurrentProfile.modern
  /// The battery.
  public var cell = Cell.cr2032

  /// The antenna gain in dBi, for transmitting and receiving, in the antenna's strongest direction.
  public var antennaGain = 0.0
  /// The directions in which the antenna is weaker.
  public var antennaPattern = AntennaPattern.omnidirectional
  /// The level in dBm at which the bit error rate on LE 1M is 0.1 %. The sensitivities of the other PHYs keep their
  /// usual difference from it.
  public var sensitivity = -90.0
  /// The conversion from received levels to reported RSSI values.
  public var signalStrength = SignalStrength()

  /// The errors of a chip's RSSI. The default reports the actual level.
  public struct SignalStrength: Hashable, Sendable {
    /// The offset added to the level, in decibels.
    public var offset: Double
    /// The resolution of the RSSI in decibels; 0 for no rounding.
    public var step: Double
    /// The range of reported values, in dBm.
    public var range: ClosedRange<Double>

    /// Creates a conversion with these errors.
    public init(offset: Double = 0, step: Double = 0, range: ClosedRange<Double> = -127...20) {
      self.offset = offset
      self.step = step
      self.range = range
    }
  }

  /// Creates options for a device at `position` with a transmit power in dBm.
  public init(position: Position = .origin, transmitPower: Double = 0) {
    self.position = position
    self.transmitPower = transmitPower
  }

  package func configuration(named name: String) -> VirtualDeviceConfiguration {
    var result = VirtualDeviceConfiguration(name: name, position: position.grid)
    result.transmitPower = Decibel(rounding: min(max(transmitPower, -20), 20))
    if let address, address.kind != .public {
      fatalError("\(address) of the device \"\(name)\" is not a public address")
    }
    result.publicAddress = address?.value
    result.sleepClockAccuracy = min(max(sleepClockAccuracy, 0), 500)
    result.sleepClockDrift = sleepClockDrift.partsPerBillion
    result.bondLimit = storedBondLimit
    if policy != .macos { result.policy = policy }
    result.app = asksBeforeUse ? ProcessInfo.processInfo.processName : nil
    result.isBluetooth40 = generation == .bluetooth40
    result.radio.antennaGain = Decibel(rounding: antennaGain)
    let difference = Decibel(rounding: sensitivity) - result.radio.sensitivity1M
    result.radio.sensitivity1M = result.radio.sensitivity1M + difference
    result.radio.sensitivity2M = result.radio.sensitivity2M + difference
    result.radio.sensitivityS2 = result.radio.sensitivityS2 + difference
    result.radio.sensitivityS8 = result.radio.sensitivityS8 + difference
    result.radio.signalStrength = SignalStrengthIndicator(
      offset: Decibel(rounding: signalStrength.offset), step: Decibel(rounding: signalStrength.step),
      minimum: Decibel(rounding: signalStrength.range.lowerBound),
      maximum: Decibel(rounding: signalStrength.range.upperBound))
    // Default values are not assigned: a configuration that differs from the default takes additional memory.
    if address != nil { result.host.usesPublicAddress = true }
    if usesPrivateAddresses { result.host.usesPrivateAddresses = true }
    if !encryptsBondedLinks {
      result.host.encryptsBondedLinks = false
      result.host.guardsBondedLinks = false
    }
    if let gapName { result.host.deviceName = gapName }
    if generation == .bluetooth40 { result.host.maximumMTU = ATT.defaultMTU }
    return result
  }
}

extension DeviceOptions {
  /// The bond limit, clamped to its range.
  var storedBondLimit: Int { min(max(bondLimit, 0), 1_000) }
}

extension Double {
  /// The value in parts per million converted to parts per billion, clamped to ±100,000 ppm; 0 for NaN.
  var partsPerBillion: Int64 { isNaN ? 0 : Int64(min(max(self, -100_000), 100_000) * 1_000) }
}
