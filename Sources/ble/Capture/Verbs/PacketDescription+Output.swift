import BluetoothAir
import BluetoothDissection
import BluetoothTypes
import BluetoothWire

/// The output of packets: on a terminal and as records.
extension PacketDescription {
  /// The packet on one line for a terminal, with columns.
  func columns(_ style: Style, withComments showsComments: Bool = false) -> String {
    func padded(_ text: String, _ width: Int) -> String {
      let text = text.printable
      return text + String(repeating: " ", count: max(0, width - text.columns))
    }
    let place = place + (connectionText.map { " \($0)" } ?? "")
    let arrow =
      switch direction {
      case .toController?, .toPeripheral?: "→"
      case .toHost?, .toCentral?: "←"
      case nil: " "
      }
    return style.dim(timeText) + "  " + padded(place, 18) + " " + arrow + " " + style.bold(name.printable)
      + (fullDetail.isEmpty ? "" : "  " + fullDetail.printable)
      + (showsComments && !comments.isEmpty ? style.dim("  # " + comments.joined(separator: "; ").printable) : "")
  }

  /// The packet as a record.
  func record(octets: [UInt8], _ tree: PacketFields? = nil) -> JSONRecord {
    var record = JSONRecord("packet")
    record.add("number", number)
    record.add("time", .decimal(Double(time) / 1e9, places: 9))
    record.add("interface", interface.title)
    record.add("transport", interface.link.isAir ? "air" : interface.link.isHCI ? "hci" : nil)
    record.add("channel", channel.map { Int($0) })
    record.add("phy", phy)
    record.add("power", power)
    record.add("direction", direction?.rawValue)
    record.add("protocol", content.rawValue)
    record.add("name", name)
    record.add("detail", detail.isEmpty ? nil : detail)
    record.add("connection", connectionText)
    record.add("addresses", addresses.isEmpty ? nil : .list(addresses.map { .text($0.digits) }))
    record.add("handles", handles.isEmpty ? nil : .list(handles.map { .integer(Int($0)) }))
    if isRetransmission { record.add("retransmission", .flag(true)) }
    if isEncrypted { record.add("encrypted", .flag(true)) }
    if hasWrongCRC { record.add("wrongCRC", .flag(true)) }
    if isMalformed { record.add("malformed", .flag(true)) }
    record.add("data", "0x" + octets.digits)
    record.add("comments", comments.isEmpty ? nil : .list(comments.map { .text($0) }))
    if let tree {
      record.add("content", "0x" + tree.octets.digits)
      record.add("fields", .list(tree.fields.map(\.json)))
    }
    return record
  }
}

extension PacketFields.Field {
  /// The field as an object of a record.
  fileprivate var json: JSONText {
    .object(
      [
        ("name", .text(name)), ("text", .text(value)), ("from", .integer(range.lowerBound)),
        ("to", .integer(range.upperBound)),
      ] + (parts.isEmpty ? [] : [("fields", .list(parts.map(\.json)))]))
  }
}
