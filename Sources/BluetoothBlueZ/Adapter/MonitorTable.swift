import BluetoothDBus
import BluetoothDaemon
import BluetoothWire
import NIOCore

/// The advertisement monitors of clients: filters for passive scans · `AdvertisementMonitorManager1`.
final class MonitorTable {
  private struct Pattern {
    let start: Int
    let type: UInt8
    let content: [UInt8]
  }

  private struct Monitor {
    let patterns: [Pattern]
    /// The lowest RSSI of a device that is found, and of one that is not lost.
    var highThreshold = -127
    var lowThreshold = -127
    /// The time without a packet after which a device is lost.
    var lowTimeout = TimeAmount.seconds(5)
    /// The devices that have been found, with the times of their last packets.
    var found: [String: NIODeadline] = [:]
  }

  private struct Application: Hashable {
    let client: String
    let path: String
  }

  private unowned let adapter: ExportedAdapter
  private let context: ServerContext
  /// The monitors by their paths.
  private var applications: [Application: [String: Monitor]] = [:]

  static let managerProperties: [String: DBusValue] = [
    "SupportedMonitorTypes": .strings(["or_patterns"]), "SupportedFeatures": .strings([]),
  ]

  init(of adapter: ExportedAdapter) {
    self.adapter = adapter
    context = adapter.context
  }

  var isEmpty: Bool { applications.isEmpty }
  /// True if there is a monitor, for which the adapter scans.
  var isActive: Bool { applications.values.contains { !$0.isEmpty } }

  func handle(_ call: BusCall, _ answer: BusAnswer) {
    guard let path = call.arguments.first?.path else { return context.fail(answer, .invalidCall) }
    let application = Application(client: call.sender, path: path)
    if call.member == "UnregisterMonitor" {
      guard applications.removeValue(forKey: application) != nil else { return context.fail(answer, .doesNotExist) }
      adapter.updateScan()
      return context.reply(answer)
    }
    guard applications[application] == nil else { return context.fail(answer, .alreadyExists) }
    guard applications.keys.count(where: { $0.client == call.sender }) < ServerContext.maximumRegistrations else {
      return context.fail(answer, .tooMany)
    }
    context.watch(call.sender)
    applications[application] = [:]
    context.bus.call("GetManagedObjects", of: BlueZInterface.objectManager, at: path, on: call.sender, []) {
      [weak adapter = adapter] result in
      guard let monitors = adapter?.monitors, let objects = try? result.get().first?.entries else { return }
      for (path, interfaces) in objects {
        guard let path = path.path, let interfaces = interfaces.entries else { continue }
        monitors.add(interfaces, at: path, of: application)
      }
    }
    // As BlueZ, which looks at the monitors after its answer.
    context.reply(answer)
  }

  /// Adds a monitor from the interfaces of an object, and tells its client whether it is active.
  private func add(_ interfaces: [DBusValue: DBusValue], at path: String, of application: Application) {
    guard applications[application] != nil, let values = interfaces[.string(BlueZInterface.monitor)]?.options else {
      return
    }
    let monitor = Self.monitor(values)
    applications[application]?[path] = monitor
    context.bus.send(
      monitor == nil ? "Release" : "Activate", of: BlueZInterface.monitor, at: path, on: application.client, [])
    adapter.updateScan()
    context.tree.flush()
  }

  private static func monitor(_ values: [String: DBusValue]) -> Monitor? {
    guard values["Type"]?.string == "or_patterns", let list = values["Patterns"]?.elements, !list.isEmpty else {
      return nil
    }
    var patterns: [Pattern] = []
    for item in list {
      guard let fields = item.elements, fields.count == 3, let start = fields[0].integer,
        case .byte(let type) = fields[1].content, let content = fields[2].octets, 1...31 ~= content.count
      else { return nil }
      patterns.append(Pattern(start: start, type: type, content: content))
    }
    var monitor = Monitor(patterns: patterns)
    if let level = values["RSSIHighThreshold"]?.integer, level != 127 { monitor.highThreshold = level }
    if let level = values["RSSILowThreshold"]?.integer, level != 127 { monitor.lowThreshold = level }
    if let seconds = values["RSSILowTimeout"]?.integer, seconds > 0 {
      monitor.lowTimeout = .seconds(Int64(seconds))
    }
    return monitor
  }

  /// A client has added or removed objects.
  func received(_ signal: BusSignal) {
    guard signal.interface == BlueZInterface.objectManager, let path = signal.body.first?.path else { return }
    for application in applications.keys where application.client == signal.sender {
      guard path.hasPrefix(application.path == "/" ? "/" : application.path) else { continue }
      if signal.member == "InterfacesAdded", let interfaces = signal.body.last?.entries {
        add(interfaces, at: path, of: application)
      } else if signal.member == "InterfacesRemoved", applications[application]?.removeValue(forKey: path) != nil {
        adapter.updateScan()
      }
    }
  }

  func remove(_ client: String) { applications = applications.filter { $0.key.client != client } }

  // MARK: Sightings

  /// Returns true if advertising data match a monitor.
  func matches(_ data: [UInt8]) -> Bool {
    guard !applications.isEmpty else { return false }
    return applications.values.contains { $0.values.contains { Self.matches($0, data) } }
  }

  private static func matches(_ monitor: Monitor, _ data: [UInt8]) -> Bool {
    AdvertisingData(ByteSlice(data)).contains { structure in
      monitor.patterns.contains { pattern in
        pattern.type == structure.type.rawValue
          && structure.data.dropFirst(pattern.start).prefix(pattern.content.count).bytes == pattern.content
      }
    }
  }

  /// Tells the clients whose monitors match of a device that they have not found yet.
  func sighted(_ device: ExportedDevice, _ data: [UInt8], rssi: Int8) {
    for (application, monitors) in applications {
      for (path, monitor) in monitors where Int(rssi) >= monitor.lowThreshold && Self.matches(monitor, data) {
        let isNew = monitor.found[device.path] == nil
        guard !isNew || Int(rssi) >= monitor.highThreshold else { continue }
        applications[application]?[path]?.found[device.path] = context.loop.now
        guard isNew else { continue }
        context.tree.flush()
        tell("DeviceFound", device.path, path, application)
      }
    }
  }

  private func tell(_ member: String, _ device: String, _ path: String, _ application: Application) {
    context.bus.send(member, of: BlueZInterface.monitor, at: path, on: application.client, [.path(device)])
  }

  /// Tells clients of devices without packets.
  func expire() {
    for (application, monitors) in applications {
      for (path, monitor) in monitors {
        for (device, time) in monitor.found where time < context.loop.now - monitor.lowTimeout {
          applications[application]?[path]?.found[device] = nil
          tell("DeviceLost", device, path, application)
        }
      }
    }
  }

  /// Tells clients of a device that is removed.
  func lost(_ device: ExportedDevice) {
    for (application, monitors) in applications {
      for (path, monitor) in monitors where monitor.found[device.path] != nil {
        applications[application]?[path]?.found[device.path] = nil
        tell("DeviceLost", device.path, path, application)
      }
    }
  }
}
