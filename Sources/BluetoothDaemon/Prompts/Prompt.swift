import BluetoothHost
import BluetoothWire

/// Names a question of one adapter, until it is answered or withdrawn and for ever after.
package struct PromptID: Hashable, Sendable {
  package let number: UInt64
  package init(number: UInt64) { self.number = number }
}

/// What the user is asked.
package struct Prompt: Hashable, Sendable {
  package enum Question: Hashable, Sendable {
    /// Two devices pair: `PairingPrompt`.
    case pairing(PairingPrompt, Pairing)
    /// May this app use Bluetooth? Asked before its first manager learns the adapter's state.
    case useBluetooth(app: String)
    /// Bluetooth is off: turn it on? Asked at an app's first use, and for a manager that wants to show the alert.
    case turnOn
  }

  /// The pairing that a question belongs to.
  package struct Pairing: Hashable, Sendable {
    /// Under which the app knows the peer.
    package var identifier: PeerIdentifier
    /// What the peer calls itself: anybody can choose any text. nil: it has not said.
    package var name: String?
    /// This device's app has accessed what is protected; false: the peer wants to pair.
    package var isOwnWish: Bool
    /// There is a bond with this peer, which the new one would replace: it may be somebody else who uses its address.
    package var replacesBond: Bool
    /// True if the key of that bond has encrypted the link: the peer is the bonded device.
    package var isProven: Bool

    package init(
      identifier: PeerIdentifier, name: String?, isOwnWish: Bool, replacesBond: Bool, isProven: Bool = false
    ) {
      self.identifier = identifier
      self.name = name
      self.isOwnWish = isOwnWish
      self.replacesBond = replacesBond
      self.isProven = isProven
    }
  }

  package let id: PromptID
  package let question: Question

  package init(id: PromptID, question: Question) {
    self.id = id
    self.question = question
  }
}

/// Who asks the user of one adapter. It belongs to the adapter, and not to an app: an app can't answer for the user.
///
/// All methods are called by whoever runs the adapter, one after the other, and must not wait.
package protocol Prompts: AnyObject, Sendable {
  /// What the user can see and type, as pairing tells it to the peer · Vol 3, Part H, 2.3.2. It never changes.
  var ioCapability: SMP.IOCapability { get }

  /// Somebody answers, and not a rule or nobody at all: what is said of an app counts from one run to the next.
  var isUser: Bool { get }

  /// True if a fixed rule answers and nobody looks at the single question.
  var isAutomatic: Bool { get }

  /// Asks. Several questions may be open at a time, those of one pairing never.
  ///
  /// `show` wants no answer and stays until it is withdrawn; `no` to it ends the pairing. All others end with the first
  /// answer that is no keypress.
  func ask(_ prompt: Prompt, reply: PromptReply)

  /// The question is void: the pairing has ended, the peer is gone, the app is gone, or it was answered otherwise. Answers
  /// that still come are lost.
  func withdraw(_ id: PromptID)

  /// The peer's user types what `show` has shown · Vol 3, Part H, 3.5.8.
  func keypress(_ notification: SMP.KeypressNotification, for id: PromptID)
}

extension Prompts {
  package var isUser: Bool { true }
  package var isAutomatic: Bool { false }

  package func keypress(_ notification: SMP.KeypressNotification, for id: PromptID) {}
}

/// The way of answers back to the adapter: from any thread, also from within `ask`, and without waiting.
package struct PromptReply: Sendable {
  private let inbox: PromptInbox
  private let id: PromptID

  init(_ inbox: PromptInbox, _ id: PromptID) {
    self.inbox = inbox
    self.id = id
  }

  /// Answers.
  ///
  /// - Parameter delay: how much later, in the adapter's own time, the user is to have said it.
  package func callAsFunction(_ answer: PairingAnswer, after delay: TimeSpan = .zero) {
    inbox.post(PromptInbox.Reply(id: id, answer: answer, delay: delay))
  }
}
