/// Which apps may use an adapter, as its user has said.
struct AppPermissions: Hashable {
  static let format = 1
  /// More than these are not kept: those that come first go first.
  static let maximumCount = 1_000

  private var apps: [String: Bool] = [:]
  /// As the user was asked.
  private var order: [String] = []

  init() {}

  subscript(app: String) -> Bool? { apps[app] }

  mutating func set(_ isAllowed: Bool, for app: String) {
    if apps.updateValue(isAllowed, forKey: app) == nil { order.append(app) }
    if order.count > Self.maximumCount { apps[order.removeFirst()] = nil }
  }

  // MARK: JSON

  var json: JSON {
    .members([
      "format": .integer(Int64(Self.format)),
      "apps": .object(order.map { JSON.Member($0, .bool(apps[$0] ?? false)) }),
    ])
  }

  init(jsonText bytes: [UInt8]) throws(BondDecodingError) {
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
