/// The Attribute Protocol · Vol 3, Part F.
package enum ATT {
  /// The ATT_MTU of a bearer before the MTU exchange, in octets · Vol 3, Part G, 5.2.1.
  package static let defaultMTU = 23
  /// The maximum length of an attribute value, in octets · Vol 3, Part F, 3.2.9.
  package static let maximumValueLength = 512

  /// The Error Code of an Error Response · 3.4.1.1.
  package typealias ErrorCode = ATTErrorCode
}
