import BluetoothDaemonProtocol

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The token that lets a user use a server over TCP.
package enum ServerToken {
  /// The minimum length in octets: shorter ones could be guessed.
  static let minimumLength = 16

  /// Reads the token in a file. Line breaks at its end do not belong to it.
  package static func read(_ path: String) throws(AdapterError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw AdapterError(description: "can't read the token in \(path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    let maximum = Hello.maximumTokenLength
    var octets = [UInt8](repeating: 0, count: maximum + 2)
    let count = octets.withUnsafeMutableBytes { systemRead(descriptor, $0) }
    guard count >= 0 else {
      throw AdapterError(description: "can't read the token in \(path): \(String(cString: strerror(errno)))")
    }
    octets.removeLast(octets.count - count)
    while let last = octets.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { octets.removeLast() }
    guard (minimumLength...maximum).contains(octets.count) else {
      throw AdapterError(
        description: "the token in \(path) has \(octets.count) octets: expected \(minimumLength) to \(maximum)")
    }
    return octets
  }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(descriptor, buffer.baseAddress, buffer.count)
}
