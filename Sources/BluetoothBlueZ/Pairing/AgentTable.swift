import BluetoothDBus
import BluetoothTypes

/// The agents that clients have registered: the interfaces to the users who answer the questions of pairing
/// · src/agent.c of BlueZ.
struct AgentTable {
  struct Agent: Hashable {
    /// The unique name of its client.
    let client: String
    let path: String
    let capability: IOCapability
  }

  private var agents: [Agent] = []
  /// The clients with an agent; the agent of the last one is the default. The first agent is the default until a client
  /// requests another one; the later ones follow it when it ends.
  private var defaults: [String] = []

  /// Returns the capability with this name; nil: there is none. An empty name means `KeyboardDisplay`.
  static func capability(_ name: String) -> IOCapability? {
    switch name {
    case "DisplayOnly": .displayOnly
    case "DisplayYesNo": .displayYesNo
    case "KeyboardOnly": .keyboardOnly
    case "NoInputNoOutput": .noInputNoOutput
    case "", "KeyboardDisplay": .keyboardDisplay
    default: nil
    }
  }

  /// The agent for pairings that no client has started; nil: there is none.
  var defaultAgent: Agent? { defaults.last.flatMap(agent) }

  func agent(of client: String) -> Agent? { agents.first { $0.client == client } }

  /// Handles a call of `AgentManager1`. Throws the error that answers it.
  mutating func handle(_ call: BusCall) throws(DBusError) {
    guard let path = call.arguments.first?.path else { throw .invalidCall }
    switch call.member {
    case "RegisterAgent":
      guard agent(of: call.sender) == nil else { throw .alreadyExists }
      guard let name = call.arguments.last?.string, let capability = Self.capability(name) else { throw .invalidCall }
      agents.append(Agent(client: call.sender, path: path, capability: capability))
      defaults.insert(call.sender, at: 0)
    case "UnregisterAgent":
      guard agent(of: call.sender)?.path == path else { throw .doesNotExist }
      remove(call.sender)
    default:
      guard agent(of: call.sender)?.path == path else { throw .doesNotExist }
      defaults.removeAll { $0 == call.sender }
      defaults.append(call.sender)
    }
  }

  /// Removes the agent of a client.
  mutating func remove(_ client: String) {
    agents.removeAll { $0.client == client }
    defaults.removeAll { $0 == client }
  }
}
