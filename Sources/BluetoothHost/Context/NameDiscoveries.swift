import BluetoothWire

/// The Name Discovery procedures of a host · Vol 3, Part C, 9.2.7. Each connects to a device, unless a link exists, and
/// reads its Device Name.
struct NameDiscoveries {
  private enum Phase {
    case connecting(until: Instant)
    case findingService(HCI.ConnectionHandle)
    case findingCharacteristic(HCI.ConnectionHandle)
    case reading(HCI.ConnectionHandle)
  }

  private struct Entry {
    let address: DeviceAddress
    /// True if the link was created for this procedure alone.
    var endsLink: Bool
    var phase: Phase

    var deadline: Instant? {
      if case .connecting(let until) = phase { return until }
      return nil
    }

    var handle: HCI.ConnectionHandle? {
      switch phase {
      case .connecting: nil
      case .findingService(let handle), .findingCharacteristic(let handle), .reading(let handle): handle
      }
    }
  }

  /// The state of a procedure for the host that continues it.
  enum Status {
    /// The procedure uses the link with this handle.
    case usesLink(HCI.ConnectionHandle)
    /// The procedure waits for a link to this device.
    case waitsForLink(DeviceAddress)
  }

  /// The end of a procedure.
  struct End {
    let address: DeviceAddress
    /// The link that must be disconnected, because it was created for the procedure; nil: none.
    let link: HCI.ConnectionHandle?
  }

  /// The continuation of a procedure after a response.
  enum Step {
    case request(GATTRequest)
    case end(End, name: String?)
  }

  /// The token of the procedures' GATT requests; the tokens of other requests never reach it.
  static let token = GATTToken.max
  private static let service: BluetoothUUID = 0x1800
  private static let characteristic: BluetoothUUID = 0x2A00

  private var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }
  /// The indices of the procedures, valid until the next one ends.
  var indices: Range<Int> { entries.indices }

  /// The time at which the next procedure without a link fails; nil: none.
  var deadline: Instant? { entries.reduce(nil) { earliest($0, $1.deadline) } }

  /// Returns true if a procedure for the device is in progress.
  func contains(_ address: DeviceAddress) -> Bool { entries.contains { $0.address == address } }

  /// Adds a procedure.
  ///
  /// - Parameters:
  ///   - endsLink: True if the link is created for this procedure alone.
  ///   - limit: The time by which the link must exist.
  mutating func begin(_ address: DeviceAddress, endsLink: Bool, until limit: Instant) {
    entries.append(Entry(address: address, endsLink: endsLink, phase: .connecting(until: limit)))
  }

  /// Keeps the link to the device when the procedure ends, because the upper layer has requested a link.
  mutating func keepLink(to address: DeviceAddress) {
    for index in entries.indices where entries[index].address == address { entries[index].endsLink = false }
  }

  func status(at index: Int) -> Status {
    entries[index].handle.map { .usesLink($0) } ?? .waitsForLink(entries[index].address)
  }

  /// Returns true if the procedure has waited for its link for too long.
  func isOverdue(_ index: Int, at now: Instant) -> Bool { entries[index].deadline.map { $0 <= now } ?? false }

  /// Returns true if the link was created for this procedure alone.
  func endsLink(_ index: Int) -> Bool { entries[index].endsLink }

  /// Continues a procedure on its link. Returns its first request.
  mutating func linkIsThere(_ index: Int, _ handle: HCI.ConnectionHandle) -> GATTRequest {
    entries[index].phase = .findingService(handle)
    return .discoverPrimaryService(Self.service)
  }

  /// Removes a procedure.
  mutating func end(_ index: Int) -> End {
    let entry = entries.remove(at: index)
    return End(address: entry.address, link: entry.endsLink ? entry.handle : nil)
  }

  /// Processes the response to the request of a procedure. Returns nil if no procedure uses the link.
  mutating func completed(_ result: Result<GATTResponse, GATTError>, on handle: HCI.ConnectionHandle) -> Step? {
    guard let index = entries.firstIndex(where: { $0.handle == handle }) else { return nil }
    switch (entries[index].phase, try? result.get()) {
    case (.findingService, .services(let services)?) where !services.isEmpty:
      entries[index].phase = .findingCharacteristic(handle)
      return .request(.discoverCharacteristics(in: services[0].range))
    case (.findingCharacteristic, .characteristics(let characteristics)?):
      guard let name = characteristics.first(where: { $0.uuid == Self.characteristic }) else { break }
      entries[index].phase = .reading(handle)
      return .request(.read(name.value))
    case (.reading, .value(let value)?): return .end(end(index), name: String(received: value))
    default: break
    }
    return .end(end(index), name: nil)
  }
}
