import BluetoothAdapters
import CoreBluetooth

/// A Bluetooth adapter that a `Central` or a `LocalPeripheral` can use.
///
/// ```swift
/// let centrals = Adapter.known.filter { $0.kind == .local }.map { Central(adapter: $0) }
/// ```
public struct Adapter: Hashable, Sendable, Identifiable, CustomStringConvertible {
  /// The place of an adapter's controller.
  public enum Kind: Hashable, Sendable {
    /// In this process, with a simulated radio.
    case simulated
    /// An adapter of Linux, or a controller on a serial line of this machine.
    case local
    /// Behind a socket: a controller of another process, perhaps on another machine.
    case remote
  }

  /// The specifier, such as "virtual" or "hci:0"; see `CBManagerOptionAdapterKey`.
  public let specifier: String
  /// The place of the controller.
  public let kind: Kind

  /// The specifier.
  public var id: String { specifier }
  /// The specifier.
  public var description: String { specifier }

  /// The adapters that are known without trying them: `virtual`, the adapters of Linux, and the one that the
  /// environment variable `COREBLUETOOTH_ADAPTER` names. Others exist if they are named: a controller behind a socket
  /// or on a serial line, and the devices of a world. An adapter of Linux can be used as `Documentation/Adapters.md`
  /// describes; `Central.waitUntilPoweredOn` tells whether it works.
  public static var known: [Adapter] { CBManager.knownAdapters.map { Adapter($0) } }

  private init(_ adapter: any AdapterSpecifier) {
    specifier = "\(adapter)"
    kind =
      switch adapter.kind {
      case .simulated: .simulated
      case .local: .local
      case .remote, .server: .remote
      }
  }

  /// Returns the value for `CBManagerOptionAdapterKey` that selects what an app has passed as adapter.
  static func option(_ adapter: Any) -> Any { (adapter as? Adapter)?.specifier ?? adapter }
}
