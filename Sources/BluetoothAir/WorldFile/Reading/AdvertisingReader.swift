import BluetoothLab

/// Converts the values of a file to advertising settings.
struct AdvertisingReader {
  var problems: ProblemList

  /// Returns the advertising settings of an object.
  ///
  /// - Parameter standard: the settings for missing fields.
  mutating func read(_ object: ObjectReader?, else standard: Advertising) -> Advertising {
    var advertising = standard
    guard let object else { return advertising }
    if let kind = object.word("kind", AdvertisingKindNames.all) { advertising.kind = kind }
    if let interval = object.time("interval") { advertising.schedule = [.every(interval)] }
    let phases = object.objects("schedule", .phase).compactMap { phase in
      phase.time("interval").map { Advertising.Phase.every($0, for: phase.time("for")) }
    }
    if !phases.isEmpty { advertising.schedule = phases }
    let channels = object.list("channels").compactMap { $0.value.whole(UInt8.self) }
    if !channels.isEmpty {
      advertising.channels = Advertising.Channels(
        channels.filter { 37...39 ~= $0 }.map { Advertising.Channels(rawValue: 1 << ($0 - 37)) })
    }
    if let power: Int = object.whole("transmitPower") { advertising.transmitPower = power }
    if let payload = object.object("payload", .payload) {
      advertising.payload = read(payload)
      advertising.scanResponse = .empty
    }
    if let response = object.object("scanResponse", .payload) { advertising.scanResponse = read(response) }
    return advertising
  }

  private mutating func read(_ object: ObjectReader) -> AdvertisingPayload {
    var structures: [ADStructure] = []
    for name in object.names where object.shape.field(name) != nil { structures += self.structures(object, name) }
    do throws(AdvertisingPayload.TooLong) {
      return try AdvertisingPayload(structures)
    } catch {
      problems.add(object.place, object.path, error.description)
      return .empty
    }
  }

  /// Returns the AD structures of one field of a payload.
  private func structures(_ object: ObjectReader, _ name: String) -> [ADStructure] {
    switch name {
    case "flags": return object.whole(name).map { [.flags($0)] } ?? []
    case "name": return object.text(name).map { [.name($0)] } ?? []
    case "shortenedName": return object.text(name).map { [.shortenedName($0)] } ?? []
    case "services": return ADStructure.serviceLists(object.list(name).compactMap(\.value.uuid))
    case "serviceData":
      return object.objects(name, .serviceData).compactMap { entry in
        entry.uuid("uuid").map { .serviceData(of: $0, entry.octets("data") ?? []) }
      }
    case "manufacturerData":
      guard let entry = object.object(name, .manufacturerData), let company: UInt16 = entry.whole("company") else {
        return []
      }
      return [.manufacturerData(company: company, entry.octets("data") ?? [])]
    case "transmitPower": return object.whole(name).map { [.transmitPower($0)] } ?? []
    case "appearance": return object.whole(name).map { [.appearance($0)] } ?? []
    default:
      return object.objects(name, .structure).compactMap { entry in
        entry.whole("type").map { ADStructure(ADType(rawValue: $0), entry.octets("data") ?? []) }
      }
    }
  }
}
