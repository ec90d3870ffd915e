import BeaconLocation
import BluetoothAir
import BluetoothDissection

extension EddystoneFrame {
  /// The frame in the table and the lines of `ble scan`.
  var summary: String {
    switch self {
    case .uid(let namespace, let instance, _): return "UID \(namespace.digits) \(instance.digits)"
    case .url(let url, _): return url
    case .telemetry(let state):
      var words = ["TLM"]
      if let voltage = state.batteryVoltage { words.append("\(voltage) mV") }
      if let temperature = state.temperature { words.append("\(temperature.fixed(1)) °C") }
      words.append("\(state.advertisingCount) packets")
      words.append("\(state.uptime.seconds.fixed(1)) s")
      return words.joined(separator: " ")
    }
  }

  /// The frame as a field of a record: `Documentation/Ble-reference.md` describes it.
  var json: JSONText {
    switch self {
    case .uid(let namespace, let instance, let txPower):
      return .object([
        ("frame", .text("uid")), ("namespace", .text("0x" + namespace.digits)),
        ("instance", .text("0x" + instance.digits)), ("txPower", .integer(Int(txPower))),
      ])
    case .url(let url, let txPower):
      return .object([("frame", .text("url")), ("url", .text(url)), ("txPower", .integer(Int(txPower)))])
    case .telemetry(let state):
      var fields: [(String, JSONText)] = [("frame", .text("tlm"))]
      if let voltage = state.batteryVoltage { fields.append(("battery", .integer(Int(voltage)))) }
      if let temperature = state.temperature { fields.append(("temperature", .decimal(temperature, places: 8))) }
      fields.append(("packets", .integer(Int(state.advertisingCount))))
      fields.append(("uptime", .decimal(state.uptime.seconds, places: 1)))
      return .object(fields)
    }
  }

  /// True if the frame identifies the beacon, which telemetry does not.
  var isIdentity: Bool {
    if case .telemetry = self { false } else { true }
  }
}
