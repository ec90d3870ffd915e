import BluetoothDaemon

@testable import BluetoothDaemonProtocol

/// The tables of Documentation/Server-protocol.md, from the rows.
struct MessagePage {
  /// The messages of a group in words.
  struct Group {
    let title: String
    /// The fields in front of those of each message.
    let prefix: String
    let messages: [NumberedWords]
    var numbers: [UInt16] { messages.map(\.number) }
  }

  static var ofClient: [Group] {
    var types = TypeList()
    return ofClient(&types)
  }

  static var ofServer: [Group] {
    var types = TypeList()
    return ofServer(&types)
  }

  private static func group<Message: MessageGroup>(
    _ title: String, _ type: Message.Type, behind prefix: String = "", _ types: inout TypeList
  ) -> Group {
    let messages = Message.table.rows.map { $0.words(&types) }
    return Group(title: title, prefix: prefix, messages: messages)
  }

  private static func ofClient(_ types: inout TypeList) -> [Group] {
    let command = "The session, the seen states (4 octets), and these fields:"
    return [
      group("From the client: connection, sessions, channels", ClientMessage.self, &types),
      group("From the client: commands of central managers", CentralCommand.self, behind: command, &types),
      group("From the client: commands of peripheral managers", PeripheralCommand.self, behind: command, &types),
      group("From the client: apps, and the command line", AppMessage.self, &types),
    ]
  }

  private static func ofServer(_ types: inout TypeList) -> [Group] {
    let event = "The session, and these fields:"
    return [
      group("From the server: connection, channels, credits", ServerMessage.self, &types),
      group("From the server: the directory", DirectoryMessage.self, &types),
      group("From the server: events of central managers", CentralEvent.self, behind: event, &types),
      group("From the server: events of peripheral managers", PeripheralEvent.self, behind: event, &types),
      group("From the server: apps, and the command line", AppReport.self, &types),
    ]
  }

  let groups: [Group]
  private let types: [(name: String, description: TypeList.Description)]

  init() {
    var types = TypeList()
    groups = Self.ofClient(&types) + Self.ofServer(&types)
    self.types = types.types.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The enumerations, in the order of their names.
  var enumerations: [(name: String, cases: [NumberedWords])] {
    types.compactMap { type in
      if case .enumeration(let cases) = type.description { (type.name, cases) } else { nil }
    }
  }

  /// The structures, in the order of their names.
  var structures: [(name: String, fields: [FieldWords])] {
    types.compactMap { type in
      if case .structure(let fields) = type.description { (type.name, fields) } else { nil }
    }
  }

  var text: String {
    var text = ""
    for group in groups {
      text += "\n### \(group.title)\n\n"
      if !group.prefix.isEmpty { text += group.prefix + "\n\n" }
      text += "| type | name | meaning | fields |\n| --- | --- | --- | --- |\n"
      for message in group.messages.sorted(by: { $0.number < $1.number }) {
        let fields = Self.words(message.fields)
        text += "| 0x\(Self.digits(message.number)) | `\(message.name)` | \(message.meaning) | \(fields) |\n"
      }
    }
    text += "\n### Structures\n\nThe fields follow one another.\n\n| structure | fields |\n| --- | --- |\n"
    for structure in structures { text += "| `\(structure.name)` | \(Self.words(structure.fields)) |\n" }
    text += "\n### Enumerations\n\nA number in one octet, and behind it the fields of the case.\n\n"
    text += "| enumeration | number | name | fields |\n| --- | --- | --- | --- |\n"
    for enumeration in enumerations {
      for value in enumeration.cases {
        text += "| `\(enumeration.name)` | \(value.number) | \(value.name) | \(Self.words(value.fields)) |\n"
      }
    }
    return text + "\n"
  }

  /// The numbers of all messages and cases, a line each.
  var numbers: String {
    var lines: [String] = []
    for group in groups {
      lines.append(group.title)
      lines += group.messages.map { "  \(Self.digits($0.number)) \($0.name)" }
    }
    for enumeration in enumerations {
      lines.append(enumeration.name)
      lines += enumeration.cases.map { "  \($0.number) \($0.name)" }
    }
    return lines.joined(separator: "\n")
  }

  private static func words(_ fields: [FieldWords]) -> String {
    fields.isEmpty ? "–" : fields.map { "\($0.name) (\($0.type))" }.joined(separator: "; ")
  }

  private static func digits(_ number: UInt16) -> String {
    String(String(UInt32(number) + 0x1_0000, radix: 16, uppercase: true).dropFirst())
  }
}
