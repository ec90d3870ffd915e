import CBluetoothCrypto

/// OpenSSL's libcrypto, which has the primitives of this module. The first use loads it. Without a library, the first
/// use ends the program, so programs ask for the version before.
package enum CryptoLibrary {
  /// Returns the name and the version of the library, such as "OpenSSL 3.0.19 27 Jan 2026".
  package static func version() throws(MissingCryptoLibrary) -> String {
    guard let version = bluetooth_crypto_version() else { throw MissingCryptoLibrary() }
    return String(cString: version)
  }
}

/// The error of a machine without a library that this package can use.
package struct MissingCryptoLibrary: Error, CustomStringConvertible {
  /// The error of the system's loader.
  package var reason: String { bluetooth_crypto_failure().map { String(cString: $0) } ?? "no usable libcrypto" }
  /// The action by which a user provides the library.
  package var remedy: String { BLUETOOTH_CRYPTO_REMEDY }
  package var description: String { "\(reason); \(remedy)" }
}
