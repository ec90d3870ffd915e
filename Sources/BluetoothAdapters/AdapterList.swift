import BluetoothTransport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An adapter that a specifier names.
package struct AdapterDescription: Hashable, Sendable {
  /// The place of the controller.
  package enum Kind: Hashable, Sendable {
    /// In this process.
    case simulated
    /// Linux's, or on a serial line of this machine.
    case local
    /// Behind a socket: another process, perhaps on another machine.
    case remote
  }

  package let specifier: String
  package let kind: Kind
}

extension AdapterRegistry {
  /// Returns the adapters that are known without trying: `virtual`, those of Linux, and `named`, if it is valid and not
  /// among them.
  ///
  /// - Parameters:
  ///   - named: the value of an environment variable; nil: none.
  ///   - folder: the folder in which Linux lists its adapters.
  package static func knownAdapters(
    named: String? = nil, folder: String = "/sys/class/bluetooth"
  ) -> [AdapterDescription] {
    var result = [AdapterDescription(specifier: "virtual", kind: .simulated)]
    for number in adapterNumbers(in: folder) {
      result.append(AdapterDescription(specifier: "hci:\(number)", kind: .local))
    }
    if let named, let specifier = try? ServerSpecifier(named) {
      result.append(AdapterDescription(specifier: "\(specifier)", kind: .remote))
    } else if let named, let specifier = try? TransportSpecifier(named) {
      let text = "\(specifier)"
      if !result.contains(where: { $0.specifier == text }) {
        result.append(AdapterDescription(specifier: text, kind: specifier.kind))
      }
    }
    return result
  }

  /// Returns the numbers of Linux's adapters in ascending order. Their folders are `hci` and the number; those of
  /// connections have a colon.
  private static func adapterNumbers(in folder: String) -> [Int] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var numbers: [Int] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
          String(cString: $0)
        }
      }
      if name.hasPrefix("hci"), let number = Int(name.dropFirst(3)), number >= 0 { numbers.append(number) }
    }
    return numbers.sorted()
  }
}

extension TransportSpecifier {
  fileprivate var kind: AdapterDescription.Kind {
    switch self {
    case .tcp, .unix: .remote
    case .serial, .hci: .local
    }
  }
}
