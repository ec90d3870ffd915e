import BluetoothWire

/// Whether one client knows the database as it is now: Robust Caching · Vol 3, Part G, 2.5.2.1.
struct GATTChangeAwareness {
  private enum State {
    case aware
    case unaware
    /// It has been told by Error 0x12, or has read the hash: its next request makes it aware.
    case told
  }

  private var state: State

  init(isAware: Bool = true) { state = isAware ? .aware : .unaware }

  var isAware: Bool { state == .aware }

  mutating func databaseChanged() { state = .unaware }

  /// The client has confirmed Service Changed, and nothing has changed since.
  mutating func changeConfirmed() { state = .aware }

  mutating func hashRead() {
    if state == .unaware { state = .told }
  }

  /// A request has come. False: it is to be answered with Error 0x12.
  mutating func admits(_ request: ATT.PDU, isRobust: Bool) -> Bool {
    switch state {
    case .aware: return true
    case .told:
      state = .aware
      return true
    case .unaware:
      guard isRobust, Self.reliesOnHandles(request) else { return true }
      state = .told
      return false
    }
  }

  /// Whether a client sends this that believes it knows handles.
  private static func reliesOnHandles(_ request: ATT.PDU) -> Bool {
    switch request {
    case .readRequest, .readBlobRequest, .readMultipleRequest, .writeRequest, .prepareWriteRequest: return true
    case .readByTypeRequest(let start, let end, let type):
      return type != GATTType.include && type != GATTType.characteristic && (start, end) != (1, .max)
    default: return false
    }
  }
}

/// What a client has told of itself · Vol 3, Part G, 7.2.
struct GATTClientFeatures: OptionSet, Hashable {
  let rawValue: UInt8
  static let robustCaching = GATTClientFeatures(rawValue: 0x01)
  static let enhancedBearers = GATTClientFeatures(rawValue: 0x02)
  static let multipleHandleValueNotifications = GATTClientFeatures(rawValue: 0x04)
  static let known: GATTClientFeatures = [.robustCaching, .enhancedBearers, .multipleHandleValueNotifications]
}
