/// The Attribute Protocol · Vol 3, Part F.
package enum ATT {
  /// The ATT_MTU of a bearer before the MTU exchange, in octets · Vol 3, Part G, 5.2.1.
  package static let defaultMTU = 23
  /// The maximum length of an attribute value, in octets · Vol 3, Part F, 3.2.9.
  package static let maximumValueLength = 512
  /// The maximum length of a value that a client can read, in octets: some servers have values longer than
  /// `maximumValueLength`, and the offset of a Read Blob Request has 16 bits · Vol 3, Part F, 3.4.4.5.
  package static let maximumReadLength = 65_535

  /// The Error Code of an Error Response · 3.4.1.1.
  package typealias ErrorCode = ATTErrorCode
}
