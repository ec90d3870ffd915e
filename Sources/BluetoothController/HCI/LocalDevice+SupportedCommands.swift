import BluetoothWire

extension LocalDevice {
  /// The commands that this controller knows but does not implement: LE Host Support, Read Buffer Size [v2]
  /// (isochronous channels), direct test mode, and RF path compensation. It implements all other commands in
  /// `HCI.commands`. It responds with Unknown HCI Command to these commands and to commands whose feature, role or
  /// version the configuration excludes.
  private static let unserved: Set<HCI.Opcode> = [
    .readLEHostSupport, .writeLEHostSupport, .leReadBufferSizeV2, .leReceiverTest, .leTransmitterTest, .leTestEnd,
    .leReadRFPathCompensation, .leWriteRFPathCompensation,
  ]

  /// The commands that this controller implements. The bitmap of Read Local Supported Commands follows from them.
  fileprivate static let served = HCI.CommandDefinition.all.filter { !unserved.contains($0.opcode) }

  /// Returns the properties of a command; nil if the controller does not support it.
  mutating func supported(_ opcode: HCI.Opcode) -> ServedCommand? {
    guard let command = ServedCommands.all[opcode],
      command.requirement.isMet(
        features: features, roles: configuration.roles, version: configuration.version)
    else { return nil }
    return command
  }

  mutating func supports(_ opcode: HCI.Opcode) -> Bool { supported(opcode) != nil }

  var supportedOpcodes: [HCI.Opcode] { mutating get { Self.served.map(\.opcode).filter { supports($0) } } }

  /// BR/EDR not supported, LE supported · Vol 2, Part C, 3.3.
  static let lmpFeatures: HCI.LMPFeatures = [.bredrNotSupported, .leSupported]
}

/// The properties of a command that are needed before its parameters are decoded.
struct ServedCommand {
  fileprivate let requirement: HCI.CommandRequirement
  /// The generation of the command; nil: it belongs to both.
  let generation: HCI.AdvertisingCommandSet?
}

/// The supported commands by opcode. The lookup runs for every command, so it is an array index instead of a hundred
/// comparisons or the hashing of an opcode.
private struct ServedCommands {
  static let all = ServedCommands(LocalDevice.served)

  private var commands: [ServedCommand] = []
  /// The index in `commands` plus 1, by opcode; 0: not supported.
  private var places = [UInt8](repeating: 0, count: capacity)

  /// The size of the table. No supported command has a group from 16 on or a command number from 256 on.
  private static let capacity = 16 << 8

  private init(_ definitions: [HCI.CommandDefinition]) {
    for definition in definitions {
      commands.append(ServedCommand(requirement: definition.requirement, generation: definition.generation))
      guard let place = Self.place(of: definition.opcode) else {
        preconditionFailure("no place for command \(definition.opcode)")
      }
      places[place] = UInt8(commands.count)
    }
  }

  private static func place(of opcode: HCI.Opcode) -> Int? {
    opcode.command < 256 && opcode.group < 16 ? Int(opcode.group) << 8 + Int(opcode.command) : nil
  }

  subscript(opcode: HCI.Opcode) -> ServedCommand? {
    guard let place = Self.place(of: opcode), places[place] > 0 else { return nil }
    return commands[Int(places[place]) - 1]
  }
}
