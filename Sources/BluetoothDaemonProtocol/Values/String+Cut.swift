extension String {
  /// Returns the beginning of the text whose UTF-8 has at most `limit` octets.
  ///
  /// - Parameter limit: the maximum number of octets; by default that of a text in a message.
  package func cut(toOctets limit: Int = DaemonProtocol.maximumTextLength) -> String {
    guard utf8.count > limit else { return self }
    var result = self
    while result.utf8.count > limit { result.removeLast() }
    return result
  }
}
