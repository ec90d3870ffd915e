import BluetoothLab

/// What can be asked of an air that runs, as one JSON object on a line of its own.
package struct ControlRequest: Codable, Sendable {
  package enum Verb: String, Codable, Sendable {
    /// Who is there.
    case devices
    /// Takes `device` to `position`.
    case move
    /// Has `device` hear and be heard by nobody (`on` false), or by all again.
    case radio
    /// Has the faults of `plan` strike, or, without one, none any more.
    case fault
    /// What the devices have done.
    case stats
    /// Begins a capture at `path`, or, without one, ends it.
    case capture
    /// Ends the air.
    case stop
  }

  package var verb: Verb
  package var device: String?
  /// Metres: x, y and z.
  package var position: [Double]?
  package var on: Bool?
  package var plan: FaultPlan?
  package var path: String?
  package var decrypted: Bool?
  package var keys: Bool?

  fileprivate enum CodingKeys: CodingKey {
    case verb, device, position, on, plan, path, decrypted, keys
  }

  package init(_ verb: Verb) { self.verb = verb }

  /// A field that is null or misspelt, or that belongs to another verb, is an error: it would pass for one that is left out,
  /// which may mean to end something.
  package init(from decoder: any Decoder) throws {
    func refuse(_ field: some CodingKey, _ reason: String) -> DecodingError {
      .dataCorrupted(DecodingError.Context(codingPath: [field], debugDescription: reason))
    }
    let names = try decoder.container(keyedBy: FieldName.self).allKeys
    if let unknown = names.first(where: { CodingKeys(stringValue: $0.stringValue) == nil }) {
      throw refuse(unknown, "there is no such field")
    }
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    if let empty = try fields.allKeys.first(where: { try fields.decodeNil(forKey: $0) }) {
      throw refuse(empty, "null is no value: leave the field out")
    }
    verb = try fields.decode(Verb.self, forKey: .verb)
    let known = verb.fields
    if let foreign = fields.allKeys.first(where: { $0 != .verb && !known.contains($0) }) {
      throw refuse(foreign, "the verb \(verb.rawValue) has no such field")
    }
    device = try fields.decodeIfPresent(String.self, forKey: .device)
    position = try fields.decodeIfPresent([Double].self, forKey: .position)
    on = try fields.decodeIfPresent(Bool.self, forKey: .on)
    plan = try fields.decodeIfPresent(FaultPlan.self, forKey: .plan)
    path = try fields.decodeIfPresent(String.self, forKey: .path)
    decrypted = try fields.decodeIfPresent(Bool.self, forKey: .decrypted)
    keys = try fields.decodeIfPresent(Bool.self, forKey: .keys)
  }
}

extension ControlRequest.Verb {
  fileprivate var fields: Set<ControlRequest.CodingKeys> {
    switch self {
    case .devices, .stats, .stop: []
    case .move: [.device, .position]
    case .radio: [.device, .on]
    case .fault: [.plan]
    case .capture: [.path, .decrypted, .keys]
    }
  }
}

/// Any key of a JSON object.
private struct FieldName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { nil }
}

/// What an air answers, as one JSON object on a line of its own.
package struct ControlAnswer: Codable, Sendable {
  /// A device of the air.
  package struct Device: Codable, Sendable, Hashable {
    package var name: String
    /// Its identity address, followed by ` (random)` unless it is a public one; nil: it has none.
    package var address: String?
    /// Metres: x, y and z.
    package var position: [Double]
    /// Whether it hears and is heard.
    package var radio: Bool
    /// Whether a host is there; nil: it needs none.
    package var host: Bool?
  }

  /// What a device has done.
  package struct Statistics: Codable, Sendable, Hashable {
    package struct Link: Codable, Sendable, Hashable {
      /// nil: it is not known.
      package var peer: String?
      package var isCentral: Bool
      package var isConnected: Bool
      package var sentOctets: Int
      package var receivedOctets: Int
      package var retransmissions: Int
      package var crcErrors: Int
      /// dBm.
      package var rssi: Double?
    }

    package var name: String
    package var sentPackets: Int
    package var receivedPackets: Int
    package var crcErrors: Int
    /// Seconds of radio time.
    package var transmitting: Double
    package var receiving: Double
    package var links: [Link]
  }

  /// Why it could not be done, in a line; nil: it was.
  package var error: String?
  /// A warning for the user about a request that was carried out.
  package var note: String?
  /// Seconds of radio time since the air began.
  package var time: Double?
  package var devices: [Device]?
  package var statistics: [Statistics]?

  package init(error: String? = nil) { self.error = error }
}
