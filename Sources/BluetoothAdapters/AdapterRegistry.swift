import BluetoothDaemon
import BluetoothTransport
import NIOConcurrencyHelpers

/// What can be given to a manager instead of a specifier: something that has an adapter.
package protocol AdapterSource: AnyObject {
  var adapter: any Adapter { get }
}

/// Why a specifier names no adapter.
package struct AdapterError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line: what is wrong, and what would be right.
  package let description: String
}

/// The adapters of this process, by specifier.
package enum AdapterRegistry {
  /// What specifiers look like, for messages.
  package static let forms = "virtual, tcp:HOST:PORT, unix:PATH, serial:DEVICE[,BAUD], hci:N"

  /// Begins to run when a manager first asks for it.
  private static let ownDevice = RealTimeDevice(name: "virtual")

  /// Those with a transport; they look for their controllers as long as the process lives.
  private static let transportAdapters = TransportAdapterTable { TransportAdapter($0) }

  /// The adapter that `specifier` names; the same one for the same specifier.
  package static func adapter(for specifier: String) -> Result<any Adapter, AdapterError> {
    let scheme = specifier.prefix { $0 != ":" }
    switch scheme {
    case "virtual" where specifier == "virtual":
      return .success(ownDevice.adapter)
    case "server":
      return .failure(
        AdapterError(
          description: "the adapter \"\(specifier)\" needs a daemon that this version does not have yet; without it one"
            + " process at a time can use an adapter, named as one of: \(forms)"))
    case _ where TransportSpecifier.schemes.contains(String(scheme)):
      return transportAdapters.adapter(for: specifier)
    default:
      return .failure(
        AdapterError(description: "there is no adapter \"\(specifier)\"; right would be one of: \(forms)"))
    }
  }
}

/// Adapters with a transport, by where it leads.
final class TransportAdapterTable: Sendable {
  private let make: @Sendable (TransportSpecifier) -> TransportAdapter
  private let adapters = NIOLockedValueBox<[TransportSpecifier: TransportAdapter]>([:])

  init(make: @escaping @Sendable (TransportSpecifier) -> TransportAdapter) { self.make = make }

  func adapter(for text: String) -> Result<any Adapter, AdapterError> {
    do throws(TransportSpecifier.Problem) {
      let specifier = try TransportSpecifier(text)
      return .success(
        adapters.withLockedValue { adapters in
          if let adapter = adapters[specifier] { return adapter }
          let adapter = make(specifier)
          adapters[specifier] = adapter
          return adapter
        })
    } catch {
      return .failure(AdapterError(description: "the adapter \"\(text)\" can't be: \(error)"))
    }
  }
}
