/// The fields that measurements omit because a client has requested it. The mask is for all clients, and ends when the
/// client that has set it disconnects.
struct ContentMask: Sendable {
  private var bits: UInt16 = 0
  private var client: AccessoryClient?

  /// Sets the mask: bit n is 1 for each field n that is omitted.
  mutating func set(_ bits: UInt16, by client: AccessoryClient?) { (self.bits, self.client) = (bits, client) }

  /// Ends the mask if the client of the callback, which has disconnected, has set it.
  mutating func disconnected(in context: AccessoryContext) {
    if client == context.client { (bits, client) = (0, nil) }
  }

  /// Returns true if measurements have the field with this number.
  func keeps(_ field: Int) -> Bool { bits & 1 << field == 0 }
}
