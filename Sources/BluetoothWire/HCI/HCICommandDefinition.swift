extension HCI {
  /// The row of a command: the facts that do not depend on its parameters. Hosts, controllers and captures derive their
  /// tables from the rows in `commands`.
  package final class CommandDefinition: HCIDefinition {
    package let opcode: Opcode
    /// The specification's name without `HCI_`.
    package let name: StaticString
    /// The octet and the bit in Supported_Commands · Vol 4, Part E, 6.27; nil: the command has no bit.
    package let supportedCommandsPosition: (octet: Int, bit: Int)?
    /// The fields of the command; nil: they are not decoded.
    let fields: Fields<Command>?
    package let answer: Answer
    package let requirement: CommandRequirement
    /// The generation of commands to which the command belongs; nil: a host may use it with both · 3.1.1.
    package let generation: AdvertisingCommandSet?
    /// The position of the keys in the parameters; nil: they hold none.
    package let keys: Range<Int>?
    /// The position of the keys in the return parameters, where the status is octet 0; nil: they hold none.
    package let returnedKeys: Range<Int>?

    /// The event that answers a command · Vol 4, Part E, 4.4.
    package enum Answer: Sendable {
      /// Command Status when the command begins; another event reports its completion. Command Complete for such a
      /// command has only a status.
      case commandStatus
      /// Command Complete with these return parameters after the status; nil: with nothing but the status.
      case commandComplete(Fields<ReturnParameters>?)

      /// Command Complete with a status and a connection handle.
      static let handle = returns { (handle: ConnectionHandle) in .handle(.success, handle) }

      /// Command Complete with return parameters whose fields, after the status, are the parameters of `make`.
      @inline(__always)
      static func returns<each Field: HCIField>(
        _ make: @escaping @Sendable (repeat each Field) -> ReturnParameters
      ) -> Answer {
        .commandComplete(Fields(make))
      }
    }

    init(
      _ opcode: UInt16, _ name: StaticString, bit: (octet: Int, bit: Int)? = nil, _ fields: Fields<Command>?,
      _ answer: Answer = .commandComplete(nil), features: LEFeatures = [], roles: ControllerRoles = [],
      orFeatures: LEFeatures = [],
      since version: UInt8 = Version.bluetooth40, generation: AdvertisingCommandSet? = nil, keys: Range<Int>? = nil,
      returnedKeys: Range<Int>? = nil
    ) {
      self.opcode = Opcode(rawValue: opcode)
      self.name = name
      supportedCommandsPosition = bit
      self.fields = fields
      self.answer = answer
      requirement = CommandRequirement(
        anyFeature: features, roles: roles, featuresInsteadOfRoles: orFeatures, version: version)
      self.generation = generation
      self.keys = keys
      self.returnedKeys = returnedKeys
    }

    package var number: Opcode { opcode }

    /// The rows of all commands, in the order of the opcodes.
    package static var all: [CommandDefinition] { table.definitions }
    fileprivate static let table = HCITable<CommandDefinition>(of: commands, places: 16 << 8)
  }

  /// The two generations of commands for advertising, scanning and connecting: those of Bluetooth 4.0, and the extended
  /// commands that replace them. A host uses one generation or the other until the next reset · Vol 4, Part E, 3.1.1.
  package enum AdvertisingCommandSet: Hashable, Sendable {
    case legacy, extended
  }

  /// The properties of a controller that a command requires · Vol 4, Part E, 3, table 3.1.
  package struct CommandRequirement: Sendable {
    /// The features of which at least one is required; empty: no feature is required.
    let anyFeature: LEFeatures
    /// The roles that are all required, unless the controller has one of `featuresInsteadOfRoles`.
    let roles: ControllerRoles
    /// The features of which one is sufficient instead of the roles.
    let featuresInsteadOfRoles: LEFeatures
    /// The earliest version that has the command.
    let version: UInt8

    /// Returns true if a controller with these features, roles and version can have the command.
    package func isMet(features: LEFeatures, roles: ControllerRoles, version: UInt8) -> Bool {
      (anyFeature.isEmpty || !anyFeature.isDisjoint(with: features))
        && (self.roles.isSubset(of: roles) || !featuresInsteadOfRoles.isDisjoint(with: features))
        && self.version <= version
    }
  }
}

/// The roles that a device supports.
package struct ControllerRoles: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }
  package static let advertiser = ControllerRoles(rawValue: 1 << 0)
  package static let scanner = ControllerRoles(rawValue: 1 << 1)
  package static let central = ControllerRoles(rawValue: 1 << 2)
  package static let peripheral = ControllerRoles(rawValue: 1 << 3)
  package static let all: ControllerRoles = [.advertiser, .scanner, .central, .peripheral]
}

extension HCI {
  /// Versions of the specification as HCI_Version and LL Version have them · Assigned Numbers, 2.1.
  package enum Version {
    package static let bluetooth40: UInt8 = 0x06
    package static let bluetooth42: UInt8 = 0x08
    package static let bluetooth50: UInt8 = 0x09
    package static let bluetooth51: UInt8 = 0x0A
  }
}

extension HCI.Opcode: HCIRowNumber {
  /// No command has a group from 16 on or a command number from 256 on.
  package var place: Int? { group < 16 && command < 256 ? Int(group) << 8 | Int(command) : nil }

  /// The row of the command; nil: it has none.
  package var definition: HCI.CommandDefinition? { HCI.CommandDefinition.table[self] }
}
