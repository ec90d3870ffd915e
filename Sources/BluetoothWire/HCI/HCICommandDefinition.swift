extension HCI {
  /// The facts about a command that do not depend on its parameters. `CommandCode.definition` returns the facts for
  /// every command; hosts, controllers and captures derive their tables from them.
  package struct CommandDefinition: Sendable {
    /// The specification's name without `HCI_`.
    package let name: StaticString
    /// The octet and the bit in Supported_Commands · Vol 4, Part E, 6.27; nil: the command has no bit.
    package let supportedCommandsPosition: (octet: Int, bit: Int)?
    package let answer: Answer
    package let requirement: CommandRequirement
    /// The generation of commands to which the command belongs; nil: a host may use it with both · 3.1.1.
    package let generation: AdvertisingCommandSet?
    /// The position of the keys in the parameters; nil: they hold none.
    package let keys: Range<Int>?
    /// The position of the keys in the return parameters, where the status is octet 0; nil: they hold none.
    package let returnedKeys: Range<Int>?

    /// The event that answers a command · Vol 4, Part E, 4.4.
    package enum Answer: Hashable, Sendable {
      /// Command Status when the command begins; another event reports its completion.
      case commandStatus
      /// Command Complete with return parameters of this form.
      case commandComplete(ReturnForm)
    }

    init(
      _ name: StaticString, bit: (octet: Int, bit: Int)? = nil, _ answer: Answer = .commandComplete(.status),
      features: LEFeatures = [],
      roles: ControllerRoles = [], orFeatures: LEFeatures = [], since version: UInt8 = Version.bluetooth40,
      generation: AdvertisingCommandSet? = nil, keys: Range<Int>? = nil, returnedKeys: Range<Int>? = nil
    ) {
      self.name = name
      supportedCommandsPosition = bit
      self.answer = answer
      requirement = CommandRequirement(
        anyFeature: features, roles: roles, featuresInsteadOfRoles: orFeatures, version: version)
      self.generation = generation
      self.keys = keys
      self.returnedKeys = returnedKeys
    }

    /// The form of the return parameters. Command Complete for a command that is usually answered with Command Status
    /// has only a status.
    package var returns: ReturnForm {
      switch answer {
      case .commandStatus: .status
      case .commandComplete(let form): form
      }
    }
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
