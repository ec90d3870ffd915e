import BluetoothDaemon
import BluetoothWire

extension [BondRecord] {
  /// Returns the bonds that a user's text refers to: an identifier, an address as six octets in hexadecimal, or a name.
  /// A name can be any text, even another device's address, so it is compared last.
  package func named(_ text: String) -> [BondRecord] {
    let query = text.lowercased()
    let ways: [(BondRecord) -> Bool] = [
      { $0.identifier.digits.lowercased() == query }, { $0.bluezFolder.lowercased() == query }, { $0.name == text },
    ]
    for way in ways {
      let found = filter(way)
      if !found.isEmpty { return found }
    }
    return []
  }
}
