import BluetoothLab

// The text of a world file, from the file that it was read from and what has changed since.

extension WorldFile {
  /// Returns the file as it is now, in JSON, which is YAML: with the present positions, further devices and faults.
  ///
  /// - Parameters:
  ///   - added: the entries of devices that have been added since.
  ///   - removed: the names of devices that have been removed. Faults that name one of them are left out.
  ///   - positions: the present positions, in metres, by the names of devices and clients.
  ///   - faults: the present faults of the whole world.
  func text(
    adding added: [LocatedValue], without removed: Set<String>, at positions: [String: [Double]],
    with faults: FaultPlan
  ) -> String {
    var fields = source?.members ?? []
    fields.removeAll { ["devices", "faults"].contains($0.name) }
    var result = fields.map { member in
      guard member.name == "clients", case .list(let clients) = member.value.content else {
        return (member.name, member.value.jsonText)
      }
      return (member.name, JSONText.list(clients.map { Self.text(of: $0, at: positions) }))
    }
    let devices = ((source?.value(of: "devices")?.elements ?? []) + added).filter { device in
      !removed.contains(device.value(of: "name")?.text ?? "")
    }
    if !devices.isEmpty { result.append(("devices", .list(devices.map { Self.text(of: $0, at: positions) }))) }
    let plan = faults.faults.filter { removed.isDisjoint(with: $0.deviceNames) }.map { JSONText(encoding: $0) }
    if !plan.isEmpty { result.append(("faults", .list(plan))) }
    return JSONText.object(result).pretty() + "\n"
  }

  private static func text(of device: LocatedValue, at positions: [String: [Double]]) -> JSONText {
    guard let name = device.value(of: "name")?.text, let position = positions[name], position.count == 3 else {
      return device.jsonText
    }
    var fields = device.members.filter { $0.name != "position" }.map { ($0.name, $0.value.jsonText) }
    let place = JSONText.list(position.map { .number($0.short) })
    // Behind the name, as in most files.
    fields.insert(("position", place), at: min(1, fields.count))
    return .object(fields)
  }
}

extension LocatedValue {
  fileprivate var members: [MarkedMember] { if case .object(let members) = content { members } else { [] } }
  fileprivate var elements: [LocatedValue] { if case .list(let elements) = content { elements } else { [] } }

  fileprivate func value(of name: String) -> LocatedValue? { members.first { $0.name == name }?.value }

  /// The value in JSON, with the same meaning for the reader.
  fileprivate var jsonText: JSONText {
    switch content {
    case .object(let members): .object(members.map { ($0.name, $0.value.jsonText) })
    case .list(let values): .list(values.map(\.jsonText))
    case .quoted(let text): .text(text)
    case .plain(let text):
      if isNothing {
        .null
      } else if let flag {
        .flag(flag)
      } else {
        jsonNumber.map { .number($0) } ?? .text(text)
      }
    }
  }
}
