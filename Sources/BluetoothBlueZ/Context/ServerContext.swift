import BluetoothDBus
import NIOCore

/// The parts of the service that all adapters share: the event loop, the bus, the objects and the agents.
final class ServerContext {
  let loop: any EventLoop
  let bus: any BlueZBus
  let tree: ObjectTree
  var agents = AgentTable()
  /// The version of BlueZ whose properties and errors the service has.
  let version: BlueZVersion
  private unowned let service: any BusService
  /// The most applications, and the most applications with monitors, of one client.
  static let maximumRegistrations = 64

  /// Called after each change of the state of an adapter.
  var adapterChanged: () -> Void = {}
  /// The clients that the bus watches.
  private var watched: Set<String> = []

  init(_ service: any BusService, on loop: any EventLoop, bus: any BlueZBus, version: BlueZVersion) {
    self.service = service
    self.loop = loop
    self.bus = bus
    self.version = version
    tree = ObjectTree(on: bus)
  }

  func add(_ interfaces: [(InterfaceDeclaration, [String: DBusValue])], at path: String) {
    tree.add(interfaces, at: path, of: service)
  }

  /// Learns of the end of a client, and of its signals.
  func watch(_ client: String) {
    if watched.insert(client).inserted { bus.watch(client, for: service) }
  }

  func forget(_ client: String) {
    watched.remove(client)
    agents.remove(client)
  }

  /// Answers a call after the changes that it has caused.
  func reply(_ answer: BusAnswer?, _ values: [DBusValue] = []) {
    guard let answer else { return }
    tree.flush()
    answer.reply(values)
  }

  func fail(_ answer: BusAnswer?, _ error: DBusError) {
    guard let answer else { return }
    tree.flush()
    answer.fail(error)
  }
}

/// A version of BlueZ.
package struct BlueZVersion: Hashable, Sendable {
  package let minor: UInt16
  /// - Parameter minor: the number behind `5.`.
  package init(_ minor: UInt16) { self.minor = minor }

  /// The version of Debian 12.
  package static let bookworm = BlueZVersion(66)
  /// The version of Debian 13.
  package static let trixie = BlueZVersion(82)
}

extension BlueZVersion: Comparable {
  package static func < (left: BlueZVersion, right: BlueZVersion) -> Bool { left.minor < right.minor }
}
