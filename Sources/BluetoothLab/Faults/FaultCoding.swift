import BluetoothWire

// The JSON form of faults: one flat object each, with protocol numbers such as "0x1B" and times in seconds.

/// The keys of a fault's JSON object.
private enum FaultKey: String, CodingKey, CaseIterable {
  case layer, fault
  case from, to, advertising, control, channel, attribute, handle, empty
  case device, command, event, subevent, data, direction
  case number, numbers, percent
  case by, octets, partsPerMillion, `for`
  case at, after
}

private typealias Decoding = KeyedDecodingContainer<FaultKey>
private typealias Encoding = KeyedEncodingContainer<FaultKey>

extension Fault: Codable {
  /// The JSON keys of all faults.
  package static let fieldNames = FaultKey.allCases.map(\.rawValue)

  /// Decodes one fault of a plan; see `FaultPlan`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.faultContainer()
    switch try container.decode(String.self, forKey: .layer) {
    case "air":
      let action = try AirFault.Action(container)
      try container.allow(action.keys + AirMatch.keys + PacketSelection.keys)
      self = .air(action, try AirMatch(container), try PacketSelection(container))
    case "hci":
      let action = try HCIFault.Action(container)
      try container.allow(action.keys + HCIMatch.keys + PacketSelection.keys)
      self = .hci(action, try HCIMatch(container), try PacketSelection(container))
    case "device":
      let action = try DeviceFault.Action(container)
      try container.allow(action.keys + [.device, .at, .after])
      self = .device(
        action, try container.decodeIfPresent(String.self, forKey: .device), when: try DeviceFault.Trigger(container))
    case let other: throw container.wrong(.layer, "expected \"air\", \"hci\" or \"device\", got \"\(other)\"")
    }
  }

  /// Encodes one fault of a plan.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: FaultKey.self)
    switch self {
    case .air(let action, let match, let selection):
      try container.encode("air", forKey: .layer)
      try action.encode(into: &container)
      try match.encode(into: &container)
      try selection.encode(into: &container)
    case .hci(let action, let match, let selection):
      try container.encode("hci", forKey: .layer)
      try action.encode(into: &container)
      try match.encode(into: &container)
      try selection.encode(into: &container)
    case .device(let action, let name, let trigger):
      try container.encode("device", forKey: .layer)
      try container.encodeIfPresent(name, forKey: .device)
      try action.encode(into: &container)
      try trigger.encode(into: &container)
    }
  }
}

// MARK: Actions

extension AirFault.Action {
  fileprivate var keys: [FaultKey] { if case .inject = self { [.fault, .octets] } else { [.fault] } }

  fileprivate init(_ container: Decoding) throws {
    switch try container.decode(String.self, forKey: .fault) {
    case "lose": self = .lose
    case "corrupt": self = .corrupt
    case "inject":
      let text = try container.decode(String.self, forKey: .octets)
      guard let octets = [UInt8](hexadecimal: text), octets.count <= 255 else {
        throw container.wrong(.octets, "expected at most 255 pairs of hexadecimal digits, got \"\(text)\"")
      }
      self = .inject(octets)
    case let other:
      throw container.wrong(.fault, "expected \"lose\", \"corrupt\" or \"inject\" on the air, got \"\(other)\"")
    }
  }

  fileprivate func encode(into container: inout Encoding) throws {
    switch self {
    case .lose: try container.encode("lose", forKey: .fault)
    case .corrupt: try container.encode("corrupt", forKey: .fault)
    case .inject(let octets):
      try container.encode("inject", forKey: .fault)
      try container.encode(octets.hexadecimalText, forKey: .octets)
    }
  }
}

extension HCIFault.Action {
  fileprivate var keys: [FaultKey] { if case .delay = self { [.fault, .by] } else { [.fault] } }

  fileprivate init(_ container: Decoding) throws {
    switch try container.decode(String.self, forKey: .fault) {
    case "lose": self = .lose
    case "delay": self = .delay(try container.time(.by))
    case "duplicate": self = .duplicate
    case "corrupt": self = .corrupt
    case let other:
      throw container.wrong(
        .fault, "expected \"lose\", \"delay\", \"duplicate\" or \"corrupt\" at HCI, got \"\(other)\"")
    }
  }

  fileprivate func encode(into container: inout Encoding) throws {
    switch self {
    case .lose: try container.encode("lose", forKey: .fault)
    case .delay(let time):
      try container.encode("delay", forKey: .fault)
      try container.encode(time.seconds, forKey: .by)
    case .duplicate: try container.encode("duplicate", forKey: .fault)
    case .corrupt: try container.encode("corrupt", forKey: .fault)
    }
  }
}

extension DeviceFault.Action {
  fileprivate var keys: [FaultKey] {
    switch self {
    case .mute, .refuseConnections, .stopAnswering: [.fault, .for]
    case .driftClock: [.fault, .partsPerMillion]
    case .resetController: [.fault]
    }
  }

  fileprivate init(_ container: Decoding) throws {
    let time = container.contains(.for) ? try container.time(.for) : nil
    switch try container.decode(String.self, forKey: .fault) {
    case "mute": self = .mute(for: time)
    case "driftClock":
      let drift = try container.decode(Double.self, forKey: .partsPerMillion)
      guard abs(drift) <= 100_000 else {
        throw container.wrong(.partsPerMillion, "expected -100,000 to 100,000")
      }
      self = .driftClock(partsPerMillion: drift)
    case "resetController": self = .resetController
    case "refuseConnections": self = .refuseConnections(for: time)
    case "stopAnswering": self = .stopAnswering(for: time)
    case let other:
      throw container.wrong(
        .fault,
        "expected \"mute\", \"driftClock\", \"resetController\", \"refuseConnections\" or \"stopAnswering\" of a"
          + " device, got \"\(other)\"")
    }
  }

  fileprivate func encode(into container: inout Encoding) throws {
    func encode(_ name: String, _ time: Duration?) throws {
      try container.encode(name, forKey: .fault)
      try container.encodeIfPresent(time?.seconds, forKey: .for)
    }
    switch self {
    case .mute(let time): try encode("mute", time)
    case .driftClock(let drift):
      try encode("driftClock", nil)
      try container.encode(drift, forKey: .partsPerMillion)
    case .resetController: try encode("resetController", nil)
    case .refuseConnections(let time): try encode("refuseConnections", time)
    case .stopAnswering(let time): try encode("stopAnswering", time)
    }
  }
}

extension DeviceFault.Trigger {
  fileprivate init(_ container: Decoding) throws {
    if container.contains(.at) {
      guard !container.contains(.after) else {
        throw container.wrong(.after, "conflicts with \"at\": expected only one of them")
      }
      self = .at(try container.time(.at))
      return
    }
    let event = try container.superDecoder(forKey: .after).faultContainer()
    switch try event.decode(String.self, forKey: .layer) {
    case "air":
      try event.allow(AirMatch.keys + PacketSelection.keys)
      self = .afterAir(try AirMatch(event), try PacketSelection(event))
    case "hci":
      try event.allow(HCIMatch.keys + PacketSelection.keys)
      self = .afterHCI(try HCIMatch(event), try PacketSelection(event))
    case let other: throw event.wrong(.layer, "expected \"air\" or \"hci\", got \"\(other)\"")
    }
  }

  fileprivate func encode(into container: inout Encoding) throws {
    switch self {
    case .at(let time): try container.encode(time.seconds, forKey: .at)
    case .afterAir(let match, let selection):
      var event = container.nestedContainer(keyedBy: FaultKey.self, forKey: .after)
      try event.encode("air", forKey: .layer)
      try match.encode(into: &event)
      try selection.encode(into: &event)
    case .afterHCI(let match, let selection):
      var event = container.nestedContainer(keyedBy: FaultKey.self, forKey: .after)
      try event.encode("hci", forKey: .layer)
      try match.encode(into: &event)
      try selection.encode(into: &event)
    }
  }
}

// MARK: Matches

extension AirMatch {
  fileprivate static let keys: [FaultKey] = [.from, .to, .advertising, .control, .channel, .attribute, .handle, .empty]

  fileprivate init(_ container: Decoding) throws {
    let kinds = [FaultKey.advertising, .control, .channel, .empty].filter { container.contains($0) }
    let isAttribute = container.contains(.attribute) || container.contains(.handle)
    guard kinds.count + (isAttribute ? 1 : 0) <= 1 else {
      throw container.wrong(
        kinds[0], "expected only one of: advertising, control, channel, attribute, empty")
    }
    let content: Content =
      if isAttribute {
        .attribute(opcode: try container.pattern(.attribute), handle: try container.pattern(.handle))
      } else {
        switch kinds.first {
        case .advertising: .advertising(try container.pattern(.advertising))
        case .control: .control(try container.pattern(.control))
        case .channel: .channel(try container.number(.channel))
        case .empty: try container.flag(.empty, .empty)
        default: .anything
        }
      }
    self.init(
      content, from: try container.decodeIfPresent(String.self, forKey: .from),
      to: try container.decodeIfPresent(String.self, forKey: .to))
  }

  fileprivate func encode(into container: inout Encoding) throws {
    switch content {
    case .anything: break
    case .advertising(let type): try container.encode(pattern: type, forKey: .advertising)
    case .control(let opcode): try container.encode(pattern: opcode, forKey: .control)
    case .channel(let channel): try container.encode(pattern: channel, forKey: .channel)
    case .attribute(let opcode, let handle):
      try container.encode(pattern: opcode, forKey: .attribute)
      if let handle { try container.encode(pattern: handle, forKey: .handle) }
    case .empty: try container.encode(true, forKey: .empty)
    }
    try container.encodeIfPresent(sender, forKey: .from)
    try container.encodeIfPresent(receiver, forKey: .to)
  }
}

extension HCIMatch {
  fileprivate static let keys: [FaultKey] = [.device, .command, .event, .subevent, .data, .direction]

  fileprivate init(_ container: Decoding) throws {
    let kinds = [FaultKey.command, .event, .data].filter { container.contains($0) }
    guard kinds.count <= 1 else {
      throw container.wrong(kinds[1], "expected only one of: command, event, data")
    }
    guard !container.contains(.subevent) || kinds == [.event] else {
      throw container.wrong(.subevent, "requires \"event\"")
    }
    let content: Content =
      switch kinds.first {
      case .command: .command(try container.pattern(.command))
      case .event: .event(try container.pattern(.event), subevent: try container.pattern(.subevent))
      case .data: try container.flag(.data, .data)
      default: .anything
      }
    self.init(
      content, on: try container.decodeIfPresent(String.self, forKey: .device),
      direction: try container.decodeIfPresent(Direction.self, forKey: .direction))
  }

  fileprivate func encode(into container: inout Encoding) throws {
    switch content {
    case .anything: break
    case .command(let opcode): try container.encode(pattern: opcode, forKey: .command)
    case .event(let code, let subevent):
      try container.encode(pattern: code, forKey: .event)
      if let subevent { try container.encode(pattern: subevent, forKey: .subevent) }
    case .data: try container.encode(true, forKey: .data)
    }
    try container.encodeIfPresent(device, forKey: .device)
    try container.encodeIfPresent(direction, forKey: .direction)
  }
}

extension PacketSelection {
  fileprivate static let keys: [FaultKey] = [.number, .numbers, .percent]

  fileprivate init(_ container: Decoding) throws {
    let given = Self.keys.filter { container.contains($0) }
    guard given.count <= 1 else { throw container.wrong(given[1], "expected only one of: number, numbers, percent") }
    if let number = try container.decodeIfPresent(Int.self, forKey: .number) {
      guard number >= 1 else { throw container.wrong(.number, "expected a number from 1") }
      self = .number(number)
    } else if let numbers = try container.decodeIfPresent([Int].self, forKey: .numbers) {
      guard numbers.count == 2, 1 <= numbers[0], numbers[0] <= numbers[1] else {
        throw container.wrong(.numbers, "expected the first and the last number, from 1")
      }
      self = .numbers(numbers[0]...numbers[1])
    } else if let percent = try container.decodeIfPresent(Double.self, forKey: .percent) {
      guard (0...100).contains(percent) else { throw container.wrong(.percent, "expected 0 to 100") }
      self = .percent(percent)
    } else {
      self = .every
    }
  }

  fileprivate func encode(into container: inout Encoding) throws {
    switch self {
    case .every: break
    case .number(let number): try container.encode(number, forKey: .number)
    case .numbers(let numbers): try container.encode([numbers.lowerBound, numbers.upperBound], forKey: .numbers)
    case .percent(let percent): try container.encode(percent, forKey: .percent)
    }
  }
}

// MARK: Containers

/// A coding key with any text, used to find unknown keys.
private struct AnyKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension Decoder {
  fileprivate func faultContainer() throws -> Decoding {
    let all = try container(keyedBy: AnyKey.self)
    for key in all.allKeys where FaultKey(rawValue: key.stringValue) == nil {
      throw Swift.DecodingError.dataCorruptedError(forKey: key, in: all, debugDescription: "unknown key")
    }
    return try container(keyedBy: FaultKey.self)
  }
}

extension KeyedDecodingContainer where Key == FaultKey {
  fileprivate func wrong(_ key: FaultKey, _ reason: String) -> Swift.DecodingError {
    .dataCorruptedError(forKey: key, in: self, debugDescription: reason)
  }

  /// Throws for every key, except `layer`, that is not among `keys`.
  fileprivate func allow(_ keys: [FaultKey]) throws {
    for key in allKeys where key != .layer && !keys.contains(key) {
      throw wrong(key, "this fault does not have this key")
    }
  }

  /// Returns `meaning` if the key's value is true; throws if it is false.
  fileprivate func flag<T>(_ key: FaultKey, _ meaning: T) throws -> T {
    guard try decode(Bool.self, forKey: key) else { throw wrong(key, "expected true; omit the key otherwise") }
    return meaning
  }

  /// Decodes a time in seconds, 0 to 10^9.
  fileprivate func time(_ key: FaultKey) throws -> Duration {
    let seconds = try decode(Double.self, forKey: key)
    guard (0...1e9).contains(seconds) else { throw wrong(key, "expected 0 to 1,000,000,000 seconds") }
    return .seconds(seconds)
  }

  /// Decodes a number, or text such as "0x1B".
  fileprivate func number<T: FixedWidthInteger & Decodable>(_ key: FaultKey) throws -> T {
    guard let text = try? decode(String.self, forKey: key) else { return try decode(T.self, forKey: key) }
    let digits = text.hasPrefix("0x") ? text.dropFirst(2) : Substring(text)
    guard let value = T(digits, radix: text.hasPrefix("0x") ? 16 : 10) else {
      throw wrong(key, "expected a number of \(T.bitWidth) bits, got \"\(text)\"")
    }
    return value
  }

  /// Decodes a number; returns nil for "any" and for a missing key.
  fileprivate func pattern<T: FixedWidthInteger & Decodable>(_ key: FaultKey) throws -> T? {
    guard contains(key), (try? decode(String.self, forKey: key)) != "any" else { return nil }
    return try number(key)
  }
}

extension KeyedEncodingContainer where Key == FaultKey {
  fileprivate mutating func encode<T: FixedWidthInteger>(pattern value: T?, forKey key: FaultKey) throws {
    try encode(value.map { "0x" + $0.hexadecimal } ?? "any", forKey: key)
  }
}

extension Duration {
  /// The duration in seconds, with fractions.
  package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}

extension [UInt8] {
  /// Creates octets from two hexadecimal digits each, with or without spaces; nil for other text.
  init?(hexadecimal text: String) {
    let digits = text.filter { $0 != " " }.compactMap(\.hexDigitValue)
    guard digits.count.isMultiple(of: 2), digits.count == text.count(where: { $0 != " " }) else { return nil }
    self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  /// The octets as two hexadecimal digits each.
  var hexadecimalText: String { map(\.hexadecimal).joined() }
}
