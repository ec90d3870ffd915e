import BluetoothHost
import BluetoothWire

/// The advertising requests of apps. A device has one advertiser, which combines all requests: the services of all of
/// them, in the order of the requests, and the latest name. Users take turns with their services, so that nobody can
/// push the services of others out of the advertisement.
struct AdvertisingState {
  struct Request {
    let session: PeripheralSessionID
    var user = ClientUser.unknown
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
  /// advertising can't be combined. The complete advertising of one user does not keep another user from advertising:
  /// it waits meanwhile.
  mutating func start(_ request: Request) -> Bool {
    guard !requests.contains(where: { $0.session == request.session || $0.custom != nil && $0.user == request.user }),
      request.custom == nil || requests.isEmpty
    else { return false }
    requests.append(request)
    waiting.append(request.session)
    return true
  }

  /// Adds a request of a former run of the daemon, whose session has been informed. Returns false as `start` does.
  mutating func goOn(_ request: Request) -> Bool {
    guard start(request) else { return false }
    waiting.removeLast()
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

  /// The advertising that combines all requests that may use the radio.
  struct Content: Hashable {
    /// The complete advertising of the only request; nil: it follows from the other properties.
    var custom: HostAdvertising?
    var localName: String?
    var services: [BluetoothUUID] = []
    /// The services of apps in the background.
    var overflowServices: [BluetoothUUID] = []
    /// True if all apps that advertise are in the background.
    var isSlow = true
  }

  /// Returns the advertising of the requests that may use the radio; nil: none may. Apps in the background advertise no
  /// name, and their services are in the overflow area.
  func content(_ use: (PeripheralSessionID) -> RadioUse) -> Content? {
    var content = Content()
    var isEmpty = true
    // The services of each user, in the order of the users' first requests.
    var services: [(user: ClientUser, services: [BluetoothUUID])] = []
    let others = requests.filter { $0.custom == nil && use($0.session) != .none }
    for request in others.isEmpty ? requests : others {
      switch use(request.session) {
      case .none: continue
      case .full:
        content.custom = request.custom
        content.localName = request.localName ?? content.localName
        let place = services.firstIndex { $0.user == request.user } ?? services.count
        if place == services.count { services.append((request.user, [])) }
        services[place].services += request.services
        content.isSlow = false
      case .reduced:
        content.custom = request.custom
        content.overflowServices += request.services.filter { !content.overflowServices.contains($0) }
      }
      isEmpty = false
    }
    for turn in 0..<(services.map(\.services.count).max() ?? 0) {
      for part in services where turn < part.services.count && !content.services.contains(part.services[turn]) {
        content.services.append(part.services[turn])
      }
    }
    content.overflowServices.removeAll { content.services.contains($0) }
    return isEmpty ? nil : content
  }
}
