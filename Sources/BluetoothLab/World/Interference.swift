import BluetoothRadio
import BluetoothWire

/// Something that disturbs the band and is no device.
public struct Interference: Hashable, Sendable {
  /// What it is.
  public enum Kind: Hashable, Sendable {
    /// A Wi-Fi network on a channel from 1 to 13, 22 MHz wide, which sends bursts of this length for this part (0 to 1) of the
    /// time.
    case wiFi(channel: Int, dutyCycle: Double, burst: Duration = .milliseconds(1))
    /// A microwave oven, which radiates for this part of each period of the mains.
    case microwaveOven(dutyCycle: Double = 0.5)
    /// A connection of classic Bluetooth, which hops over the whole band and sends for this part of the time.
    case classicBluetooth(dutyCycle: Double = 1)
    /// A transmitter on these radio channels (0 to 39: 2402 + 2k MHz) all the time.
    case jammer(channels: Set<Int>)
  }

  /// What it is.
  public var kind: Kind
  /// Where it stands.
  public var position: Position
  /// dBm while it sends, over its whole width.
  public var power: Double

  /// Something that disturbs from `position` with `power` (dBm).
  public init(_ kind: Kind, at position: Position = .origin, power: Double = 20) {
    self.kind = kind
    self.position = position
    self.power = power
  }

  /// What sends for no part of the time, or on no channel, is left out.
  fileprivate var isSilent: Bool {
    switch kind {
    case .wiFi(_, let dutyCycle, _), .microwaveOven(let dutyCycle), .classicBluetooth(let dutyCycle): !(dutyCycle > 0)
    case .jammer(let channels): channels.isEmpty
    }
  }

  private static func perMille(_ part: Double) -> Int { part.isNaN ? 0 : Int((min(max(part, 0), 1) * 1_000).rounded()) }

  var source: InterferenceSource {
    let kind: InterferenceSource.Kind =
      switch kind {
      case .wiFi(let channel, let dutyCycle, let burst):
        .wiFi(
          WiFiTransmitter(
            channel: channel, dutyCyclePerMille: Self.perMille(dutyCycle), burstLength: TimeSpan(burst)))
      case .microwaveOven(let dutyCycle): .microwaveOven(MicrowaveOven(dutyCyclePerMille: Self.perMille(dutyCycle)))
      case .classicBluetooth(let dutyCycle):
        .classicBluetooth(ClassicBluetooth(dutyCyclePerMille: Self.perMille(dutyCycle)))
      case .jammer(let channels):
        .jammer(
          Jammer(channels: Set(channels.filter { (0..<40).contains($0) }.map { RadioChannel(UInt8($0)) })))
      }
    return InterferenceSource(kind, at: position.grid, power: Decibel(rounding: power))
  }
}

extension World {
  /// Has all of these disturb the band from now on, and nothing else.
  public func setInterference(_ sources: [Interference]) {
    let sources = sources.filter { !$0.isSilent }.map(\.source)
    mailbox.perform { $0.interference = sources }
  }
}
