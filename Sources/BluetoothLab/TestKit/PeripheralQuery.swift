import CoreBluetooth

/// The peripheral that a test looks for. A string literal is the peripheral's name.
public enum PeripheralQuery: Sendable {
  /// The first peripheral that is discovered.
  case any
  /// The first peripheral with this name: the local name of its advertisement or, if it has none, `CBPeripheral.name`.
  case named(String)
  /// The first peripheral that advertises this service.
  case service(CBUUID)

  /// The services to scan for.
  var services: [CBUUID]? { if case .service(let uuid) = self { [uuid] } else { nil } }

  func matches(_ discovery: RecordingCentralDelegate.Discovery) -> Bool {
    switch self {
    case .any, .service: true
    case .named(let name):
      (discovery.advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? discovery.peripheral.name) == name
    }
  }
}

extension PeripheralQuery: ExpressibleByStringLiteral {
  public init(stringLiteral name: String) { self = .named(name) }
}

extension PeripheralQuery: CustomStringConvertible {
  /// The query in words, such as `a peripheral named "Heart Rate"`.
  public var description: String {
    switch self {
    case .any: "a peripheral"
    case .named(let name): "a peripheral named \"\(name)\""
    case .service(let uuid): "a peripheral with the service \(uuid.uuidString)"
    }
  }
}
