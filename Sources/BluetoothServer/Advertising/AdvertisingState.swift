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

  /// False: this session does not advertise.
  mutating func stop(_ session: PeripheralSlot) -> Bool {
    guard let index = requests.firstIndex(where: { $0.session == session }) else { return false }
    requests.remove(at: index)
    waiting.removeAll { $0 == session }
    return true
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
