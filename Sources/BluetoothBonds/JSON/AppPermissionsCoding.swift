import BluetoothDaemon

extension AppPermissions {
  static let format = 1

  var json: JSON {
    .members([
      "format": .integer(Int64(Self.format)),
      "apps": .object(order.map { JSON.Member($0, .bool(self[$0] ?? false)) }),
    ])
  }

  init(jsonText bytes: [UInt8]) throws(BondDecodingError) {
    self.init()
    let json = try JSON(bondText: bytes)
    try JSONObject(json, "the file").checkFormat(Self.format)
    guard case .object(let members)? = json["apps"] else { throw .malformed("\"apps\" is not an object") }
    for member in members {
      guard case .bool(let isAllowed) = member.value else {
        throw .malformed("\"\(member.name)\" of \"apps\" is not true or false")
      }
      set(isAllowed, for: member.name)
    }
  }
}
