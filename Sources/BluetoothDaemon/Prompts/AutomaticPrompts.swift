import BluetoothHost
import BluetoothWire

/// Answers by itself, at once: for tests, and for programs that nobody sits at.
///
/// What a phone would ask about is refused unless it was said what is to be accepted: `AutomaticPrompts()` lets nobody pair,
/// lets no app use Bluetooth and turns nothing on.
package final class AutomaticPrompts: Prompts {
  /// What is accepted. Nothing is unless it is set.
  package struct Policy: Hashable, Sendable {
    /// May a peer pair that this device's app has given reason to?
    package var allowsOwnPairing = false
    /// May a peer pair that wants to?
    package var allowsPeersPairing = false
    /// May a new bond replace one, where pairing is allowed at all and the key of the old one has encrypted the link? Without
    /// that key anybody could be there, and no rule replaces the bond.
    package var allowsReplacingBonds = false
    /// Are two numbers that nobody compares taken as equal, where pairing is allowed at all?
    package var confirmsNumbers = false
    /// The digits that are typed, where pairing is allowed at all; nil: none, and the pairing fails.
    package var passkey: UInt32?
    /// May apps use Bluetooth?
    package var allowsApps = false
    /// Is Bluetooth turned on?
    package var turnsOn = false

    package init() {}

    /// Nothing is accepted.
    package static let refuse = Policy()

    /// Everything that needs no passkey is accepted, whoever asks. A bond is replaced only by the device it was made with.
    package static let accept: Policy = {
      var policy = Policy()
      policy.allowsOwnPairing = true
      policy.allowsPeersPairing = true
      policy.allowsReplacingBonds = true
      policy.confirmsNumbers = true
      policy.allowsApps = true
      policy.turnsOn = true
      return policy
    }()
  }

  package let ioCapability: SMP.IOCapability
  package let isUser: Bool
  package var isAutomatic: Bool { true }
  private let policy: Policy
  private let note: @Sendable (String) -> Void

  /// Prompts of a virtual device by default. One object serves all of them: it has no state.
  package static let accepting = AutomaticPrompts(.accept)

  /// - Parameters:
  ///   - ioCapability: what the peer is told; without any, nothing but `allow` is asked.
  ///   - isUser: it stands for somebody who has said it: what it says of an app is kept.
  ///   - note: is told a line about each thing that is refused.
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
      note("refused without asking anybody: \(prompt.question.summary)")
      reply(.no)
    case let answer?: reply(answer)
    }
  }

  package func withdraw(_ id: PromptID) {}
}

extension AutomaticPrompts.Policy {
  /// nil: none is wanted.
  func answer(to question: Prompt.Question) -> PairingAnswer? {
    switch question {
    case .useBluetooth: return allowsApps ? .yes : .no
    case .turnOn: return turnsOn ? .yes : .no
    case .pairing(let prompt, let pairing):
      guard pairing.isOwnWish ? allowsOwnPairing : allowsPeersPairing,
        !pairing.replacesBond || allowsReplacingBonds && pairing.isProven
      else { return .no }
      switch prompt {
      case .allow: return .yes
      // The digits are typed elsewhere: that is the consent.
      case .show: return nil
      case .enterPasskey: return passkey.map { .passkey($0) } ?? .no
      case .compare: return confirmsNumbers ? .yes : .no
      }
    }
  }
}
