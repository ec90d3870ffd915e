import BluetoothLab

/// Converts the values of a file to a `WorldFile`. `FieldChecker` has checked each value; the reader finds the problems
/// that concern several values: duplicate or unknown names, times out of order, and exceeded limits.
struct WorldReader {
  /// The folder from which paths of recordings begin; nil: the file is a recording, and may name no other one.
  let folder: String?
  var problems: ProblemList
  /// The location of the definition of each device's or client's name.
  private var names: [String: TextLocation] = [:]
  /// The names in the order of their definitions.
  private var order: [String] = []

  init(problems: ProblemList, folder: String?) { (self.problems, self.folder) = (problems, folder) }

  mutating func read(_ root: LocatedValue) -> WorldFile {
    var file = WorldFile()
    guard let object = ObjectReader(root, .world, at: .root) else { return file }
    _ = object["$schema"]
    file.seed = object.whole("seed")
    file.environment = environment(object)
    file.interference = object.list("interference").compactMap { interference($0.value, at: $0.path) }
    for device in object.objects("devices", .device) { file.members.append(member(device)) }
    for client in object.objects("clients", .client) { file.clients.append(self.client(client)) }
    for loss in object.objects("losses", .loss) {
      if let loss = self.loss(loss) { file.losses.append(loss) }
    }
    for (value, path) in object.list("faults") {
      if let fault = fault(value, at: path) { file.faults.faults.append(fault) }
    }
    return file
  }

  // MARK: The air

  private func environment(_ object: ObjectReader) -> Environment {
    if let named = object.word("environment", EnvironmentNames.all) { return named }
    var environment = Environment.free
    guard let numbers = object.object("environment", .environment) else { return environment }
    if let reference = numbers.number("reference") { environment.reference = reference }
    if let exponent = numbers.number("exponent") { environment.exponent = exponent }
    if let margin = numbers.number("margin") { environment.margin = margin }
    if let shadowing = numbers.number("shadowing") { environment.shadowing = shadowing }
    return environment
  }

  private func interference(_ value: LocatedValue, at path: FieldPath) -> Interference? {
    guard let source = ObjectReader(value, kinds: ObjectShape.interferenceKinds, at: path) else { return nil }
    let kind: Interference.Kind
    switch source.shape.name {
    case "wi-fi":
      kind = .wiFi(
        channel: source.whole("channel") ?? 1, dutyCycle: source.number("dutyCycle") ?? 0,
        burst: source.time("burst") ?? .milliseconds(1))
    case "microwave-oven": kind = .microwaveOven(dutyCycle: source.number("dutyCycle") ?? 0.5)
    case "classic-bluetooth": kind = .classicBluetooth(dutyCycle: source.number("dutyCycle") ?? 1)
    default: kind = .jammer(channels: Set(source.list("channels").compactMap { $0.value.whole(Int.self) }))
    }
    return Interference(kind, at: source.position("position") ?? .origin, power: source.number("power") ?? 20)
  }

  private mutating func loss(_ object: ObjectReader) -> WorldFile.Loss? {
    let between = object.list("between")
    for (value, path) in between { resolve(value, at: path) }
    guard between.count == 2, let first = between[0].value.text, let second = between[1].value.text,
      let decibels = object.number("decibels")
    else { return nil }
    if first == second { problems.add(between[1].value.place, between[1].path, "expected two different devices") }
    return WorldFile.Loss(first: first, second: second, decibels: decibels)
  }

  // MARK: Names

  /// Reads and registers the name of a device or a client.
  private mutating func take(_ object: ObjectReader) -> String {
    guard let name = object.text("name") else { return "" }
    let place = object.place("name")
    if let other = names[name] {
      problems.add(
        place, object.path("name"), "duplicate name \"\(name.shortened)\", first used on line \(other.line)")
    } else {
      names[name] = place
      order.append(name)
    }
    return name
  }

  /// Reports a name that no device or client has. All devices and clients must have been read before this call.
  private mutating func resolve(_ value: LocatedValue?, at path: FieldPath) {
    guard let value, let name = value.text, names[name] == nil else { return }
    let hint = problems.wantsSuggestions ? SpellingSuggestion.suggestion(for: name, among: order) : ""
    problems.add(value.place, path, "unknown device or client \"\(name.shortened)\"" + hint)
  }

  // MARK: Devices

  private mutating func member(_ object: ObjectReader) -> WorldFile.Member {
    let name = take(object)
    var options = options(object)
    options.gapName = object.text("gapName")
    if let limit: Int = object.whole("bondLimit") { options.bondLimit = limit }
    if let isPrivate = object.flag("usesPrivateAddresses") { options.usesPrivateAddresses = isPrivate }
    var accessories = AccessoryReader(
      name: options.gapName ?? name, transmitPower: options.transmitPower, folder: folder, problems: problems)
    let accessory = accessories.read(object["accessory"], at: object.path("accessory"))
    problems = accessories.problems
    return WorldFile.Member(
      name: name, options: options, accessory: accessory, path: path(object), power: power(object))
  }

  private mutating func client(_ object: ObjectReader) -> WorldFile.Client {
    WorldFile.Client(name: take(object), options: options(object), path: path(object))
  }

  private mutating func options(_ object: ObjectReader) -> DeviceOptions {
    var options = DeviceOptions()
    if let position = object.position("position") { options.position = position }
    if let power = object.number("transmitPower") { options.transmitPower = power }
    options.address = object["address"]?.address
    if let generation = object.word("generation", GenerationNames.all) { options.generation = generation }
    if let accuracy: Int = object.whole("sleepClockAccuracy") { options.sleepClockAccuracy = accuracy }
    if let drift = object.number("sleepClockDrift") { options.sleepClockDrift = drift }
    if let gain = object.number("antennaGain") { options.antennaGain = gain }
    if let antenna = object.object("antenna", .antenna) { options.antennaPattern = antennaPattern(antenna) }
    if let sensitivity = object.number("sensitivity") { options.sensitivity = sensitivity }
    if let chip = object.word("chip", ChipNames.all) { options.chip = chip }
    if let cell = object.word("cell", CellNames.all) { options.cell = cell }
    if let temperature = object.number("temperature") { options.cell.temperature = temperature }
    if let strength = object.object("signalStrength", .signalStrength) {
      options.signalStrength = signalStrength(strength)
    }
    return options
  }

  private mutating func signalStrength(_ object: ObjectReader) -> DeviceOptions.SignalStrength {
    let (minimum, maximum) = (object.number("minimum") ?? -127, object.number("maximum") ?? 20)
    if minimum > maximum {
      problems.add(object.place("minimum"), object.path("minimum"), "greater than the maximum, \(maximum.short)")
    }
    return DeviceOptions.SignalStrength(
      offset: object.number("offset") ?? 0, step: object.number("step") ?? 0,
      range: minimum...max(minimum, maximum))
  }

  private mutating func antennaPattern(_ object: ObjectReader) -> AntennaPattern {
    let shapes = Dictionary(uniqueKeysWithValues: AntennaShape.allCases.map { ($0.rawValue, $0) })
    let shape = object.word("shape", shapes) ?? .directional
    let axis = object.position("axis") ?? Position(x: 1)
    if axis == .origin {
      problems.add(object.place("axis"), object.path("axis"), "a vector of length 0 has no direction")
    }
    let attenuations = object.list("attenuations").compactMap(\.value.number)
    if !attenuations.isEmpty {
      return AntennaPattern(axis: axis, attenuations: attenuations)
    }
    let ratio = object.number("frontToBackRatio")
    switch shape {
    case .directional:
      return .directional(
        towards: axis, beamwidth: object.number("beamwidth") ?? 65, frontToBackRatio: ratio ?? 20)
    case .dipole: return .dipole(along: axis, deepest: ratio ?? 30)
    }
  }

  private mutating func path(_ object: ObjectReader) -> [Waypoint] {
    let points = object.objects("path", .waypoint)
    checkOrder(points)
    return points.compactMap { point in
      guard let time = point.time("at"), let position = point.position("position") else { return nil }
      return Waypoint(at: time, position)
    }
  }

  private mutating func power(_ object: ObjectReader) -> [WorldFile.PowerSwitch] {
    let switches = object.objects("power", .powerSwitch)
    checkOrder(switches)
    return switches.compactMap { entry in
      guard let time = entry.time("at"), let isOn = entry.flag("isOn") else { return nil }
      return WorldFile.PowerSwitch(time: time, isOn: isOn)
    }
  }

  private mutating func checkOrder(_ entries: [ObjectReader]) {
    for (before, entry) in zip(entries, entries.dropFirst()) {
      guard let first = before.number("at"), let second = entry.number("at"), second <= first else { continue }
      problems.add(entry.place("at"), entry.path("at"), "times must increase: the previous time is \(first.short)")
    }
  }

  // MARK: Faults

  private mutating func fault(_ value: LocatedValue, at path: FieldPath) -> Fault? {
    guard let object = ObjectReader(value, .fault, at: path) else { return nil }
    for name in ["from", "to", "device"] { resolve(object[name], at: object.path(name)) }
    if let trigger = object.object("after", .faultTrigger) {
      for name in ["from", "to", "device"] { resolve(trigger[name], at: trigger.path(name)) }
    }
    var checker = FieldChecker()
    checker.check(value, .object(.fault), at: path)
    // The checker has reported these problems already; decoding the fault would report them again.
    guard checker.problems.isEmpty else { return nil }
    do throws(FaultProblem) {
      return try FaultText.fault(value)
    } catch {
      problems.add(error.place, error.path(below: path), error.reason)
      return nil
    }
  }
}
