import BluetoothRadio
import BluetoothWire

/// A source of interference in the 2.4 GHz band that is not a device.
public struct Interference: Hashable, Sendable {
  /// The kind of an interference source.
  public enum Kind: Hashable, Sendable {
    /// A Wi-Fi network on a channel from 1 to 13, 22 MHz wide, that sends bursts of this length with this duty cycle
    /// (0 to 1).
    case wiFi(channel: Int, dutyCycle: Double, burst: Duration = .milliseconds(1))
    /// A microwave oven that radiates for this fraction of each mains period.
    case microwaveOven(dutyCycle: Double = 0.5)
    /// A Bluetooth Classic connection that hops over the whole band, with this duty cycle.
    case classicBluetooth(dutyCycle: Double = 1)
    /// A continuous transmitter on these radio channels (0 to 39: 2402 + 2k MHz).
    case jammer(channels: Set<Int>)
  }

  /// The kind of the source.
  public var kind: Kind
  /// The position of the source.
  public var position: Position
  /// The transmit power over the whole bandwidth, in dBm; for a jammer, the power on each of its channels.
  public var power: Double

  /// Creates a source at `position` with `power` in dBm.
  public init(_ kind: Kind, at position: Position = .origin, power: Double = 20) {
    self.kind = kind
    self.position = position
    self.power = power
  }

  /// True if the source never transmits (no duty cycle or no channels), so that it can be omitted.
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
  /// Replaces all interference in the band by these sources from now on.
  public func setInterference(_ sources: [Interference]) {
    let sources = sources.filter { !$0.isSilent }.map(\.source)
    requestQueue.perform { $0.interference = sources }
  }
}
