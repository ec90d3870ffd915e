import BluetoothWire

/// The change awareness of one client, for Robust Caching · Vol 3, Part G, 2.5.2.1.
struct GATTChangeAwareness {
  private enum State {
    case aware
    case unaware
    /// The client has received Error 0x12 or has read the hash: its next request makes it change-aware.
    case informed
  }

  private var state: State

  init(isAware: Bool = true) { state = isAware ? .aware : .unaware }

  var isAware: Bool { state == .aware }

  mutating func databaseChanged() { state = .unaware }

  /// Notes that the client has confirmed Service Changed and that nothing has changed since.
  mutating func changeConfirmed() { state = .aware }

  mutating func hashRead() {
    if state == .unaware { state = .informed }
  }

  /// Processes a request with respect to change awareness. Returns false if the request must be answered with Error
  /// 0x12.
  mutating func admits(_ request: ATT.PDU, isRobust: Bool) -> Bool {
    switch state {
    case .aware: return true
    case .informed:
      state = .aware
      return true
    case .unaware:
      guard isRobust, Self.reliesOnHandles(request) else { return true }
      state = .informed
      return false
    }
  }

  /// Returns true if the request relies on handles that the client knows from an earlier discovery.
  private static func reliesOnHandles(_ request: ATT.PDU) -> Bool {
    switch request {
    case .readRequest, .readBlobRequest, .readMultipleRequest, .readMultipleVariableRequest, .writeRequest,
      .prepareWriteRequest:
      return true
    case .readByTypeRequest(let start, let end, let type):
      return type != GATTType.include && type != GATTType.characteristic && (start, end) != (1, .max)
    default: return false
    }
  }
}

/// The features in Client Supported Features · Vol 3, Part G, 7.2.
struct GATTClientFeatures: OptionSet, Hashable {
  let rawValue: UInt8
  static let robustCaching = GATTClientFeatures(rawValue: 0x01)
  static let enhancedBearers = GATTClientFeatures(rawValue: 0x02)
  static let multipleHandleValueNotifications = GATTClientFeatures(rawValue: 0x04)
  static let known: GATTClientFeatures = [.robustCaching, .enhancedBearers, .multipleHandleValueNotifications]
}
