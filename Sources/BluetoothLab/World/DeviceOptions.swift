import BluetoothHost
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire
import Foundation

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
    /// What a peripheral of 2010 had: ATT_MTU 23, data PDUs of 27 octets, one connection, no scanning. 236.7 kbit/s are the
    /// most that it can notify.
    case bluetooth40
  }

  /// Where it is at first.
  public var position: Position
  /// dBm, −20 to 20; what is beyond is held there.
  public var transmitPower: Double
  /// Its public device address, by which others know it; nil: a random static one is drawn.
  public var address: DeviceAddress?
  /// The value of its characteristic Device Name; nil: the name that it has in the world.
  public var gapName: String?
  /// What its chip can do.
  public var generation = Generation.bluetooth54
  /// Its user is asked (`ScriptedPrompts.Kind.useBluetooth`) before an app may use it: managers are `unknown` until that is
  /// answered, and `unauthorized` after no. With a bond folder the answer counts for worlds to come, too.
  public var asksBeforeUse = false
  /// With how many devices it bonds at most, 0 to 1,000; one more is told `CBError.tooManyLEPairedDevices`.
  public var bondLimit = 64
  /// It is called on the air by private addresses, a new one after it was switched on and every 15 minutes, by which only
  /// devices that it has bonded with know it again, as phones and watches are. For apps elsewhere it is another peripheral each
  /// time. Else it has one address for ever, as most sensors have.
  public var usesPrivateAddresses = false
  /// It encrypts the link to a device that it has bonded with as soon as it is there, as phones do, and asks and believes
  /// nothing before. Without, it leaves such links in clear until something wants encryption: the other device, or a value
  /// that is protected. Nothing shows then who the other one is, and everybody can listen. It is for tests of what happens on
  /// such links: there, and only there, values for characteristics that take signed writes only go out signed.
  public var encryptsBondedLinks = true
  /// The accuracy that it claims for its sleep clock, parts per million, 0 to 500.
  public var sleepClockAccuracy = 50
  /// By how much the seconds of its sleep clock are really longer, parts per million: within `sleepClockAccuracy` for an
  /// honest device.
  public var sleepClockDrift = 0.0

  /// What its chip draws.
  public var chip = CurrentProfile.modern
  /// Its battery.
  public var cell = Cell.cr2032

  /// dBi, of sending and receiving alike.
  public var antennaGain = 0.0
  /// The level at which one bit in a thousand of a packet on LE 1M is lost, dBm; on other PHYs it is as much lower or higher
  /// as usual.
  public var sensitivity = -90.0
  /// What its receiver tells of a level.
  public var signalStrength = SignalStrength()

  /// What a chip makes of a level before it tells it as RSSI. The default tells what is.
  public struct SignalStrength: Hashable, Sendable {
    /// Decibels that it tells too much.
    public var offset: Double
    /// It tells multiples of so many decibels; 0: any.
    public var step: Double
    /// The least and the most that it tells, dBm.
    public var range: ClosedRange<Double>

    /// A receiver that errs like this.
    public init(offset: Double = 0, step: Double = 0, range: ClosedRange<Double> = -127...20) {
      self.offset = offset
      self.step = step
      self.range = range
    }
  }

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

  package func configuration(named name: String) -> VirtualDeviceConfiguration {
    var result = VirtualDeviceConfiguration(name: name, position: position.grid)
    result.transmitPower = Decibel(rounding: min(max(transmitPower, -20), 20))
    result.publicAddress = address?.value
    result.sleepClockAccuracy = min(max(sleepClockAccuracy, 0), 500)
    result.sleepClockDrift = sleepClockDrift.partsPerBillion
    result.bondLimit = storedBondLimit
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
    // Only what differs from the usual configuration takes memory.
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
  /// The limit, held in its range.
  var storedBondLimit: Int { min(max(bondLimit, 0), 1_000) }
}

extension Double {
  /// Parts per million as parts per billion: at most a tenth either way, and 0 for what is no number.
  var partsPerBillion: Int64 { isNaN ? 0 : Int64(min(max(self, -100_000), 100_000) * 1_000) }
}
