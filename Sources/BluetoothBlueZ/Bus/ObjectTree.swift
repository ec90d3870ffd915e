import BluetoothDBus
import BluetoothWire

/// The objects of the service with the properties of their interfaces. Changes are announced by `flush`, all changes of
/// an interface in one signal.
final class ObjectTree {
  private struct Change {
    let path: String
    let interface: String
    var names: [String]
  }

  private var objects: [String: [String: [String: DBusValue]]] = [:]
  private var changes: [Change] = []
  private let bus: any BlueZBus

  init(on bus: any BlueZBus) { self.bus = bus }

  /// The paths of all objects, sorted.
  var paths: [String] { objects.keys.sorted() }

  func contains(_ path: String) -> Bool { objects[path] != nil }

  func has(_ interface: InterfaceDeclaration, at path: String) -> Bool { objects[path]?[interface.name] != nil }

  /// Returns the properties of an interface.
  func properties(of interface: String, at path: String) -> [String: DBusValue]? { objects[path]?[interface] }

  /// Exports interfaces of an object with the values of their properties.
  func add(_ interfaces: [(InterfaceDeclaration, [String: DBusValue])], at path: String, of service: any BusService) {
    for (interface, values) in interfaces { objects[path, default: [:]][interface.name] = values }
    bus.export(interfaces.map { $0.0 }, at: path, of: service)
  }

  /// Removes an object.
  func remove(_ path: String) {
    guard let object = objects.removeValue(forKey: path) else { return }
    changes.removeAll { $0.path == path }
    bus.unexport(object.keys.sorted(), at: path)
  }

  /// Sets a property, or removes it. Announces a value that is the same as before only if `isForced`.
  func set(
    _ name: String, _ value: DBusValue?, of interface: InterfaceDeclaration, at path: String, isForced: Bool = false
  ) {
    guard let former = objects[path]?[interface.name], isForced || former[name] != value else { return }
    objects[path]?[interface.name]?[name] = value
    if let index = changes.firstIndex(where: { $0.path == path && $0.interface == interface.name }) {
      if !changes[index].names.contains(name) { changes[index].names.append(name) }
    } else {
      changes.append(Change(path: path, interface: interface.name, names: [name]))
    }
  }

  /// Announces the changes since the last call.
  func flush() {
    guard !changes.isEmpty else { return }
    let all = changes
    changes.removeAll(keepingCapacity: true)
    for change in all {
      let values = objects[change.path]?[change.interface] ?? [:]
      var present: [String: DBusValue] = [:]
      for name in change.names { present[name] = values[name] }
      let absent = change.names.filter { values[$0] == nil }
      bus.emit(
        "PropertiesChanged", of: BlueZInterface.properties, at: change.path,
        [.string(change.interface), .properties(present), .strings(absent)])
    }
  }
}

extension DBusValue {
  /// The UUID in the form of BlueZ: 36 characters in lower case.
  static func uuid(_ uuid: BluetoothUUID) -> DBusValue { .string(uuid.busText) }
}

extension BluetoothUUID {
  /// The UUID in the form of BlueZ: 36 characters in lower case.
  var busText: String { BluetoothUUID(high: high, low: low).description.lowercased() }
}

extension DeviceAddress {
  /// The address without its type.
  var busText: String { String(description.prefix(17)) }
  /// The address in a path.
  var pathText: String { String(busText.map { $0 == ":" ? "_" : $0 }) }
  var busKind: String { kind == .public ? "public" : "random" }
}
