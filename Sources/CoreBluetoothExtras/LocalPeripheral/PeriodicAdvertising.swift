import BluetoothHost
import BluetoothTypes
import BluetoothWire

/// The periodic advertising of a set: packets at fixed times, which any number of scanners receive without scanning
/// · Vol 6, Part B, 4.4.2.12.
///
/// ```swift
/// var parameters = AdvertisingParameters([.name("Clock")])
/// parameters.kind = .broadcast
/// parameters.extended = ExtendedAdvertising(advertisingSID: 2)
/// parameters.periodic = PeriodicAdvertising([.manufacturerData(company: 0xFFFF, [12, 30])], interval: .milliseconds(50))
/// let set = try await device.startAdvertisingSet(parameters)
/// ```
public struct PeriodicAdvertising: Hashable, Sendable {
  /// The data of each packet: at most 1,650 octets.
  public var data: [ADStructure]
  /// The interval, 7.5 ms to 81.91875 s, rounded down to steps of 1.25 ms.
  public var interval: Duration
  /// True if the packets include their transmit power.
  public var includesTxPower: Bool

  /// Creates periodic advertising.
  public init(_ data: [ADStructure], interval: Duration = .milliseconds(100), includesTxPower: Bool = false) {
    self.data = data
    self.interval = interval
    self.includesTxPower = includesTxPower
  }

  /// The form for the host; nil: a value is out of its range.
  var host: HostAdvertising.PeriodicTrain? {
    guard let units = interval.steps(of: .microseconds(1_250), roundedUp: false),
      units >= HostAdvertising.PeriodicTrain.Shape.minimumInterval, data.allSatisfy({ $0.data.count < 255 })
    else { return nil }
    return HostAdvertising.PeriodicTrain(
      interval: units, includesTransmitPower: includesTxPower, data: ByteSlice(data.flatMap(\.octets)))
  }
}
