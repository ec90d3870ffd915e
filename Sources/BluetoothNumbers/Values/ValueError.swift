/// Why octets are not a value of a characteristic or descriptor.
public enum ValueError: Error, Hashable, Sendable {
  /// There are fewer octets than the fields need.
  case tooShort
  /// There are more octets than the fields need, in a value of fixed length.
  case tooLong
  /// A field holds what its specification forbids, such as month 13; `field` is the specification's name for it.
  case outOfRange(field: String)
}
