import BluetoothLab

/// A request to a running air, encoded as one JSON object per line.
package struct ControlRequest: Codable, Sendable {
  package enum Verb: String, Codable, Sendable {
    /// Lists the devices.
    case devices
    /// Moves `device` to `position`.
    case move
    /// Turns the radio of `device` on or off. While the radio is off, it neither transmits nor receives.
    case radio
    /// Turns Bluetooth of `device` on or off, as a user does in the settings.
    case power
    /// Sets the speed of the air's time to `speed`; 0 pauses it.
    case speed
    /// Moves the time of a paused air to the end of the next packet that `device` sends or receives; without a device,
    /// of the next packet.
    case step
    /// Runs a world in virtual time for `seconds`, or until `device` has a link or has none (`until`).
    case run
    /// Adds the device that `text` describes, an entry of `devices` in a world file.
    case add
    /// Removes `device`, an accessory: its links end with their supervision timeouts.
    case remove
    /// Returns the air as a world file.
    case save
    /// Connects the central of a page to `device`, and discovers its attributes. The following verbs are for pages, too.
    case open
    /// Ends the connection to `device`.
    case close
    /// Reads the attribute of `device` with `handle`.
    case read
    /// Writes `value`, in hexadecimal, to the attribute with `handle`; without a response if `response` is false.
    case write
    /// Subscribes to the value with `handle`, or ends the subscription.
    case subscribe
    /// Adds the faults of `plan`; without a plan, removes all faults.
    case fault
    /// Replaces all faults by those of `plan`; without a plan, returns the faults.
    case faults
    /// Returns the statistics of the devices.
    case stats
    /// Starts a capture to `path`; without a path, ends the capture.
    case capture
    /// Ends the air.
    case stop
  }

  package var verb: Verb
  package var device: String?
  /// The position: x, y and z in metres.
  package var position: [Double]?
  package var on: Bool?
  package var speed: Double?
  package var seconds: Double?
  package var until: LinkCondition?
  package var text: String?
  package var handle: UInt16?
  package var value: String?
  package var response: Bool?
  package var plan: FaultPlan?
  package var path: String?
  package var decrypted: Bool?
  package var keys: Bool?

  /// The state of a device's links until which a world runs.
  package enum LinkCondition: String, Codable, Sendable {
    case link, noLink
  }

  fileprivate enum CodingKeys: CodingKey {
    case verb, device, position, on, speed, seconds, until, text, handle, value, response, plan, path, decrypted, keys
  }

  package init(_ verb: Verb) { self.verb = verb }

  /// Decodes a request. A field that is null, misspelt or belongs to another verb is an error. Ignoring such a field
  /// would be dangerous, because a missing field has a meaning: `fault` without `plan` removes all faults.
  package init(from decoder: any Decoder) throws {
    func refuse(_ field: some CodingKey, _ reason: String) -> DecodingError {
      .dataCorrupted(DecodingError.Context(codingPath: [field], debugDescription: reason))
    }
    let names = try decoder.container(keyedBy: FieldName.self).allKeys
    if let unknown = names.first(where: { CodingKeys(stringValue: $0.stringValue) == nil }) {
      throw refuse(unknown, "unknown field")
    }
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    if let empty = try fields.allKeys.first(where: { try fields.decodeNil(forKey: $0) }) {
      throw refuse(empty, "null is not allowed; omit the field")
    }
    verb = try fields.decode(Verb.self, forKey: .verb)
    let known = verb.fields
    if let foreign = fields.allKeys.first(where: { $0 != .verb && !known.contains($0) }) {
      throw refuse(foreign, "the verb \(verb.rawValue) does not have this field")
    }
    device = try fields.decodeIfPresent(String.self, forKey: .device)
    position = try fields.decodeIfPresent([Double].self, forKey: .position)
    on = try fields.decodeIfPresent(Bool.self, forKey: .on)
    speed = try fields.decodeIfPresent(Double.self, forKey: .speed)
    seconds = try fields.decodeIfPresent(Double.self, forKey: .seconds)
    until = try fields.decodeIfPresent(LinkCondition.self, forKey: .until)
    text = try fields.decodeIfPresent(String.self, forKey: .text)
    handle = try fields.decodeIfPresent(UInt16.self, forKey: .handle)
    value = try fields.decodeIfPresent(String.self, forKey: .value)
    response = try fields.decodeIfPresent(Bool.self, forKey: .response)
    plan = try fields.decodeIfPresent(FaultPlan.self, forKey: .plan)
    path = try fields.decodeIfPresent(String.self, forKey: .path)
    decrypted = try fields.decodeIfPresent(Bool.self, forKey: .decrypted)
    keys = try fields.decodeIfPresent(Bool.self, forKey: .keys)
  }
}

extension ControlRequest.Verb {
  fileprivate var fields: Set<ControlRequest.CodingKeys> {
    switch self {
    case .devices, .stats, .save, .stop: []
    case .move: [.device, .position]
    case .radio, .power: [.device, .on]
    case .speed: [.speed]
    case .step: [.device]
    case .run: [.seconds, .device, .until]
    case .add: [.text]
    case .remove, .open, .close: [.device]
    case .read: [.device, .handle]
    case .write: [.device, .handle, .value, .response]
    case .subscribe: [.device, .handle, .on]
    case .fault, .faults: [.plan]
    case .capture: [.path, .decrypted, .keys]
    }
  }
}

/// A coding key with any name.
private struct FieldName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { nil }
}

/// The answer of an air, encoded as one JSON object per line.
package struct ControlAnswer: Codable, Sendable {
  /// A device of the air.
  package struct Device: Codable, Sendable, Hashable {
    package var name: String
    /// The identity address, followed by ` (random)` if not public; nil if there is none.
    package var address: String?
    /// The position: x, y and z in metres.
    package var position: [Double]
    /// True if the radio is on; false if it is muted.
    package var radio: Bool
    /// True if a host uses the device; nil if the device needs none.
    package var host: Bool?
  }

  /// The statistics of a device.
  package struct Statistics: Codable, Sendable, Hashable {
    package struct Link: Codable, Sendable, Hashable {
      /// The name of the peer device; its address if no device of the air has it.
      package var peer: String
      package var isCentral: Bool
      package var isConnected: Bool
      package var sentOctets: Int
      package var receivedOctets: Int
      package var retransmissions: Int
      package var crcErrors: Int
      /// The RSSI in dBm.
      package var rssi: Double?
    }

    package var name: String
    package var sentPackets: Int
    package var receivedPackets: Int
    package var crcErrors: Int
    /// The number of attempts to connect that failed; nil: an air of an earlier version does not tell it.
    package var failedAttempts: Int?
    /// The time spent transmitting, in seconds of radio time.
    package var transmitting: Double
    package var receiving: Double
    package var links: [Link]
  }

  /// The reason why the request failed, in one line; nil if it succeeded.
  package var error: String?
  /// A note for the user about a request that succeeded.
  package var note: String?
  /// A failure that did not prevent the request, for the user; nil if there was none.
  package var warning: String?
  /// The seconds of radio time since the air began.
  package var time: Double?
  package var devices: [Device]?
  package var statistics: [Statistics]?
  /// The faults of the whole air.
  package var plan: FaultPlan?
  /// The faults as the text of a world file.
  package var text: String?

  package init(error: String? = nil) { self.error = error }
}
