import BluetoothDaemon
import BluetoothTransport

/// A kind of adapter. `AdapterRegistry` lists all; messages, help, `ble doctor` and the table of
/// `Documentation/Adapters.md` are made from them.
package protocol AdapterScheme: Sendable {
  /// The text of a specifier before the first colon or comma, such as `tcp`.
  var name: String { get }
  var kind: AdapterKind { get }
  var form: AdapterForm { get }
  /// Returns the adapters that are known without trying.
  func knownAdapters(of machine: Machine) -> [any AdapterSpecifier]
  /// Reads a specifier that begins with the name.
  func read(_ text: String) throws(SpecifierProblem) -> any AdapterSpecifier
}

extension AdapterScheme {
  package func knownAdapters(of machine: Machine) -> [any AdapterSpecifier] { [] }
}

/// The form of a specifier, and the texts about it. The last two are noun phrases in Markdown.
package struct AdapterForm: Sendable {
  /// For example `tcp:HOST:PORT`.
  package let syntax: String
  /// A valid specifier.
  package let example: String
  /// The controller that a specifier names.
  package let meaning: String
  /// The requirements of the adapter on the machine.
  package let requirements: String

  package init(_ syntax: String, example: String, meaning: String, requirements: String) {
    (self.syntax, self.example) = (syntax, example)
    (self.meaning, self.requirements) = (meaning, requirements)
  }
}

/// The place of an adapter's controller.
package enum AdapterKind: Hashable, Sendable {
  /// In this process.
  case simulated
  /// Linux's, or on a serial line of this machine.
  case local
  /// Behind a socket: in another process, perhaps on another machine.
  case remote
  /// Known only to another process, which has the host and the bonds, too.
  case server
}

/// A specifier that a scheme has read: the name of one adapter. Its description is the specifier in its complete form.
package protocol AdapterSpecifier: Hashable, Sendable, CustomStringConvertible {
  associatedtype Scheme: AdapterScheme
  var scheme: Scheme { get }
  /// The device that only one adapter can use; nil: there is none.
  var device: String? { get }
  /// The advice for an adapter that does not answer.
  var remedy: String { get }
  /// Returns what the adapter needs, and if this machine has it.
  func checks(on machine: Machine) -> [AdapterCheck]
  /// Makes the adapter, which starts at once. Called once for each specifier that a program uses.
  func makeAdapter(_ context: AdapterContext) throws(AdapterError) -> any DaemonAdapter
}

extension AdapterSpecifier {
  package var kind: AdapterKind { scheme.kind }
  package var device: String? { nil }
  package var remedy: String { AdapterCheck.advice }
  package func checks(on machine: Machine) -> [AdapterCheck] { [] }
}
