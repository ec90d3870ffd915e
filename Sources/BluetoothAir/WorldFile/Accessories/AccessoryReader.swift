import BluetoothLab
import BluetoothProfiles

/// Converts the values of a file to accessories.
struct AccessoryReader {
  /// The local name of an accessory without a `localName` field.
  let name: String
  /// The transmit power of the device in dBm.
  let transmitPower: Double
  /// The folder from which paths of recordings begin; nil: the file is a recording itself, and may name no other one.
  let folder: String?
  var problems: ProblemList

  /// Returns the accessory; for a value that can't be read, and has been reported, an accessory that does nothing.
  mutating func read(_ value: LocatedValue?, at path: FieldPath) -> any Accessory {
    guard let object = ObjectReader(value, kinds: ObjectShape.accessoryKinds, at: path),
      let kind = AccessoryKind.all.first(where: { $0.shape.name == object.shape.name })
    else { return Broadcaster(Advertising()) }
    return kind.read(object, &self)
  }

  /// Reports a problem of a field.
  mutating func complain(_ field: String, of object: ObjectReader, _ text: String) {
    problems.add(object.place(field), object.path(field), text)
  }

  func localName(_ object: ObjectReader) -> String { object.text("localName") ?? name }

  /// The transmit power of the device's radio, in whole decibels.
  var radioPower: Int8 {
    transmitPower.isFinite ? Int8(min(max(transmitPower, -20), 20).rounded()) : 0
  }

  mutating func recording(_ object: ObjectReader) -> any Accessory {
    // The checker has reported a file that is missing.
    guard let file = object.text("file") else { return Broadcaster(Advertising()) }
    guard let folder else {
      problems.add(
        object.place("file"), object.path("file"), "a file that is a recording itself can't name another recording")
      return Broadcaster(Advertising())
    }
    do throws(DeviceRecordingError) {
      var recording = try DeviceRecording(
        path: file.hasPrefix("/") || folder.isEmpty ? file : folder + "/" + file, device: object.text("device"))
      if let start = object.word("start", RecordingStartNames.all) { recording.start = start }
      return recording.accessory
    } catch {
      problems.add(object.place("file"), object.path("file"), error.description)
      return Broadcaster(Advertising())
    }
  }

  mutating func broadcaster(_ object: ObjectReader) -> Broadcaster {
    var standard = Advertising()
    standard.kind = .broadcast
    var reader = AdvertisingReader(problems: problems)
    defer { problems = reader.problems }
    return Broadcaster(reader.read(object.object("advertising", .advertising), else: standard))
  }
}

// MARK: Described peripherals

extension AccessoryReader {
  mutating func peripheral(_ object: ObjectReader) -> DescribedPeripheral {
    var services = ServiceReader(problems: problems)
    var peripheral = DescribedPeripheral()
    services.read(object, into: &peripheral)
    problems = services.problems
    if let appearance: UInt16 = object.whole("appearance") { peripheral.appearance = Appearance(rawValue: appearance) }
    peripheral.preferredParameters = object.preferredParameters("connection")

    var reader = AdvertisingReader(problems: problems)
    peripheral.advertising = reader.read(
      object.object("advertising", .advertising), else: standardAdvertising(of: peripheral.services, localName(object)))
    problems = reader.problems
    return peripheral
  }

  /// Returns the default advertising: services and name in one packet or, if the whole name does not fit, the name in
  /// the scan response.
  private func standardAdvertising(of services: [AccessoryService<DescribedPeripheral>], _ name: String) -> Advertising
  {
    var uuids: [BluetoothUUID] = []
    for service in services where service.isPrimary && !uuids.contains(service.uuid) { uuids.append(service.uuid) }
    let payload = AdvertisingPayload(fitting: [.flags()] + ADStructure.serviceLists(uuids))
    if let whole = try? AdvertisingPayload(payload.structures + [.name(name)]) { return Advertising(whole) }
    return Advertising(payload, scanResponse: AdvertisingPayload(fitting: [.name(name)]))
  }
}
