import BluetoothProfiles
import BluetoothWire

/// A connected client of an accessory. The value identifies the client until it disconnects.
public struct AccessoryClient: Hashable, Sendable {
  package let link: HCI.ConnectionHandle

  package init(link: HCI.ConnectionHandle) { self.link = link }
}

/// The context of an accessory's callback: the state of its connections, and methods that request effects. The
/// effects take place after the callback has returned.
public struct AccessoryContext: Sendable {
  package enum Effect: Sendable {
    case notify(CharacteristicPath)
    case send([UInt8], of: CharacteristicPath, to: AccessoryClient)
    case wake(Duration?)
    case update(PreferredConnectionParameters)
    case disconnect
    case advertise(Advertising?)
    case setService(Int, isPresent: Bool)
    case writeToCentrals([UInt8], of: CharacteristicPath)
  }

  /// The world's radio time.
  public let now: Duration
  /// The number of connected centrals.
  public let connections: Int
  /// The client whose write, subscription, connection or confirmation caused the callback; nil in callbacks that no
  /// client caused, such as `timeReached`.
  public let client: AccessoryClient?
  /// The maximum number of octets of a notification to `client`: ATT_MTU − 3 · Vol 3, Part F, 3.4.7.1.
  let maximumValueLength: Int
  private let subscribers: [AccessorySubscriber]
  package private(set) var effects: [Effect] = []

  package init(
    now: Duration, connections: Int, subscriptions: [AccessorySubscriber], client: AccessoryClient? = nil,
    maximumValueLength: Int = ATT.defaultMTU - 3
  ) {
    self.now = now
    self.connections = connections
    self.client = client
    self.maximumValueLength = min(ATT.maximumValueLength, maximumValueLength)
    subscribers = subscriptions
  }

  /// The characteristics with at least one subscriber.
  public var subscriptions: Set<CharacteristicPath> { Set(subscribers.lazy.map(\.path)) }

  /// Returns true if at least one central has subscribed to the characteristic.
  public func hasSubscribers<Value>(_ characteristic: Characteristic<Value>) -> Bool {
    subscribers.contains { $0.path == characteristic.path }
  }

  /// Returns true if this client has subscribed to the characteristic.
  public func isSubscribed<Value>(_ client: AccessoryClient, to characteristic: Characteristic<Value>) -> Bool {
    subscribers.contains { $0.link == client.link && $0.path == characteristic.path }
  }

  /// The clients that have subscribed to the characteristic.
  func subscribedClients<Value>(to characteristic: Characteristic<Value>) -> some Sequence<AccessoryClient> {
    let path = characteristic.path
    return subscribers.lazy.filter { $0.path == path }.map { AccessoryClient(link: $0.link) }
  }

  /// Notifies or indicates the characteristic to all its subscribers, with the value that it has after the callback.
  public mutating func notify<Value>(_ characteristic: Characteristic<Value>) { notify(characteristic.path) }

  /// Notifies or indicates the characteristic to all its subscribers, with the value that it has after the callback.
  public mutating func notify(_ path: CharacteristicPath) { request(.notify(path)) }

  /// Notifies or indicates a value to one client, if it has subscribed to the characteristic.
  /// `Accessory.valueSent(of:in:)` is called when the value has been sent.
  public mutating func send<Value>(
    _ value: Value, of characteristic: Characteristic<Value>, to client: AccessoryClient
  ) {
    send(octets: value.octets, of: characteristic.path, to: client)
  }

  /// Notifies or indicates octets to one client, if it has subscribed to the characteristic.
  mutating func send(octets: [UInt8], of path: CharacteristicPath, to client: AccessoryClient) {
    request(.send(octets, of: path, to: client))
  }

  /// Writes a value to this characteristic of the GATT server of every connected central, such as the alert level of a
  /// telephone: the accessory is the GATT client over the same link. The value is written without a response if the
  /// characteristic permits it, otherwise with one. The first write on a link discovers the characteristic, which takes
  /// several connection events. `Accessory.centralWriteEnded(of:because:in:)` is called for each central.
  ///
  /// A `PlayedAccessory` needs a `Central` for it. `Device.serve` does not support it, because the clients on a device
  /// are its apps. Without support the write ends with `CentralWriteError.notSupported`.
  public mutating func writeToCentrals<Value>(_ value: Value, of characteristic: Characteristic<Value>) {
    request(.writeToCentrals(value.octets, of: characteristic.path))
  }

  /// Notes an effect.
  private mutating func request(_ effect: Effect) {
    // Most callbacks request a few effects, for which one allocation has room.
    if effects.isEmpty { effects.reserveCapacity(4) }
    effects.append(effect)
  }

  /// Returns true if the callback has requested to notify the characteristic to all its subscribers.
  package func notifies(_ path: CharacteristicPath) -> Bool {
    effects.contains { if case .notify(path) = $0 { true } else { false } }
  }

  /// Schedules `timeReached` after this time, at least 1 ms, and replaces any time scheduled before; nil cancels it. The
  /// device cancels it when it is turned off.
  public mutating func wake(after time: Duration?) {
    // The minimum keeps the world's time advancing even if the accessory always asks for zero.
    request(.wake(time.map { max($0, .milliseconds(1)) }))
  }

  /// Schedules `timeReached` at this time of the world, and replaces any time scheduled before. A time that has passed
  /// stands for 1 ns from now, so that the world's time advances.
  mutating func wake(at time: Duration) { request(.wake(max(time - now, .nanoseconds(1)))) }

  /// Requests other connection parameters from every central, through the link layer or L2CAP · Vol 6, Part B, 5.1.7;
  /// Vol 3, Part A, 4.20. The request is sent when the link is at least 5 s old and the central has been quiet for 1
  /// s; a later request replaces a pending one. A central may reject it.
  public mutating func requestConnection(_ parameters: PreferredConnectionParameters) {
    request(.update(parameters))
  }

  /// Disconnects every central.
  public mutating func disconnect() { request(.disconnect) }

  /// Replaces the advertising until the next connection ends; nil stops advertising. An accessory stops advertising
  /// when a central connects: with this method it accepts a further central.
  public mutating func advertise(_ advertising: Advertising?) { request(.advertise(advertising)) }

  /// Adds or removes the service with this index in `Accessory.services`. Connected clients that have subscribed get
  /// Service Changed · Vol 3, Part G, 2.5.2. A service with a fixed handle returns to it; another one gets new handles.
  public mutating func setService(at index: Int, isPresent: Bool) {
    request(.setService(index, isPresent: isPresent))
  }
}

/// The connection parameters that an accessory requests. Values outside the specification's range are clamped.
public struct PreferredConnectionParameters: Hashable, Sendable {
  /// The connection interval, 7.5 ms to 4 s, in steps of 1.25 ms.
  public var interval: Duration
  /// The peripheral latency: the number of consecutive connection events that the peripheral may skip, 0 to 499.
  public var latency: Int
  /// The supervision timeout, 100 ms to 32 s, in steps of 10 ms.
  public var supervisionTimeout: Duration

  /// Creates a request for these connection parameters.
  public init(interval: Duration, latency: Int = 0, supervisionTimeout: Duration = .seconds(2)) {
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }

  var parameters: LinkParameters {
    func units(_ time: Duration, _ unit: TimeSpan, _ range: ClosedRange<Int64>) -> UInt16 {
      UInt16(min(max(TimeSpan(time).nanoseconds / unit.nanoseconds, range.lowerBound), range.upperBound))
    }
    let interval = units(interval, LinkParameters.intervalUnit, 6...3200)
    return LinkParameters(
      minimumInterval: interval, maximumInterval: interval, latency: UInt16(min(max(latency, 0), 499)),
      supervisionTimeout: units(supervisionTimeout, LinkParameters.supervisionTimeoutUnit, 10...3200))
  }
}
