extension ValidRange {
  /// Returns the text of both values, decoded as values of the characteristic to which they belong.
  public func text(of characteristic: UInt16, format: PresentationFormat? = nil) -> String {
    let texts = [lower, upper].map { CharacteristicValues.text(of: characteristic, $0, format: format) }
    return texts.joined(separator: " to ")
  }
}
