import BluetoothWire

/// What an accessory knows of its world when something happens to it, and what it has done about it.
public struct AccessorySession: Sendable {
  enum Effect: Sendable {
    case notify(CharacteristicPath)
    case wake(Duration?)
    case update(ConnectionWish)
    case disconnect
    case advertise(Advertising?)
  }

  /// The world's radio time.
  public let now: Duration
  /// How many centrals are connected.
  public let connections: Int
  /// What some central listens to.
  public let subscriptions: Set<CharacteristicPath>
  private(set) var effects: [Effect] = []

  init(now: Duration, connections: Int, subscriptions: Set<CharacteristicPath>) {
    self.now = now
    self.connections = connections
    self.subscriptions = subscriptions
  }

  /// Sends the value that the characteristic has after this call to everybody who listens to it, as a notification or an
  /// indication.
  public mutating func notify(_ path: CharacteristicPath) { effects.append(.notify(path)) }

  /// Has `timeReached` called after this time, a millisecond at least, instead of when it was asked for before; nil: not any
  /// more.
  public mutating func wake(after time: Duration?) {
    // Else time would stand still for an accessory that asks for no time at all again and again.
    effects.append(.wake(time.map { max($0, .milliseconds(1)) }))
  }

  /// Asks every central for other connection parameters, by the link layer or by L2CAP · Vol 6, Part B, 5.1.7; Vol 3, Part A,
  /// 4.20. A link has to be 5 s old, and its central quiet for 1 s; of wishes that wait the last one counts. A central may
  /// refuse.
  public mutating func requestConnection(_ wish: ConnectionWish) { effects.append(.update(wish)) }

  /// Ends every connection.
  public mutating func disconnect() { effects.append(.disconnect) }

  /// Advertises in another way from now on, or (nil) not any more, until the next connection ends.
  public mutating func advertise(_ advertising: Advertising?) { effects.append(.advertise(advertising)) }
}

/// Connection parameters that an accessory would like. Values beyond what the specification allows are held there.
public struct ConnectionWish: Hashable, Sendable {
  /// The interval, 7.5 ms to 4 s, in steps of 1.25 ms.
  public var interval: Duration
  /// Connection events that it may skip, 0 to 499.
  public var latency: Int
  /// 100 ms to 32 s, in steps of 10 ms: how long the link lives without a packet.
  public var supervisionTimeout: Duration

  /// What an accessory would like.
  public init(interval: Duration, latency: Int = 0, supervisionTimeout: Duration = .seconds(2)) {
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }

  var parameters: ConnectionParameters {
    func units(_ time: Duration, _ unit: TimeSpan, _ range: ClosedRange<Int64>) -> UInt16 {
      UInt16(min(max(TimeSpan(time).nanoseconds / unit.nanoseconds, range.lowerBound), range.upperBound))
    }
    let interval = units(interval, ConnectionParameters.intervalUnit, 6...3200)
    return ConnectionParameters(
      minimumInterval: interval, maximumInterval: interval, latency: UInt16(min(max(latency, 0), 499)),
      supervisionTimeout: units(supervisionTimeout, ConnectionParameters.supervisionTimeoutUnit, 10...3200))
  }
}

/// Why a link has ended: an error code of the controller · Vol 1, Part F.
public struct DisconnectionReason: Hashable, Sendable {
  /// The code of HCI.
  public var code: UInt8

  /// The reason with this code.
  public init(code: UInt8) { self.code = code }

  /// 0x08: nothing was heard for as long as the supervision timeout.
  public static let connectionTimeout = DisconnectionReason(code: 0x08)
  /// 0x13: the other side wanted it.
  public static let remoteUser = DisconnectionReason(code: 0x13)
}
