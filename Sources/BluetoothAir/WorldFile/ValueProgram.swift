/// A program that the values of a characteristic come from, while `ble serve` plays the peripheral.
package struct ValueProgram: Hashable, Sendable {
  /// The ways in which a program runs.
  package enum Kind: Hashable, Sendable {
    /// It runs for each read and each notification, and its output is the value.
    case command
    /// It runs as long as the peripheral is served, and each line of its output is a value.
    case lines
  }

  /// The ways in which output is a value.
  package enum Output: Hashable, Sendable {
    /// The output in UTF-8, without the line break at its end.
    case text
    /// The output as it is.
    case octets
    /// The output in the form of a value on the command line, such as `u16:500`.
    case value
  }

  /// The way in which the program runs.
  package var kind: Kind
  /// The command line for the shell; `-` with `lines`: the standard input takes the place of a program.
  package var command: String
}
