import BluetoothHost
import BluetoothWire

/// The advertising of a simulated device: PDU type, schedule, channels and payload.
///
/// ```swift
/// var advertising = Advertising(AdvertisingPayload(fitting: [.flags(), .name("Strap"), .services([0x180D])]))
/// advertising.schedule = [.every(.milliseconds(20), for: .seconds(30)), .every(.milliseconds(1_022.5))]
/// ```
public struct Advertising: Hashable, Sendable {
  /// The advertising PDU type · Vol 6, Part B, 2.3.1.
  public enum Kind: Hashable, Sendable, CaseIterable {
    /// ADV_IND: any central may connect or request the scan response.
    case connectable
    /// ADV_SCAN_IND: any scanner may request the scan response.
    case scannable
    /// ADV_NONCONN_IND: neither connectable nor scannable.
    case broadcast
    /// ADV_DIRECT_IND, low duty cycle: only the central that was connected last may connect. It carries no data.
    /// Nothing is sent before a first central has connected.
    case directed
  }

  /// A part of a schedule.
  public struct Phase: Hashable, Sendable {
    /// The advertising interval, 20 ms to 10.24 s, in steps of 0.625 ms; other values are clamped. The link layer
    /// adds a random delay of up to 10 ms to each interval.
    public var interval: Duration
    /// The duration of the phase; nil for an unlimited one.
    public var duration: Duration?

    /// Returns a phase with this interval and duration; nil means unlimited.
    public static func every(_ interval: Duration, for duration: Duration? = nil) -> Phase {
      Phase(interval: interval, duration: duration)
    }

    var units: UInt16 {
      let units = TimeSpan(interval).nanoseconds / HCI.AdvertisingParameters.intervalUnit.nanoseconds
      return UInt16(min(max(units, 0x20), 0x4000))
    }
  }

  /// The primary advertising channels.
  public struct Channels: OptionSet, Hashable, Sendable {
    /// The channel map: bits 0 to 2 are channels 37 to 39.
    public let rawValue: UInt8
    /// Creates a set of channels from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Channel 37, 2402 MHz.
    public static let channel37 = Channels(rawValue: 1)
    /// Channel 38, 2426 MHz.
    public static let channel38 = Channels(rawValue: 2)
    /// Channel 39, 2480 MHz.
    public static let channel39 = Channels(rawValue: 4)
    /// All three channels.
    public static let all: Channels = [.channel37, .channel38, .channel39]
  }

  /// The advertising PDU type.
  public var kind = Kind.connectable
  /// The phases, in order. Advertising stops after the last phase if the last phase has a duration; otherwise
  /// advertising continues for ever.
  public var schedule: [Phase]
  /// The channels used; an empty set means all.
  public var channels = Channels.all
  /// The transmit power, −20 to 20 dBm; other values are clamped. nil means the device's power, which a Bluetooth 4.0
  /// device always uses.
  public var transmitPower: Int?
  /// The payload of every advertising packet.
  public var payload: AdvertisingPayload
  /// The payload of the scan response.
  public var scanResponse: AdvertisingPayload

  /// The schedule of the ready-made accessories: every 100 ms for 30 s, then every 1,022.5 ms. A central that wants to
  /// connect finds a device quickly that has just been turned on or lost its link, and the battery of a device that
  /// nobody wants lasts ten times as long · Vol 3, Part C, Appendix A: T_GAP(adv_fast_interval2),
  /// T_GAP(adv_fast_period), T_GAP(adv_slow_interval).
  public static let fastThenSlow: [Phase] = [
    .every(.milliseconds(100), for: .seconds(30)), .every(.milliseconds(1_022.5)),
  ]

  /// Creates connectable advertising on all channels: every 100 ms unless there is another schedule.
  public init(
    _ payload: AdvertisingPayload = .empty, scanResponse: AdvertisingPayload = .empty,
    schedule: [Phase] = [.every(.milliseconds(100))]
  ) {
    self.payload = payload
    self.scanResponse = scanResponse
    self.schedule = schedule
  }

  /// Returns the host's advertising parameters for a phase; nil if the advertising is directed and `lastCentral` is
  /// nil.
  func hostAdvertising(in phase: Phase, lastCentral: DeviceAddress?) -> HostAdvertising? {
    var result = HostAdvertising(data: ByteSlice(payload.octets), scanResponse: ByteSlice(scanResponse.octets))
    if kind == .directed {
      guard let lastCentral else { return nil }
      result = HostAdvertising(data: ByteSlice(), scanResponse: ByteSlice())
      result.shape.target = lastCentral
    }
    result.shape.type =
      switch kind {
      case .connectable: .connectableScannableUndirected
      case .scannable: .scannableUndirected
      case .broadcast: .nonConnectableUndirected
      case .directed: .connectableDirectedLowDutyCycle
      }
    result.shape.interval = phase.units
    let bits = channels.intersection(.all).rawValue
    result.shape.channelMap = bits == 0 ? Channels.all.rawValue : bits
    result.shape.transmitPower = transmitPower.map { Int8(min(max($0, -20), 20)) }
    return result
  }
}

/// The position of an advertiser in its schedule.
struct AdvertisingProgress {
  private let advertising: Advertising
  private var index = 0
  /// The end of the current phase; nil if it has none.
  private(set) var end: Instant?

  init(_ advertising: Advertising, at now: Instant) {
    self.advertising = advertising
    begin(at: now)
  }

  /// Returns the host's advertising parameters for the current phase; nil if the schedule has ended or directed
  /// advertising has no target.
  func current(lastCentral: DeviceAddress?) -> HostAdvertising? {
    guard index < advertising.schedule.count else { return nil }
    return advertising.hostAdvertising(in: advertising.schedule[index], lastCentral: lastCentral)
  }

  /// Advances to the next phase if the current one has ended. Returns true if it advanced.
  mutating func timeReached(_ now: Instant) -> Bool {
    guard let end, end <= now else { return false }
    index += 1
    begin(at: now)
    return true
  }

  private mutating func begin(at now: Instant) {
    end =
      index < advertising.schedule.count
      ? advertising.schedule[index].duration.map { now + TimeSpan($0) } : nil
  }
}
