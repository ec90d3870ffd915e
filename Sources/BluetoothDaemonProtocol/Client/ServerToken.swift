import BluetoothTransport
import BluetoothWire

/// The token that lets a user use a server over TCP.
package enum ServerToken {
  /// The minimum length in octets: shorter ones could be guessed.
  static let minimumLength = 16
  /// The maximum length of the file in octets.
  private static let maximumFileLength = 4_096

  /// Reads the token in a file. Line breaks at its end do not belong to it.
  package static func read(_ path: String) throws(AdapterError) -> [UInt8] {
    var octets: [UInt8]
    do throws(InputFile.Failure) {
      octets = try InputFile.octets(of: path, limit: maximumFileLength, .given)
    } catch {
      throw AdapterError(description: "can't read the token in \(error.file): \(error.reason)".printable)
    }
    let maximum = Hello.maximumTokenLength
    while let last = octets.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { octets.removeLast() }
    guard (minimumLength...maximum).contains(octets.count) else {
      throw AdapterError(
        description: "the token in \(path) has \(octets.count) octets: expected \(minimumLength) to \(maximum)"
          .printable)
    }
    return octets
  }
}

extension ServerSpecifier {
  /// Returns the token for a server over TCP; empty if none is named, or for a Unix socket.
  ///
  /// - Parameter file: the file with the token; nil: the one that the environment names.
  package func token(in file: String? = nil) throws(AdapterError) -> [UInt8] {
    if let file { return try ServerToken.read(file) }
    guard case .tcp = place, let path = SystemProcess.variable(Self.tokenVariable), !path.isEmpty else { return [] }
    return try ServerToken.read(path)
  }
}
