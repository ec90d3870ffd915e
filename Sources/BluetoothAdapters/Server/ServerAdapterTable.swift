import BluetoothBonds
import BluetoothDaemon
import NIOConcurrencyHelpers
import NIOPosix

/// The adapters of other processes, by specifier. Each adapter is created at its first use.
final class ServerAdapterTable: Sendable {
  private let adapters = NIOLockedValueBox<[ServerSpecifier: ServerAdapter]>([:])

  func adapter(for text: String) -> Result<any Adapter, AdapterError> {
    do throws(AdapterError) {
      let specifier = try ServerSpecifier(text)
      let token = try Self.token(for: specifier)
      return .success(
        adapters.withLockedValue { adapters in
          if let adapter = adapters[specifier] { return adapter }
          let adapter = ServerAdapter(
            specifier, program: DaemonConfiguration.programName, token: token,
            on: MultiThreadedEventLoopGroup(numberOfThreads: 1).next())
          adapters[specifier] = adapter
          return adapter
        })
    } catch {
      return .failure(error)
    }
  }

  /// Returns the token for a server over TCP; empty if none is named, or for a Unix socket.
  private static func token(for specifier: ServerSpecifier) throws(AdapterError) -> [UInt8] {
    guard case .tcp = specifier.place else { return [] }
    let path = SystemFiles.environment(ServerSpecifier.tokenVariable) ?? ""
    guard !path.isEmpty else { return [] }
    return try ServerToken.read(path)
  }
}
