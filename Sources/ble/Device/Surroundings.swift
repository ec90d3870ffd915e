import BluetoothAdapters
import BluetoothAir

/// The places where a verb can look for devices, for a user who has named none.
enum Surroundings {
  /// The failure of a verb that looks for devices where there can't be any: in the world of the default adapter, which
  /// nothing else joins.
  ///
  /// - Parameter controllers: the specifiers of the machine's controllers.
  static func failure(controllers: [String] = Self.controllers) -> Failure {
    Failure(
      "no adapter is named, so there are no devices; name a controller, an air, a server or a world:",
      details: (controllers.isEmpty ? ["  (Linux lists no controllers)"] : controllers.map { "  --adapter \($0)" }) + [
        "  --adapter unix:PATH, server  (see ble air and btserver)",
        "  --world FILE, or an example: \(ExampleWorlds.list)",
      ], status: ExitStatus.noAdapter)
  }

  /// The controllers that Linux lists.
  static var controllers: [String] {
    AdapterRegistry.knownAdapters().filter { $0.kind == .local }.map { "\($0)" }
  }
}
