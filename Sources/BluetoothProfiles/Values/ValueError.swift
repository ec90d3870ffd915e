/// The reason why octets are not a valid value of a characteristic or descriptor.
public enum ValueError: Error, Hashable, Sendable {
  /// The octets end before the last field.
  case tooShort
  /// Octets follow the last field in a value of fixed length.
  case tooLong
  /// A field holds a value that its specification forbids, such as month 13; `field` is the specification's name for
  /// it.
  case outOfRange(field: String)
}
