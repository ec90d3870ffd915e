import BluetoothHost
import BluetoothWire

/// What the service does by itself on every link that an app uses: learn the peer's services and its name. Apps' requests
/// go first: a step waits until the link has been quiet for a while, because an answer is mostly followed by the app's next
/// request. (The host asks to be told of changes of the services.)
struct LinkPreparation {
  enum Step: UInt8 {
    case findServices, findNameCharacteristic, readName
  }

  /// What a step asks the peer for.
  enum Task {
    case discovery(DiscoveryProcedure)
    case request(GATTRequest)
  }

  /// How long a link has to be quiet.
  static let pause = TimeSpan.milliseconds(100)
  /// A step that waits this many completions of apps' requests is done between them.
  static let patience = 8

  private var next: Step? = .findServices
  private var running: Task?
  private var completions = 0
  private var notBefore = Instant.zero

  /// When the next step is due if the link stays quiet; nil: none is left, or one is under way, or apps wait for the peer.
  func deadline(openRequests: Int) -> Instant? {
    running == nil && next != nil && openRequests == 0 ? notBefore : nil
  }

  func isDue(openRequests: Int, at now: Instant) -> Bool {
    guard running == nil, next != nil else { return false }
    return openRequests == 0 && notBefore <= now || completions >= Self.patience
  }

  /// An app has asked for something, or got its answer.
  mutating func linkWasUsed(at now: Instant) { notBefore = now + Self.pause }

  /// Takes the next step that there is something to do for. nil: none is left.
  mutating func begin(_ database: RemoteDatabase) -> (step: Step, task: Task)? {
    while let step = next {
      next = Step(rawValue: step.rawValue + 1)
      if let task = task(of: step, database) {
        running = task
        completions = 0
        return (step, task)
      }
    }
    return nil
  }

  mutating func requestCompleted() { completions += 1 }

  mutating func ended() { running = nil }

  /// Whether the step that is under way is this procedure.
  func awaits(_ procedure: DiscoveryProcedure) -> Bool {
    if case .discovery(let running)? = running { running == procedure } else { false }
  }

  private func task(of step: Step, _ database: RemoteDatabase) -> Task? {
    guard step != .findServices else { return database.primaryServices == nil ? .discovery(.services) : nil }
    let isGAP = { (service: GATTService) in service.uuid == SystemAttribute.genericAccess }
    guard let service = database.primaryServices?.first(where: isGAP)?.range.lowerBound else { return nil }
    let characteristics = database.characteristics(of: service)
    if step == .findNameCharacteristic {
      return characteristics == nil ? .discovery(.characteristics(of: service)) : nil
    }
    return characteristics?.first { $0.uuid == SystemAttribute.deviceName }.map { .request(.read($0.value)) }
  }
}

extension GATTSubscription {
  /// The value of a Client Characteristic Configuration descriptor.
  var octets: ByteSlice { [UInt8(truncatingIfNeeded: rawValue), UInt8(truncatingIfNeeded: rawValue >> 8)] }
}
