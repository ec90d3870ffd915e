import BluetoothWire

/// The host's use of the command interface, which a reset clears.
struct HostSettings {
  /// The generation of commands that the host uses; nil: it has used neither yet.
  var commandGeneration: HCI.AdvertisingCommandSet?

  /// True if the host has not used a command of the other generation; its first command decides · 3.1.1.
  mutating func admits(_ command: ServedCommand) -> Bool {
    guard let generation = command.generation else { return true }
    if commandGeneration == nil { commandGeneration = generation }
    return commandGeneration == generation
  }
}
