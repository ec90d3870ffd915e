extension String {
  /// Returns the longest beginning of the text whose UTF-8 has at most `limit` octets, cut between two Unicode scalars.
  ///
  /// - Parameter limit: the maximum number of octets; by default that of a text in a message.
  package func cut(toOctets limit: Int = DaemonProtocol.maximumTextLength) -> String {
    var (count, end) = (0, unicodeScalars.startIndex)
    while end < unicodeScalars.endIndex {
      count += UTF8.width(unicodeScalars[end])
      if count > limit { return String(unicodeScalars[..<end]) }
      end = unicodeScalars.index(after: end)
    }
    return self
  }
}
