import BluetoothDaemon
import BluetoothTransport

/// The kind of prompts of devices that run in real time, as set by the environment variable `COREBLUETOOTH_PROMPTS`.
package enum PromptsSetting: String, CaseIterable, Sendable {
  /// Asks at the terminal; refuses if there is none. This is the default.
  case terminal
  /// Accepts everything that needs no passkey, without asking the user.
  case accept
  /// Refuses everything.
  case refuse

  package static let environmentVariable = "COREBLUETOOTH_PROMPTS"

  static let hint = "Set \(environmentVariable)=accept to accept without asking, =refuse to refuse silently."

  /// Parses the variable's value; nil stands for a variable that is not set.
  package init(_ value: String?) throws(AdapterError) {
    guard let value, !value.isEmpty else {
      self = .terminal
      return
    }
    guard let setting = PromptsSetting(rawValue: value) else {
      let forms = Self.allCases.map(\.rawValue).joined(separator: ", ")
      throw AdapterError(
        description: "invalid \(Self.environmentVariable)=\(value): expected one of: \(forms)")
    }
    self = setting
  }

  /// The setting of this process's environment. An invalid value counts as not set and is logged once.
  package static var ofProcess: PromptsSetting {
    let value = SystemProcess.variable(environmentVariable)
    do throws(AdapterError) {
      return try PromptsSetting(value)
    } catch {
      DaemonLog.note("\(error)", of: "prompts")
      return .terminal
    }
  }

  package func makePrompts() -> any Prompts {
    switch self {
    case .terminal: TerminalPrompts()
    case .accept: AutomaticPrompts(.accept, isUser: false)
    case .refuse: AutomaticPrompts(.refuse, isUser: false)
    }
  }
}
