/// What can be given to a manager instead of a specifier: something that has an adapter.
package protocol AdapterSource: AnyObject {
  var adapter: any Adapter { get }
}

/// Why a specifier names no adapter.
package struct AdapterError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line: what is wrong, and what would be right.
  package let description: String
}

/// The adapters of this process, by specifier.
package enum AdapterRegistry {
  /// The adapter that `specifier` names.
  package static func adapter(for specifier: String) -> Result<any Adapter, AdapterError> {
    .failure(AdapterError(description: "the adapter \"\(specifier)\" is not there yet"))
  }
}
