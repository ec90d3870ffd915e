import BluetoothWire

/// What apps want to advertise. A device has one advertiser, which carries what all of them ask for: the services of
/// all, in the order of asking, and the name that was given last.
struct AdvertisingState {
  struct Request {
    let session: PeripheralSlot
    let localName: String?
    let services: [BluetoothUUID]
  }

  private(set) var requests: [Request] = []
  /// The sessions that have not been told yet how it went, in order.
  private var waiting: [PeripheralSlot] = []

  var isWanted: Bool { !requests.isEmpty }

  /// False: this session advertises already.
  mutating func start(_ request: Request) -> Bool {
    guard !requests.contains(where: { $0.session == request.session }) else { return false }
    requests.append(request)
    waiting.append(request.session)
    return true
  }

  enum Stop {
    /// This session does not advertise.
    case notAdvertising
    /// `wasWaiting`: it has not been told yet how its start went.
    case stopped(wasWaiting: Bool)
  }

  mutating func stop(_ session: PeripheralSlot) -> Stop {
    guard let index = requests.firstIndex(where: { $0.session == session }) else { return .notAdvertising }
    requests.remove(at: index)
    let wasWaiting = waiting.contains(session)
    waiting.removeAll { $0 == session }
    return .stopped(wasWaiting: wasWaiting)
  }

  /// Takes those who wait to be told.
  mutating func takeWaiting() -> [PeripheralSlot] {
    defer { waiting.removeAll() }
    return waiting
  }

  var localName: String? { requests.last { $0.localName != nil }?.localName }

  var services: [BluetoothUUID] {
    var all: [BluetoothUUID] = []
    for request in requests {
      for service in request.services where !all.contains(service) { all.append(service) }
    }
    return all
  }
}
