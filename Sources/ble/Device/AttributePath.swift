import BluetoothAir
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras

/// A characteristic or a descriptor as it is named on the command line: `2A37`, `"Heart Rate Measurement"`,
/// `180D/2A37`, `180D/2A37/2901`.
struct AttributePath: Sendable {
  /// The help of the argument.
  static let help = """
    The characteristic: a UUID or an assigned name, such as 2A37 or "battery level". A service before it (180F/2A19) \
    and a descriptor after it (180F/2A19/2904) are written with slashes.
    """

  /// An attribute that a path names.
  enum Attribute: Sendable {
    case characteristic(RemoteCharacteristic)
    case descriptor(RemoteDescriptor)
  }

  private let text: String
  private let parts: [String]

  /// - Throws: `Failure` if a part of the path is neither a UUID nor a known name.
  init(_ text: String) throws {
    self.text = text
    parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard (1...3).contains(parts.count), !parts.contains("") else {
      throw Failure(
        "invalid characteristic \"\(text)\": expected CHARACTERISTIC, SERVICE/CHARACTERISTIC or"
          + " SERVICE/CHARACTERISTIC/DESCRIPTOR", status: ExitStatus.usage)
    }
    for (index, part) in parts.enumerated() { try Self.check(part, after: index > 0 ? parts[index - 1] : nil) }
  }

  /// Throws if a part can't name an attribute of any device.
  ///
  /// - Parameter parent: the part before it.
  private static func check(_ part: String, after parent: String?) throws {
    guard KnownNames.uuid(part) == nil else { return }
    let key = KnownNames.key(part)
    guard !KnownNames.attributes.contains(where: { KnownNames.key($0.name).contains(key) }) else { return }
    throw Failure(
      "unknown attribute \"\(part)\": expected a UUID or an assigned name"
        + suggestion(for: part, after: parent), status: ExitStatus.usage)
  }

  /// Returns the suggestion for an unknown part: an attribute that has the words of its service in its name, such as
  /// "Battery Level" for "battery/levl", or else the attribute with the nearest name.
  private static func suggestion(for part: String, after parent: String?) -> String {
    if let parent {
      let title = KnownNames.uuid(parent).flatMap { KnownNames.name(of: $0) } ?? parent
      // The limit is that of the part alone: the words of the service are right.
      if let match = NameSuggestion.nearest(
        to: "\(title) \(part)", among: KnownNames.attributes.map(\.name), within: max(1, part.count / 3))
      {
        return NameSuggestion.suggestion(match.name)
      }
    }
    return KnownNames.suggestion(for: part, among: KnownNames.attributes)
  }

  /// Finds the attribute on a connected device.
  ///
  /// - Throws: `Failure` if no attribute or more than one matches.
  func find(on peripheral: Peripheral, _ stage: Stage) async throws -> Attribute {
    let services = try await peripheral.discoverServices(within: stage.stepLimit)
    let wanted = parts.count > 1 ? Self.matches(services, parts[0], \.uuid) : services
    if wanted.isEmpty { throw missing("service", parts[0], services.map(\.uuid)) }
    var characteristics: [RemoteCharacteristic] = []
    for service in wanted { characteristics += try await service.discoverCharacteristics(within: stage.stepLimit) }
    let name = parts[min(1, parts.count - 1)]
    let found = Self.matches(characteristics, name, \.uuid)
    guard let characteristic = found.first else { throw missing("characteristic", name, characteristics.map(\.uuid)) }
    guard found.count == 1 else {
      let paths = found.map {
        "  \($0.service.uuid.uuidString)/\($0.uuid.uuidString)  "
          + "\(KnownNames.title(of: $0.service.uuid)), \(KnownNames.title(of: $0.uuid))"
      }
      throw Failure(
        "\"\(text)\" matches \(found.count) characteristics:", details: paths, status: ExitStatus.ambiguous)
    }
    guard parts.count == 3 else { return .characteristic(characteristic) }
    let descriptors = try await characteristic.discoverDescriptors(within: stage.stepLimit)
    guard let descriptor = Self.matches(descriptors, parts[2], \.uuid).first else {
      throw missing("descriptor", parts[2], descriptors.map(\.uuid))
    }
    return .descriptor(descriptor)
  }

  /// Finds the characteristic on a connected device; a path to a descriptor is an error.
  func characteristic(on peripheral: Peripheral, _ stage: Stage) async throws -> RemoteCharacteristic {
    guard case .characteristic(let characteristic) = try await find(on: peripheral, stage) else {
      throw Failure("\(text) is a descriptor; expected a characteristic", status: ExitStatus.usage)
    }
    return characteristic
  }

  /// Returns the elements with this UUID or this whole name, or else those with a part of the name.
  private static func matches<Element>(_ all: [Element], _ part: String, _ uuid: (Element) -> CBUUID) -> [Element] {
    if let wanted = KnownNames.uuid(part) { return all.filter { BluetoothUUID(uuid($0).uuidString) == wanted } }
    let key = KnownNames.key(part)
    func name(_ element: Element) -> String? {
      BluetoothUUID(uuid(element).uuidString).flatMap { KnownNames.name(of: $0) }.map { KnownNames.key($0) }
    }
    let whole = all.filter { name($0) == key }
    return whole.isEmpty ? all.filter { name($0)?.contains(key) == true } : whole
  }

  private func missing(_ kind: String, _ part: String, _ present: [CBUUID]) -> Failure {
    let suggestion =
      if KnownNames.uuid(part) != nil {
        SpellingSuggestion.suggestion(for: part, among: present.map(\.uuidString))
      } else {
        NameSuggestion.suggestion(
          for: part,
          among: present.compactMap { BluetoothUUID($0.uuidString).flatMap { KnownNames.name(of: $0) } })
      }
    let list = present.map { KnownNames.title(of: $0) }
    return Failure(
      "the device has no \(kind) \"\(part)\"" + suggestion + (list.isEmpty ? "; it has none" : ""),
      details: list.isEmpty ? [] : ["It has: " + list.joined(separator: ", ")], status: ExitStatus.notFound)
  }
}
