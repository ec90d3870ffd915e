import BluetoothHost
import BluetoothWire

/// The ID of a question of one adapter. It is never reused, not even after the question was answered or withdrawn.
package struct PromptID: Hashable, Sendable {
  package let number: UInt64
}

/// A question to the user.
package struct Prompt: Hashable, Sendable {
  package enum Question: Hashable, Sendable {
    /// Asks for the user's part in pairing two devices: see `PairingPrompt`.
    case pairing(PairingPrompt, Pairing)
    /// Asks whether this app may use Bluetooth, before the app's first manager learns the adapter's state. `usage` is
    /// the app's own description of its use.
    case useBluetooth(app: String, usage: String? = nil)
    /// Asks whether to switch Bluetooth on: at an app's first use, and for a manager that requests the alert.
    case turnOn
    /// Asks whether a bonded accessory may get the notifications of the system.
    case shareNotifications(Pairing)
  }

  /// The pairing that a question belongs to.
  package struct Pairing: Hashable, Sendable {
    /// The identifier by which apps know the peer.
    package var identifier: PeerIdentifier
    /// The peer's own name, which can be any text chosen by anyone; nil: unknown.
    package var name: String?
    /// True if an app of this device has accessed a protected attribute, false if the peer wants to pair.
    package var isLocallyInitiated: Bool
    /// True if the new bond would replace an existing one with this peer: another device may be using the peer's
    /// address.
    package var replacesBond: Bool
    /// True if the key of that bond has encrypted the link: the peer is the bonded device.
    package var isProven: Bool

    package init(
      identifier: PeerIdentifier, name: String?, isLocallyInitiated: Bool, replacesBond: Bool, isProven: Bool = false
    ) {
      self.identifier = identifier
      self.name = name
      self.isLocallyInitiated = isLocallyInitiated
      self.replacesBond = replacesBond
      self.isProven = isProven
    }
  }

  package let id: PromptID
  package let question: Question
}

/// The interface that asks the user of one adapter. It belongs to the adapter and not to an app: an app can't answer
/// for the user.
///
/// The adapter's runner calls the methods one after the other. They must not block.
package protocol Prompts: AnyObject, Sendable {
  /// The user's input and output capability, as pairing sends it to the peer · Vol 3, Part H, 2.3.2. It never changes.
  var ioCapability: SMP.IOCapability { get }

  /// True if a user answers, rather than a rule or no one: answers about apps are then kept across runs.
  var isUser: Bool { get }

  /// True if a fixed rule answers, without a decision on the single question.
  var isAutomatic: Bool { get }

  /// Asks the user. Several questions may be open at a time, but only one for each pairing.
  ///
  /// `show` needs no answer and stays until it is withdrawn; answering it with `no` ends the pairing. Every other
  /// question ends with the first answer that is not a keypress.
  func ask(_ prompt: Prompt, reply: PromptReply)

  /// Withdraws a question: the pairing has ended, the peer or the app is gone, or the question has been answered by
  /// other means. Later answers are ignored.
  func withdraw(_ id: PromptID)

  /// Reports that the peer's user is entering the passkey that `show` displays · Vol 3, Part H, 3.5.8.
  func keypress(_ notification: SMP.KeypressNotification, for id: PromptID)
}

extension Prompts {
  package var isUser: Bool { true }
  package var isAutomatic: Bool { false }

  package func keypress(_ notification: SMP.KeypressNotification, for id: PromptID) {}
}

/// The function that sends answers to the adapter: from any thread, also from within `ask`, and without blocking.
package struct PromptReply: Sendable {
  private let inbox: PromptInbox
  private let id: PromptID

  init(_ inbox: PromptInbox, _ id: PromptID) {
    self.inbox = inbox
    self.id = id
  }

  /// Sends an answer.
  ///
  /// - Parameter delay: the delay of the answer, in the adapter's own time.
  package func callAsFunction(_ answer: PairingAnswer, after delay: TimeSpan = .zero) {
    inbox.post(PromptInbox.Reply(id: id, answer: answer, delay: delay))
  }
}
