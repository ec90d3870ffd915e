import BluetoothLab
import BluetoothProfiles

/// Converts the values of a file to GATT services.
///
/// The lab stops the program if its host refuses a service, so all such problems are reported here: a database has room
/// for 65,535 attributes, and some descriptors are added automatically.
package struct ServiceReader {
  var problems: ProblemList
  private var count = 0

  init(problems: ProblemList) { self.problems = problems }

  mutating func read(_ object: ObjectReader, into peripheral: inout DescribedPeripheral) {
    var known: Set<BluetoothUUID> = []
    var entries: [ObjectReader] = []
    if let handle: UInt16 = object.whole("firstHandle") { peripheral.firstHandle = handle }
    for entry in object.objects("services", .service) {
      guard let uuid = entry.uuid("uuid") else { continue }
      if Self.addedServices.contains(uuid) {
        problems.add(entry.place("uuid"), entry.path("uuid"), "the GAP and GATT services are added automatically")
      }
      var service = AccessoryService<DescribedPeripheral>(uuid, [])
      if let isPrimary = entry.flag("isPrimary") { service.isPrimary = isPrimary }
      service.includes = includes(entry, known)
      service.includedHandles = entry.list("includedHandles").compactMap { $0.value.whole(UInt16.self) }
      service.handle = entry.whole("handle")
      let presence = DescribedPeripheral.Presence(from: entry.time("presentFrom"), until: entry.time("presentUntil"))
      service.isPresentAtStart = presence.contains(.zero)
      for characteristic in entry.objects("characteristics", .characteristic) {
        guard let made = self.characteristic(characteristic, in: service, of: peripheral) else { continue }
        service.characteristics.append(made)
        peripheral.add(state(characteristic, made, service: peripheral.services.count))
      }
      checkEchoes(entry, of: service)
      checkAggregateFormats(entry, of: service)
      peripheral.add(service, presence)
      known.insert(uuid)
      entries.append(entry)
    }
    checkHandles(entries, of: peripheral)
    if count > WorldLimits.allCharacteristics {
      problems.add(
        object.place("services"), object.path("services"),
        "expected at most \(WorldLimits.allCharacteristics) characteristics, got \(count)")
    }
  }

  private mutating func includes(_ entry: ObjectReader, _ known: Set<BluetoothUUID>) -> [BluetoothUUID] {
    entry.list("includes").compactMap { value, path in
      guard let uuid = value.uuid else { return nil }
      if !known.contains(uuid) { problems.add(value.place, path, "no service \(uuid) is defined before this one") }
      return uuid
    }
  }

  private mutating func characteristic(
    _ object: ObjectReader, in service: AccessoryService<DescribedPeripheral>, of peripheral: DescribedPeripheral
  ) -> AccessoryCharacteristic<DescribedPeripheral>? {
    count += 1
    guard let uuid = object.uuid("uuid") else { return nil }
    // Characteristics of a service, and of services with one UUID, may have one UUID.
    let path = CharacteristicPath(uuid, of: service.uuid, instance: peripheral.number(of: uuid, in: service.uuid))
    var characteristic = DescribedPeripheral.definition(
      path, CharacteristicProperties(object.words("properties", PropertyNames.all) ?? []), at: peripheral.count)
    if object.has("notifyPeriod"), characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
      problems.add(
        object.place("notifyPeriod"), object.path("notifyPeriod"),
        "requires the property \"notify\" or \"indicate\"")
    }
    if let protection = object.word("protection", ProtectionNames.all) { characteristic.protection = protection }
    characteristic.permissions = object.words("permissions", PermissionNames.all).map { AttributePermissions($0) }
    characteristic.shownProperties = object.words("shownProperties", PropertyNames.all).map {
      CharacteristicProperties($0)
    }
    characteristic.handle = object.whole("handle")
    if let isReliable = object.flag("reliableWrite") { characteristic.hasReliableWrite = isReliable }
    characteristic.descriptors = descriptors(object)
    return characteristic
  }

  /// Reports a service that the database of a host refuses, such as one whose handles another one has.
  private mutating func checkHandles(_ entries: [ObjectReader], of peripheral: DescribedPeripheral) {
    guard problems.isEmpty, let (index, reason) = peripheral.refusedService(after: peripheral.changes) else { return }
    let entry = entries[index]
    let field = entry.has("handle") ? "handle" : "uuid"
    problems.add(entry.place(field), entry.path(field), reason)
  }

  /// Reports echoes of characteristics that the service does not have.
  private mutating func checkEchoes(_ entry: ObjectReader, of service: AccessoryService<DescribedPeripheral>) {
    for characteristic in entry.objects("characteristics", .characteristic) {
      guard let echo = characteristic.uuid("echo"), !service.characteristics.contains(where: { $0.uuid == echo }) else {
        continue
      }
      let hint =
        problems.wantsSuggestions
        ? SpellingSuggestion.suggestion(for: "\(echo)", among: service.characteristics.map { "\($0.uuid)" }) : ""
      problems.add(
        characteristic.place("echo"), characteristic.path("echo"), "this service has no characteristic \(echo)" + hint)
    }
  }

  /// Reports parts of aggregate formats without a presentation format.
  private mutating func checkAggregateFormats(
    _ entry: ObjectReader, of service: AccessoryService<DescribedPeripheral>
  ) {
    let described = service.characteristics.filter { characteristic in
      characteristic.descriptors.contains { if case .presentationFormat = $0 { true } else { false } }
    }.map(\.uuid)
    for characteristic in entry.objects("characteristics", .characteristic) {
      for (value, path) in characteristic.list("aggregateFormat") {
        guard let uuid = value.uuid, !described.contains(uuid) else { continue }
        let hint =
          problems.wantsSuggestions
          ? SpellingSuggestion.suggestion(for: "\(uuid)", among: described.map { "\($0)" }) : ""
        problems.add(
          value.place, path, "this service has no characteristic \(uuid) with a presentation format" + hint)
      }
    }
  }

  private mutating func descriptors(_ object: ObjectReader) -> [AccessoryDescriptor] {
    var result: [AccessoryDescriptor] = []
    let isWritable = object.flag("writableUserDescription") ?? false
    if let text = object.text("userDescription") ?? (isWritable ? "" : nil) {
      result.append(.userDescription(text, isWritable: isWritable))
    }
    if let format = object.object("presentationFormat", .presentationFormat), let type: UInt8 = format.whole("format"),
      let unit: UInt16 = format.whole("unit")
    {
      result.append(
        .presentationFormat(
          PresentationFormat(
            PresentationFormat.Format(rawValue: type), exponent: format.whole("exponent") ?? 0,
            unit: BluetoothUnit(rawValue: unit),
            details: PresentationFormat.Description(
              namespace: format.whole("namespace") ?? 1, number: format.whole("description") ?? 0))))
    }
    let parts = object.list("aggregateFormat").compactMap(\.value.uuid)
    if !parts.isEmpty { result.append(.aggregateFormat(parts)) }
    for entry in object.objects("descriptors", .descriptor) {
      guard let uuid = entry.uuid("uuid") else { continue }
      if Self.reserved.contains(uuid) {
        problems.add(
          entry.place("uuid"), entry.path("uuid"),
          "\(uuid) is added automatically, has its own field, or is not a descriptor")
      }
      let permissions = entry.words("permissions", PermissionNames.all).map { AttributePermissions($0) }
      result.append(
        .other(
          uuid, entry.octets("value") ?? [], permissions: permissions ?? .readable, handle: entry.whole("handle")))
    }
    return result
  }

  /// The services that each device has · Vol 3, Part C, 12, and Part G, 7.
  package static let addedServices: Set<BluetoothUUID> = ["1800", "1801"]

  /// Declarations, and the descriptors that the database adds or that have dedicated fields · Vol 3, Part G, 3.
  package static let reserved: Set<BluetoothUUID> = [
    "2800", "2801", "2802", "2803", "2900", "2901", "2902", "2903", "2904", "2905",
  ]

  private func state(
    _ object: ObjectReader, _ characteristic: AccessoryCharacteristic<DescribedPeripheral>, service: Int
  ) -> DescribedPeripheral.Characteristic {
    var values = object.list("values").compactMap(\.value.octets)
    if let value = object.octets("value") { values = [value] }
    if let text = object.text("text") { values = [Array(text.utf8)] }
    return DescribedPeripheral.Characteristic(
      path: characteristic.path, service: service, values: values, period: object.time("notifyPeriod"),
      maximumLength: object.whole("maximumLength") ?? 512,
      sendsUpdates: !characteristic.properties.isDisjoint(with: [.notify, .indicate, .broadcast]),
      program: program(object), output: object.word("output", OutputNames.all) ?? .text, echo: object.uuid("echo"),
      refusal: object.object("refuses", .refusal).map {
        DescribedPeripheral.Refusal(
          accesses: Set($0.words("accesses", AccessNames.all) ?? []), until: $0.time("until"))
      })
  }

  private func program(_ object: ObjectReader) -> ValueProgram? {
    if let command = object.text("command") { return ValueProgram(kind: .command, command: command) }
    return object.text("lines").map { ValueProgram(kind: .lines, command: $0) }
  }
}
