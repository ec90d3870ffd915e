import BluetoothAir
import BluetoothTypes
import BluetoothWire
import CoreBluetoothExtras
import Foundation

/// The rules of Apple's accessory design guidelines about advertising, and what packets tell about them.
struct AppleGuidelines: Sendable {
  /// The result of one rule.
  struct Finding: Sendable {
    /// The number of the requirement in `Documentation/Coverage-Requirements.tsv`.
    let rule: String
    let title: String
    let isKept: Bool
    let detail: String

    var line: String { "\(isKept ? "ok    " : "breach")  \(title): \(detail)" }

    var record: JSONRecord {
      var record = JSONRecord("check")
      record.add("rules", "apple")
      record.add("rule", rule)
      record.add("title", title)
      record.add("kept", .flag(isKept))
      record.add("detail", detail)
      return record
    }
  }

  /// The number of packets, including scan responses.
  private var packets = 0
  /// The number of directed advertising packets.
  private var directed = 0
  /// The types of AD structures in advertising packets and in scan responses.
  private var types: Set<UInt8> = []
  /// The different scan responses.
  private var responses: [Data] = []
  private var responseCount = 0

  init() {}

  /// Notes a packet of the device.
  mutating func add(_ packet: AdvertisingPacket) { add(packet.pduType, packet.data) }

  /// Notes a packet with these AD structures.
  mutating func add(_ type: AdvertisingPacket.PDUType, _ data: Data) {
    packets += 1
    switch type {
    case .advDirectInd: directed += 1
    case .scanRsp, .auxScanRsp:
      responseCount += 1
      if !responses.contains(data) { responses.append(data) }
    default: for structure in AdvertisingData(ByteSlice(data)) { types.insert(structure.type.rawValue) }
    }
  }

  /// True if a packet is advertising: a scan response is not.
  var isHeard: Bool { packets > responseCount }

  /// The findings about the packets so far; empty if none of them is advertising.
  var findings: [Finding] { isHeard ? [direction, content, response] : [] }

  private var direction: Finding {
    Finding(
      rule: "L200", title: "no directed advertising", isKept: directed == 0,
      detail: directed == 0
        ? "no ADV_DIRECT_IND among \(counted(packets, "packet"))"
        : "\(counted(directed, "packet")) of \(packets) are ADV_DIRECT_IND")
  }

  private var content: Finding {
    let wanted: [(name: String, types: Set<UInt8>)] = [
      ("flags", [ADType.flags.rawValue]), ("transmit power", [ADType.txPowerLevel.rawValue]),
      ("name", [ADType.shortenedLocalName.rawValue, ADType.completeLocalName.rawValue]),
      ("services", Set(ADType.incompleteServices16.rawValue...ADType.completeServices128.rawValue)),
    ]
    let present = wanted.filter { !$0.types.isDisjoint(with: types) }.map(\.name)
    return Finding(
      rule: "L201", title: "advertising tells flags, transmit power, name or services", isKept: !present.isEmpty,
      detail: present.isEmpty ? "none of them" : present.joined(separator: ", "))
  }

  private var response: Finding {
    let detail =
      switch responses.count {
      case 0: "none was received"
      case 1: "\(counted(responseCount, "scan response")), all equal"
      default: "\(responses.count) different ones among \(counted(responseCount, "scan response"))"
      }
    return Finding(
      rule: "L202", title: "a scan response that does not change", isKept: responses.count < 2, detail: detail)
  }

  private func counted(_ count: Int, _ noun: String) -> String { count == 1 ? "1 \(noun)" : "\(count) \(noun)s" }
}
