import BluetoothHost
import BluetoothWire

/// How a device of the lab advertises: what, how often, and where.
///
/// ```swift
/// var advertising = Advertising(AdvertisingPayload(fitting: [.flags(), .name("Strap"), .services16([0x180D])]))
/// advertising.schedule = [.every(.milliseconds(20), for: .seconds(30)), .every(.milliseconds(1_022.5))]
/// ```
public struct Advertising: Hashable, Sendable {
  /// Which PDUs are sent · Vol 6, Part B, 2.3.1.
  public enum Kind: Hashable, Sendable, CaseIterable {
    /// ADV_IND: anybody may connect and ask for the scan response.
    case connectable
    /// ADV_SCAN_IND: anybody may ask for the scan response.
    case scannable
    /// ADV_NONCONN_IND: nobody is listened to.
    case broadcast
    /// ADV_DIRECT_IND: the central that was connected last, and nobody else, is asked to connect again; nothing is said.
    /// Before there was one, nothing is sent.
    case directed
  }

  /// A part of a schedule.
  public struct Phase: Hashable, Sendable {
    /// 20 ms to 10.24 s, in steps of 0.625 ms; what is beyond is held there. The link layer adds up to 10 ms of chance to each.
    public var interval: Duration
    /// nil: without end.
    public var duration: Duration?

    /// An interval that is kept for a time, or (nil) without end.
    public static func every(_ interval: Duration, for duration: Duration? = nil) -> Phase {
      Phase(interval: interval, duration: duration)
    }

    var units: UInt16 {
      let units = TimeSpan(interval).nanoseconds / HCI.AdvertisingParameters.intervalUnit.nanoseconds
      return UInt16(min(max(units, 0x20), 0x4000))
    }
  }

  /// Advertising channels.
  public struct Channels: OptionSet, Hashable, Sendable {
    /// Bits 0 to 2: channels 37 to 39.
    public let rawValue: UInt8
    /// The channels of these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// 2402 MHz.
    public static let channel37 = Channels(rawValue: 1)
    /// 2426 MHz.
    public static let channel38 = Channels(rawValue: 2)
    /// 2480 MHz.
    public static let channel39 = Channels(rawValue: 4)
    /// All three.
    public static let all: Channels = [.channel37, .channel38, .channel39]
  }

  /// Which PDUs are sent.
  public var kind = Kind.connectable
  /// One phase after the other; the last one is kept, or (if its duration is given) nothing is sent after it.
  public var schedule: [Phase] = [.every(.milliseconds(100))]
  /// Where; none stands for all.
  public var channels = Channels.all
  /// dBm, −20 to 20, what is beyond is held there; nil: that of the device, which one of Bluetooth 4.0 always has.
  public var transmitPower: Int?
  /// What every packet says.
  public var payload: AdvertisingPayload
  /// What those who ask are told.
  public var scanResponse: AdvertisingPayload

  /// Connectable advertising every 100 ms on all channels.
  public init(_ payload: AdvertisingPayload = .empty, scanResponse: AdvertisingPayload = .empty) {
    self.payload = payload
    self.scanResponse = scanResponse
  }

  /// What the host is told in a phase; nil: nothing can be sent.
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

/// Where in its schedule an advertiser is.
struct AdvertisingProgress {
  private let advertising: Advertising
  private var index = 0
  /// When the phase ends; nil: never.
  private(set) var end: Instant?

  init(_ advertising: Advertising, at now: Instant) {
    self.advertising = advertising
    begin(at: now)
  }

  /// nil: the schedule is over, or there is nobody whom it is for.
  func current(lastCentral: DeviceAddress?) -> HostAdvertising? {
    guard index < advertising.schedule.count else { return nil }
    return advertising.hostAdvertising(in: advertising.schedule[index], lastCentral: lastCentral)
  }

  /// Goes on to the next phase if the time has come; says whether it did.
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
