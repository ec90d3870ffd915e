import BluetoothAir
import BluetoothDissection
import BluetoothProfiles
import BluetoothTypes
import BluetoothWire
import CoreBluetooth

/// A device as a world file with one device.
struct RecordingFile {
  /// The properties of the device that the file can't describe, a line for each kind.
  private(set) var notes: [String] = []
  /// The numbers of services, characteristics and values in the file.
  private(set) var counts = (services: 0, characteristics: 0, values: 0)
  private var file = JSONText.null
  /// The characteristics with aggregate formats that a file can't describe.
  private var lostFormats: [String] = []
  /// The attributes that exceed the limits of a file, or that no file can name.
  private var surplus: [String] = []
  /// The characteristics with values, or with descriptors, that are too long for a file.
  private var longValues: [String] = []
  /// The handles in the file; nil: the file has none.
  private var layout: RecordedLayout?

  /// Creates the recording of a device.
  ///
  /// - Parameter handles: true to record the handles of the attributes.
  init(named name: String, _ advertising: RecordedAdvertising, _ tree: GATTTree, handles: Bool = false) {
    self.init(named: name, advertising, tree, layout: handles ? RecordedLayout(of: tree) : nil)
    guard handles, layout == nil || (try? WorldFile(text: json)) == nil else { return }
    self = RecordingFile(named: name, advertising, tree, layout: nil)
    notes.append("the file can't describe the handles, which are unknown or out of order: it has none")
  }

  private init(named name: String, _ advertising: RecordedAdvertising, _ tree: GATTTree, layout: RecordedLayout?) {
    self.layout = layout
    if advertising.isExtended {
      notes.append("the device uses extended advertising: the file has the first 31 octets, for legacy advertising")
    }
    if tree.isProtectionUnknown {
      notes.append(
        "the link was encrypted from its beginning: which values need encryption is unknown, and the file protects"
          + " none; clone the device without a bond (ble bonds forget) to record it")
    }
    var accessory: [(String, JSONText)] = [
      ("kind", .text(advertising.isConnectable ? "peripheral" : "broadcaster")), ("advertising", advertising.fields),
    ]
    let described = services(tree)
    if let layout = self.layout {
      if let handle = layout.firstHandle { accessory.append(("firstHandle", .integer(handle))) }
      notes += layout.notes
    }
    if !described.isEmpty { accessory.append(("services", .list(described))) }
    // A file names a device by 1 to 248 octets. A device can have another name, or one that is no text.
    // A parser of YAML drops a byte order mark at the beginning of a text.
    let name = String(name.unicodeScalars.drop { $0 == "\u{FEFF}" })
    let isNamed = !name.isEmpty
    if !isNamed { notes.append("the device has no name that a file can have: it is named \"device\" there") }
    let title = isNamed ? String(decoding: name.utf8Prefix(248).bytes, as: UTF8.self) : "device"
    let device: [(String, JSONText)] = [("name", .text(title)), ("accessory", .object(accessory))]
    file = .object([("devices", .list([.object(device)]))])
  }

  /// The file as JSON.
  var json: String { FileText.json(file) }

  /// The file as YAML.
  var yaml: String { yaml(by: "clone") }

  /// Returns the file as YAML.
  ///
  /// - Parameter verb: the verb that has recorded the device.
  func yaml(by verb: String) -> String {
    "# Recorded by ble \(verb). ble serve plays it, ble air --world simulates it.\n" + FileText.yaml(file)
  }

  // MARK: Attributes

  private mutating func note(_ what: String, _ places: [String]) {
    if !places.isEmpty { notes.append("the file can't describe \(what): left out \(places.joined(separator: ", "))") }
  }

  private mutating func services(_ tree: GATTTree) -> [JSONText] {
    var known: Set<BluetoothUUID> = []
    var lost: [String] = []
    var result: [JSONText] = []
    for service in ordered(tree.services) {
      guard let uuid = BluetoothUUID(service.uuid.uuidString), !ServiceReader.addedServices.contains(uuid) else {
        continue
      }
      guard counts.services < WorldLimits.services.upperBound else {
        surplus.append("the service \(uuid)")
        continue
      }
      counts.services += 1
      var fields: [(String, JSONText)] = [("uuid", .text("\(uuid)"))]
      if !service.isPrimary { fields.append(("isPrimary", .flag(false))) }
      if let included = layout?.begin(service) {
        // Several services may have one UUID, and one may follow the service that includes it.
        fields.append(("handle", .integer(Int(service.handle ?? 0))))
        lost += zip(service.includes, service.includedHandles).filter { !included.contains($0.1) }.map(\.0.uuidString)
        if !included.isEmpty { fields.append(("includedHandles", .list(included.map { .integer(Int($0)) }))) }
      } else {
        let includes = service.includes.filter { include in
          BluetoothUUID(include.uuidString).map { known.contains($0) && $0 != uuid } ?? false
        }
        lost += service.includes.filter { !includes.contains($0) }.map(\.uuidString)
        if !includes.isEmpty { fields.append(("includes", .list(includes.map { .text($0.uuidString) }))) }
      }
      known.insert(uuid)
      var characteristics: [JSONText] = []
      let room = min(
        WorldLimits.characteristics.upperBound, WorldLimits.allCharacteristics - counts.characteristics)
      let formats = Self.formats(of: service.characteristics, upTo: room)
      for characteristic in service.characteristics {
        guard let uuid = BluetoothUUID(characteristic.uuid.uuidString) else { continue }
        guard characteristics.count < room else {
          surplus.append("\(uuid)")
          continue
        }
        counts.characteristics += 1
        characteristics.append(.object(self.fields(of: characteristic, uuid, formats)))
      }
      if !characteristics.isEmpty { fields.append(("characteristics", .list(characteristics))) }
      result.append(.object(fields))
    }
    note("services that only others include", lost)
    note("aggregate formats with parts that are not in the file", lostFormats)
    note("more attributes", surplus)
    note("values of more than \(ATT.maximumValueLength) octets", longValues)
    return result
  }

  /// Returns the services such that each one follows those that it includes, otherwise in their order.
  private func ordered(_ services: [GATTTree.Service]) -> [GATTTree.Service] {
    var result: [GATTTree.Service] = []
    var rest = services
    while !rest.isEmpty {
      let next = rest.firstIndex { service in
        !rest.contains { other in other.uuid != service.uuid && service.includes.contains(other.uuid) }
      }
      // Services that include each other stay as they are.
      result.append(rest.remove(at: next ?? 0))
    }
    return result
  }

  /// The words for the properties that a file can describe.
  private static func words(of characteristic: GATTTree.Characteristic) -> [String] {
    characteristic.properties.words.filter { $0 != "extended" }
  }

  /// Returns the characteristics that the file will have, by the handles of their presentation formats.
  ///
  /// - Parameter count: the number of characteristics for which the file has room.
  private static func formats(
    of characteristics: [GATTTree.Characteristic], upTo count: Int
  ) -> [UInt16: BluetoothUUID] {
    var formats: [UInt16: BluetoothUUID] = [:]
    var names: Set<BluetoothUUID> = []
    for characteristic in characteristics.prefix(count) {
      guard let uuid = BluetoothUUID(characteristic.uuid.uuidString), names.insert(uuid).inserted,
        let handle = characteristic.descriptors.first(where: { format(in: $0) != nil })?.handle
      else { continue }
      formats[handle] = uuid
    }
    return formats
  }

  /// Returns the presentation format in a descriptor; nil: it is another descriptor, or its value is not known.
  private static func format(in descriptor: GATTTree.Descriptor) -> PresentationFormat? {
    guard case .value(let value) = descriptor.value, BluetoothUUID(descriptor.uuid.uuidString) == 0x2904 else {
      return nil
    }
    return try? PresentationFormat(value.octets)
  }

  /// Returns the fields of a characteristic.
  ///
  /// - Parameter formats: the characteristics of the service by the handles of their presentation formats.
  private mutating func fields(
    of characteristic: GATTTree.Characteristic, _ uuid: BluetoothUUID, _ formats: [UInt16: BluetoothUUID]
  ) -> [(String, JSONText)] {
    var fields: [(String, JSONText)] = [
      ("uuid", .text("\(uuid)")), ("properties", .list(Self.words(of: characteristic).map { .text($0) })),
    ]
    if let period = characteristic.period, fits(characteristic.sequence, uuid) {
      counts.values += 1
      fields.append(("values", .list(characteristic.sequence.map { .text($0.digits) })))
      fields.append(("notifyPeriod", .decimal(period, places: 3)))
    } else if case .value(let value) = characteristic.value, fits([value.octets], uuid) {
      counts.values += 1
      if let text = value.text, Array(text.utf8) == value.octets {
        fields.append(("text", .text(text)))
      } else if !value.octets.isEmpty {
        fields.append(("value", .text(value.octets.digits)))
      }
    }
    if characteristic.needsEncryption { fields.append(("protection", .text("encrypted"))) }
    if let permissions = RecordedPermissions.words(of: characteristic) { fields.append(("permissions", permissions)) }
    if let handle = layout?.place(characteristic) { fields.append(("handle", .integer(handle))) }
    var others: [JSONText] = []
    var hasWritableDescription = false
    /// Adds a field. A file can have it once, and a device can have several descriptors of one type.
    func add(_ name: String, _ value: JSONText) {
      if !fields.contains(where: { $0.0 == name }) { fields.append((name, value)) }
    }
    for descriptor in characteristic.descriptors {
      if let type = BluetoothUUID(descriptor.uuid.uuidString), !ServiceReader.reserved.contains(type) {
        guard others.count < WorldLimits.descriptors.upperBound else {
          surplus.append("the descriptor \(type) of \(uuid)")
          continue
        }
        if let other = self.fields(of: descriptor, type, uuid) { others.append(.object(other)) }
        continue
      }
      guard case .value(let value) = descriptor.value, fits([value.octets], uuid) else { continue }
      switch BluetoothUUID(descriptor.uuid.uuidString) {
      case 0x2900?:
        // Bit 0 stands for reliable writes, bit 1 for a writable description · Vol 3, Part G, 3.3.3.1.
        let bits = value.octets.first ?? 0
        if bits & 1 != 0 { add("reliableWrite", .flag(true)) }
        hasWritableDescription = bits & 2 != 0
      case 0x2901?:
        add(
          "userDescription",
          .text(String(validating: value.octets, as: UTF8.self) ?? String(received: value.octets)))
      case 0x2904?:
        if let format = Self.format(in: descriptor) { add("presentationFormat", Self.fields(of: format)) }
      case 0x2905?:
        let handles = (try? AggregateFormat(value.octets))?.handles ?? []
        let parts = handles.compactMap { formats[$0] }
        if parts.count == handles.count, 1...100 ~= parts.count {
          add("aggregateFormat", .list(parts.map { .text("\($0)") }))
        } else {
          lostFormats.append("\(uuid)")
        }
      // They come with the properties.
      case 0x2902?, 0x2903?: break
      case let type?: surplus.append("the descriptor \(type) of \(uuid)")
      case nil: break
      }
    }
    if hasWritableDescription, fields.contains(where: { $0.0 == "userDescription" }) {
      add("writableUserDescription", .flag(true))
    }
    if !others.isEmpty { fields.append(("descriptors", .list(others))) }
    return fields
  }

  /// Returns the fields of a descriptor that has no field of its own; nil: its value is not known, or too long.
  private mutating func fields(
    of descriptor: GATTTree.Descriptor, _ type: BluetoothUUID, _ owner: BluetoothUUID
  ) -> [(String, JSONText)]? {
    var fields: [(String, JSONText)] = [("uuid", .text("\(type)"))]
    let permissions = RecordedPermissions.words(of: descriptor)
    if case .value(let value) = descriptor.value {
      guard fits([value.octets], owner) else { return nil }
      fields.append(("value", .text(value.octets.digits)))
    } else if permissions == nil {
      return nil
    }
    if let permissions { fields.append(("permissions", permissions)) }
    if let handle = layout?.place(descriptor) { fields.append(("handle", .integer(handle))) }
    return fields
  }

  /// Returns true if a file can have these values of a characteristic, and notes it otherwise.
  private mutating func fits(_ values: [[UInt8]], _ uuid: BluetoothUUID) -> Bool {
    if values.allSatisfy({ $0.count <= ATT.maximumValueLength }) { return true }
    if !longValues.contains("\(uuid)") { longValues.append("\(uuid)") }
    return false
  }

  private static func fields(of format: PresentationFormat) -> JSONText {
    var fields: [(String, JSONText)] = [("format", .integer(Int(format.format.rawValue)))]
    if format.exponent != 0 { fields.append(("exponent", .integer(Int(format.exponent)))) }
    fields.append(("unit", .integer(Int(format.unit.rawValue))))
    if format.details.namespace != 1 { fields.append(("namespace", .integer(Int(format.details.namespace)))) }
    if format.details.number != 0 { fields.append(("description", .integer(Int(format.details.number)))) }
    return .object(fields)
  }
}
