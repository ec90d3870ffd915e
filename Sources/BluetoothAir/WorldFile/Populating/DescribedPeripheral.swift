import BluetoothLab

/// A peripheral that a world file describes completely. Its characteristics have values that clients may change, and
/// that it sends periodically to subscribed clients.
struct DescribedPeripheral: Accessory {
  /// A characteristic, and the sequence of its values.
  struct Characteristic: Hashable, Sendable {
    let path: CharacteristicPath
    /// The values, used in sequence and then from the beginning.
    let values: [[UInt8]]
    /// The period of notifications; nil: only a write causes one.
    let period: Duration?
    /// The longest value that a client may write, in octets.
    let maximumLength: Int
    /// True if the value can be notified, indicated or broadcast.
    let tellsListeners: Bool

    fileprivate(set) var value: [UInt8]
    private var next = 1
    /// The time of the next notification; nil if no client is subscribed.
    fileprivate var due: Duration?

    init(
      path: CharacteristicPath, values: [[UInt8]], period: Duration?, maximumLength: Int, tellsListeners: Bool
    ) {
      (self.path, self.values, self.period) = (path, values, period)
      (self.maximumLength, self.tellsListeners) = (maximumLength, tellsListeners)
      value = values.first ?? []
    }

    /// Advances to the next value. Without one, the current value stays, even if a client wrote it.
    fileprivate mutating func advance() {
      guard values.count > 1 else { return }
      value = values[next % values.count]
      next += 1
    }
  }

  var advertising = Advertising()
  var services: [AccessoryService] = []
  var appearance: UInt16 = 0
  /// The connection parameters that it requests after a connection; nil: none.
  var connectionWish: PreferredConnectionParameters?
  private var characteristics: [Characteristic] = []

  mutating func add(_ characteristic: Characteristic) { characteristics.append(characteristic) }

  private func index(of path: CharacteristicPath) -> Int? { characteristics.firstIndex { $0.path == path } }

  func value(of path: CharacteristicPath) -> [UInt8] { index(of: path).map { characteristics[$0].value } ?? [] }

  mutating func connected(_ session: inout AccessoryContext) {
    if let connectionWish { session.requestConnection(connectionWish) }
  }

  mutating func subscriptionChanged(
    _ path: CharacteristicPath, _ isOn: Bool, _ session: inout AccessoryContext
  ) {
    schedule(&session)
  }

  mutating func disconnected(_ reason: HCIErrorCode, _ session: inout AccessoryContext) { schedule(&session) }

  mutating func timeReached(_ session: inout AccessoryContext) {
    for index in characteristics.indices {
      guard let due = characteristics[index].due, due <= session.now else { continue }
      characteristics[index].due = nil
      characteristics[index].advance()
      session.notify(characteristics[index].path)
    }
    schedule(&session)
  }

  /// Updates the notification times: a period begins when a client subscribes, and again when it has passed.
  private mutating func schedule(_ session: inout AccessoryContext) {
    var next: Duration?
    for index in characteristics.indices {
      guard let period = characteristics[index].period, session.subscriptions.contains(characteristics[index].path)
      else {
        characteristics[index].due = nil
        continue
      }
      let due = characteristics[index].due ?? session.now + period
      characteristics[index].due = due
      next = min(next ?? due, due)
    }
    session.wake(after: next.map { $0 - session.now })
  }

  mutating func write(
    _ value: [UInt8], to path: CharacteristicPath, _ session: inout AccessoryContext
  ) throws(ATTErrorCode) {
    guard let index = index(of: path) else { throw .writeNotPermitted }
    guard value.count <= characteristics[index].maximumLength else { throw .invalidAttributeValueLength }
    characteristics[index].value = value
    if characteristics[index].tellsListeners { session.notify(path) }
  }
}
