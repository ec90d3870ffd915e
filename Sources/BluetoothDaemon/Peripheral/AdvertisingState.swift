import BluetoothHost
import BluetoothWire

/// The advertising requests of apps. A device has one advertiser, which combines all requests: the services of all of
/// them, in the order of the requests, and the latest name.
struct AdvertisingState {
  struct Request {
    let session: PeripheralSessionID
    let localName: String?
    let services: [BluetoothUUID]
    /// The complete advertising; nil: it follows from the name and the services.
    var custom: HostAdvertising?
  }

  private(set) var requests: [Request] = []
  /// The sessions that have not been informed of the outcome yet, in order.
  private var waiting: [PeripheralSessionID] = []

  var isWanted: Bool { !requests.isEmpty }

  /// Adds a request. Returns false if the session is advertising already, or if requests exclude each other: complete
  /// advertising can't be combined.
  mutating func start(_ request: Request) -> Bool {
    guard !requests.contains(where: { $0.session == request.session || $0.custom != nil }),
      request.custom == nil || requests.isEmpty
    else { return false }
    requests.append(request)
    waiting.append(request.session)
    return true
  }

  enum Stop {
    /// The session is not advertising.
    case notAdvertising
    /// The session's request is removed; `wasWaiting`: the session has not been informed of its start's outcome yet.
    case stopped(wasWaiting: Bool)
  }

  mutating func stop(_ session: PeripheralSessionID) -> Stop {
    guard let index = requests.firstIndex(where: { $0.session == session }) else { return .notAdvertising }
    requests.remove(at: index)
    let wasWaiting = waiting.contains(session)
    waiting.removeAll { $0 == session }
    return .stopped(wasWaiting: wasWaiting)
  }

  /// Removes and returns the sessions that have not been informed of the outcome.
  mutating func takeWaiting() -> [PeripheralSessionID] {
    defer { waiting.removeAll() }
    return waiting
  }

  /// The complete advertising of the only request; nil: there is none.
  var custom: HostAdvertising? { requests.first?.custom }

  var localName: String? { requests.last { $0.localName != nil }?.localName }

  var services: [BluetoothUUID] {
    var all: [BluetoothUUID] = []
    for request in requests {
      for service in request.services where !all.contains(service) { all.append(service) }
    }
    return all
  }
}
