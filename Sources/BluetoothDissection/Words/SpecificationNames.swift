import BluetoothNumbers
import BluetoothTypes
import BluetoothWire

/// The names that the Core Specification gives to packets, errors and types.
package enum SpecificationNames {
  /// Splits the name of a case into words: "readByGroupTypeRequest" into "read", "By", "Group", "Type", "Request".
  package static func words(_ name: String) -> [String] {
    var words: [String] = []
    let characters = Array(name)
    for (index, character) in characters.enumerated() {
      // A word begins with a capital letter, but the letters of an abbreviation such as MTU are one word.
      let isCapital = character.isUppercase
      let follows = index > 0 && characters[index - 1].isUppercase
      let precedes = index + 1 < characters.count && characters[index + 1].isLowercase
      if index == 0 || isCapital && (!follows || precedes) {
        words.append(String(character))
      } else {
        words[words.count - 1].append(character)
      }
    }
    return words
  }

  /// The name of an LL Control PDU: "LL_VERSION_IND" · Vol 6, Part B, 2.4.2.
  package static func name(of opcode: LL.ControlOpcode) -> String {
    "LL_" + words("\(opcode)").joined(separator: "_").uppercased()
  }

  private static let abbreviations = [
    "Request": "REQ", "Response": "RSP", "Command": "CMD", "Notification": "NTF", "Indication": "IND",
    "Confirmation": "CFM",
  ]

  /// The name of an ATT PDU: "ATT_READ_BY_TYPE_REQ" · Vol 3, Part F, 3.4.
  package static func name(of opcode: ATT.Opcode) -> String {
    "ATT_" + words("\(opcode)").map { abbreviations[$0] ?? $0.uppercased() }.joined(separator: "_")
  }

  /// The name of an SMP PDU: "Pairing Request" · Vol 3, Part H, 3.5.
  package static func name(of code: SMP.Code) -> String {
    if code == .pairingDHKeyCheck { return "Pairing DHKey Check" }
    return words("\(code)").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: " ")
  }

  /// Returns the assigned name of an attribute's type, or nil if it has none.
  package static func name(of uuid: BluetoothUUID) -> String? {
    uuid.shortValue.flatMap { AssignedNumbers.name(of: $0) }
  }

  /// The name of an attribute's type with its UUID: "Heart Rate Measurement (2A37)", or the UUID.
  package static func title(of uuid: BluetoothUUID) -> String {
    guard let name = name(of: uuid) else { return "\(uuid)" }
    return "\(name) (\(uuid))"
  }

  /// The name of an error of the Attribute Protocol with its code · Vol 3, Part F, 3.4.1.1; Supplement to the
  /// specification, Part B, 1.2.
  package static func title(of error: ATTErrorCode) -> String {
    let names = [
      "Invalid Handle", "Read Not Permitted", "Write Not Permitted", "Invalid PDU", "Insufficient Authentication",
      "Request Not Supported", "Invalid Offset", "Insufficient Authorization", "Prepare Queue Full",
      "Attribute Not Found", "Attribute Not Long", "Encryption Key Size Too Short", "Invalid Attribute Value Length",
      "Unlikely Error", "Insufficient Encryption", "Unsupported Group Type", "Insufficient Resources",
      "Database Out Of Sync", "Value Not Allowed",
    ]
    let index = Int(error.rawValue) - 1
    if names.indices.contains(index) { return "\(names[index]) (\(error))" }
    let common = [
      "Write Request Rejected", "Client Characteristic Configuration Descriptor Improperly Configured",
      "Procedure Already in Progress", "Out of Range",
    ]
    if error.rawValue >= 0xFC { return "\(common[Int(error.rawValue) - 0xFC]) (\(error))" }
    return 0x80...0x9F ~= error.rawValue ? "Application Error (\(error))" : "error \(error)"
  }

  /// The name of an error of the Attribute Protocol by which a service rejects a request. Services define their own
  /// names of application errors, each in its section 1.6.
  ///
  /// - Parameter service: the type of the service.
  package static func title(of error: ATTErrorCode, in service: BluetoothUUID) -> String {
    let name: String? =
      switch (service, error.rawValue) {
      // Current Time, Heart Rate, Health Thermometer.
      case (0x1805, 0x80): "Data Field Ignored"
      case (0x180D, 0x80): "Control Point Not Supported"
      case (0x1809, 0x80): "Out of Range"
      case (0x1811, 0xA0): "Command Not Supported"
      // Glucose, Running Speed and Cadence, Cycling Speed and Cadence: names that are common errors today.
      case (0x1808, 0x80), (0x1814, 0x80), (0x1816, 0x80): "Procedure Already in Progress"
      case (0x1808, 0x81), (0x1814, 0x81), (0x1816, 0x81):
        "Client Characteristic Configuration Descriptor Improperly Configured"
      default: nil
      }
    return name.map { "\($0) (\(error))" } ?? title(of: error)
  }

  /// The name of an error of the controller with its code; "Success" alone · Vol 1, Part F, 1.3.
  package static func title(of error: HCI.ErrorCode) -> String {
    guard error.rawValue > 0 else { return "Success" }
    guard Int(error.rawValue) < errors.count, let name = errors[Int(error.rawValue)] else { return "error \(error)" }
    return "\(name) (\(error))"
  }

  private static let errors: [String?] = [
    "Success", "Unknown HCI Command", "Unknown Connection Identifier", "Hardware Failure", "Page Timeout",
    "Authentication Failure", "PIN or Key Missing", "Memory Capacity Exceeded", "Connection Timeout",
    "Connection Limit Exceeded", "Synchronous Connection Limit To A Device Exceeded", "Connection Already Exists",
    "Command Disallowed", "Connection Rejected due to Limited Resources", "Connection Rejected Due To Security Reasons",
    "Connection Rejected due to Unacceptable BD_ADDR", "Connection Accept Timeout Exceeded",
    "Unsupported Feature or Parameter Value", "Invalid HCI Command Parameters", "Remote User Terminated Connection",
    "Remote Device Terminated Connection due to Low Resources", "Remote Device Terminated Connection due to Power Off",
    "Connection Terminated By Local Host", "Repeated Attempts", "Pairing Not Allowed", "Unknown LMP PDU",
    "Unsupported Remote Feature", "SCO Offset Rejected", "SCO Interval Rejected", "SCO Air Mode Rejected",
    "Invalid LL Parameters", "Unspecified Error", "Unsupported LL Parameter Value", "Role Change Not Allowed",
    "LL Response Timeout", "LL Procedure Collision", "LMP PDU Not Allowed", "Encryption Mode Not Acceptable",
    "Link Key cannot be Changed", "Requested QoS Not Supported", "Instant Passed",
    "Pairing With Unit Key Not Supported",
    "Different Transaction Collision", nil, "QoS Unacceptable Parameter", "QoS Rejected",
    "Channel Classification Not Supported", "Insufficient Security", "Parameter Out Of Mandatory Range", nil,
    "Role Switch Pending", nil, "Reserved Slot Violation", "Role Switch Failed", "Extended Inquiry Response Too Large",
    "Secure Simple Pairing Not Supported By Host", "Host Busy - Pairing",
    "Connection Rejected due to No Suitable Channel Found", "Controller Busy", "Unacceptable Connection Parameters",
    "Advertising Timeout", "Connection Terminated due to MIC Failure", "Connection Failed to be Established",
    nil, "Coarse Clock Adjustment Rejected but Will Try to Adjust Using Clock Dragging", "Type0 Submap Not Defined",
    "Unknown Advertising Identifier", "Limit Reached", "Operation Cancelled by Host", "Packet Too Long",
    "Packet Too Late", "Packet Too Early",
  ]
}

extension HCI.PHYs {
  /// The PHYs in words: "LE 1M, LE 2M".
  package var words: String {
    let names = [(HCI.PHYs.le1M, "LE 1M"), (.le2M, "LE 2M"), (.leCoded, "LE Coded")].filter { contains($0.0) }.map(\.1)
    return names.isEmpty ? "none" : names.joined(separator: ", ")
  }
}

extension UInt16 {
  /// A connection interval in milliseconds; the number is in units of 1.25 ms.
  package var intervalText: String { milliseconds(1_250) }
  /// A supervision timeout; the number is in units of 10 ms.
  package var timeoutText: String { "\(Int(self) * 10) ms" }
  /// An advertising or scan interval in milliseconds; the number is in units of 0.625 ms.
  package var scanIntervalText: String { milliseconds(625) }

  /// Returns the time of this number of units.
  ///
  /// - Parameter unit: the unit in microseconds.
  private func milliseconds(_ unit: Int) -> String {
    let time = Int(self) * unit
    var fraction = String(time % 1_000 + 1_000).dropFirst()
    while fraction.last == "0" { fraction.removeLast() }
    return "\(time / 1_000)" + (fraction.isEmpty ? "" : ".") + fraction + " ms"
  }
}
