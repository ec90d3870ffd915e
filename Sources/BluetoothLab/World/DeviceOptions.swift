import BluetoothHost
import BluetoothRadio
import BluetoothServer
import BluetoothWire

/// How a device of a world is made.
///
/// ```swift
/// var options = DeviceOptions(position: Position(x: 3), transmitPower: -8)
/// options.generation = .bluetooth40
/// let strap = world.device(named: "strap", options)
/// ```
public struct DeviceOptions: Hashable, Sendable {
  /// What a chip can do.
  public enum Generation: Hashable, Sendable {
    /// What the Core Specification 5.4 has, as far as this project has it.
    case bluetooth54
    /// What the Core Specification 4.0 had: ATT_MTU 23, data PDUs of 27 octets, one connection as peripheral. 236.7 kbit/s
    /// are the most that it can notify.
    case bluetooth40
  }

  /// Where it is at first.
  public var position: Position
  /// dBm, −20 to 20; what is beyond is held there.
  public var transmitPower: Double
  /// Its public device address; nil: one that no real device has is drawn.
  public var address: DeviceAddress?
  /// The value of its characteristic Device Name; nil: the name that it has in the world.
  public var gapName: String?
  /// What its chip can do.
  public var generation = Generation.bluetooth54
  /// The accuracy that it claims for its sleep clock, parts per million, 0 to 500.
  public var sleepClockAccuracy = 50
  /// By how much the seconds of its sleep clock are really longer, parts per million: within `sleepClockAccuracy` for an
  /// honest device.
  public var sleepClockDrift = 0.0

  /// A device at `position` that sends with `transmitPower` (dBm).
  public init(position: Position = .origin, transmitPower: Double = 0) {
    self.position = position
    self.transmitPower = transmitPower
  }

  /// A public device address: 48 bits.
  public struct DeviceAddress: Hashable, Sendable, CustomStringConvertible {
    /// The least significant octet is the first on the air.
    public let value: UInt64

    /// Takes the low 48 bits of `value`.
    public init(_ value: UInt64) { self.value = value & 0xFFFF_FFFF_FFFF }

    /// Six octets in hexadecimal, the most significant first.
    public var description: String { BluetoothWire.DeviceAddress(value, .public).description }
  }

  func configuration(named name: String) -> VirtualDeviceConfiguration {
    var result = VirtualDeviceConfiguration(name: name, position: position.grid)
    result.transmitPower = Decibel(rounding: min(max(transmitPower, -20), 20))
    result.publicAddress = address?.value
    result.sleepClockAccuracy = min(max(sleepClockAccuracy, 0), 500)
    result.sleepClockDrift = Int64(min(max(sleepClockDrift, -100_000), 100_000) * 1_000)
    result.isBluetooth40 = generation == .bluetooth40
    if let gapName { result.host.deviceName = gapName }
    if generation == .bluetooth40 { result.host.maximumMTU = ATT.defaultMTU }
    return result
  }
}
