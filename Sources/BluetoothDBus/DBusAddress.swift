#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The place of a message bus.
package enum DBusAddress: Hashable, Sendable {
  /// The bus of the machine: `DBUS_SYSTEM_BUS_ADDRESS`, or the socket of the system.
  case system
  /// The bus of the user's session: `DBUS_SESSION_BUS_ADDRESS`, or `bus` in `XDG_RUNTIME_DIR`.
  case session
  /// An address such as `unix:path=/tmp/bus` · D-Bus Specification, "Server Addresses".
  case address(String)

  /// The bus of the user's session; nil: this process belongs to no such session.
  package static var ofSession: DBusAddress? { (try? DBusAddress.session.text()).map { _ in .session } }

  func text() throws(DBusError) -> String {
    func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
    switch self {
    case .address(let text): return text
    case .system: return variable("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/var/run/dbus/system_bus_socket"
    case .session:
      if let address = variable("DBUS_SESSION_BUS_ADDRESS") { return address }
      guard let folder = variable("XDG_RUNTIME_DIR"), access(folder + "/bus", F_OK) == 0 else {
        throw DBusError(DBusError.Name.noServer, "this program belongs to no session with a message bus")
      }
      return "unix:path=\(folder)/bus"
    }
  }
}
