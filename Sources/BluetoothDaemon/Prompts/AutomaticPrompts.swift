import BluetoothHost
import BluetoothWire

/// Prompts that a fixed rule answers at once: for tests, and for programs without a user.
///
/// The prompts refuse every request that the policy does not accept: by default, `AutomaticPrompts()` refuses pairing,
/// the use of Bluetooth by apps, and switching Bluetooth on.
package final class AutomaticPrompts: Prompts {
  /// The requests that are accepted; none by default.
  package struct Policy: Hashable, Sendable {
    /// True if pairing is allowed when an app of this device has caused it.
    package var allowsOwnPairing = false
    /// True if pairing is allowed when the peer has requested it.
    package var allowsPeersPairing = false
    /// True if an allowed pairing may replace an existing bond. The key of the existing bond must have encrypted the
    /// link: otherwise the peer could be any device, and the bond is never replaced.
    package var allowsReplacingBonds = false
    /// True if numeric comparison is confirmed without comparing the numbers, in an allowed pairing.
    package var confirmsNumbers = false
    /// The passkey that is entered in an allowed pairing; nil: passkey entry fails.
    package var passkey: UInt32?
    /// True if apps may use Bluetooth.
    package var allowsApps = false
    /// True if Bluetooth is switched on at an app's request.
    package var turnsOn = false
    /// True if bonded accessories get the notifications of the system.
    package var sharesNotifications = false

    package init() {}

    /// Accepts nothing.
    package static let refuse = Policy()

    /// Accepts every request that needs no passkey. Only the bonded device itself can replace a bond.
    package static let accept: Policy = {
      var policy = Policy()
      policy.allowsOwnPairing = true
      policy.allowsPeersPairing = true
      policy.allowsReplacingBonds = true
      policy.confirmsNumbers = true
      policy.allowsApps = true
      policy.turnsOn = true
      policy.sharesNotifications = true
      return policy
    }()
  }

  package let ioCapability: SMP.IOCapability
  package let isUser: Bool
  package var isAutomatic: Bool { true }
  private let policy: Policy
  private let note: @Sendable (String) -> Void

  /// The default prompts of virtual devices. The object has no state, so all devices share it.
  package static let accepting = AutomaticPrompts(.accept)

  /// Creates prompts that answer by `policy`.
  ///
  /// - Parameters:
  ///   - ioCapability: the IO capability sent to the peer; with the default, `allow` is the only question of a pairing.
  ///   - isUser: true if the rule stands for a user's own answers, so that its answers about apps are stored.
  ///   - note: called with one line about each refusal.
  package init(
    _ policy: Policy = .refuse, ioCapability: SMP.IOCapability = .noInputNoOutput, isUser: Bool = true,
    note: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.policy = policy
    self.ioCapability = ioCapability
    self.isUser = isUser
    self.note = note
  }

  package func ask(_ prompt: Prompt, reply: PromptReply) {
    switch policy.answer(to: prompt.question) {
    case nil: break
    case .no?:
      note("refused automatically: \(prompt.question.summary)")
      reply(.no)
    case let answer?: reply(answer)
    }
  }

  package func withdraw(_ id: PromptID) {}
}

extension AutomaticPrompts.Policy {
  /// Returns the answer to a question; nil: the question needs no answer.
  package func answer(to question: Prompt.Question) -> PairingAnswer? {
    switch question {
    case .useBluetooth: return allowsApps ? .yes : .no
    case .turnOn: return turnsOn ? .yes : .no
    case .shareNotifications: return sharesNotifications ? .yes : .no
    case .pairing(let prompt, let pairing):
      guard pairing.isLocallyInitiated ? allowsOwnPairing : allowsPeersPairing,
        !pairing.replacesBond || allowsReplacingBonds && pairing.isProven
      else { return .no }
      switch prompt {
      case .allow: return .yes
      // The passkey is entered on the peer; entering it is the consent.
      case .show: return nil
      case .enterPasskey: return passkey.map { .passkey($0) } ?? .no
      case .compare: return confirmsNumbers ? .yes : .no
      }
    }
  }
}
