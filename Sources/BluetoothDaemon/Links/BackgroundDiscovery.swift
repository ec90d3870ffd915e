import BluetoothHost
import BluetoothWire

/// Background discovery: the daemon itself discovers the services and the name of the peer on every link that an app
/// uses. Apps' requests go first: a step waits until the link has been quiet for a while, because an app usually
/// follows up an answer with its next request. (The host subscribes to Service Changed.)
struct BackgroundDiscovery {
  enum Step: UInt8 {
    case findServices, findNameCharacteristic, readName
  }

  /// A request that a step makes to the peer.
  enum Task {
    case discovery(DiscoveryProcedure)
    case request(GATTRequest)
  }

  /// The time for which a link must be quiet before a step begins.
  static let pause = TimeSpan.milliseconds(100)
  /// The number of completed requests of apps after which a waiting step runs between them.
  static let deferralLimit = 8

  private var next: Step? = .findServices
  private var running: Task?
  private var completions = 0
  private var notBefore = Instant.zero

  /// Returns the time of the next step if the link stays quiet; nil: no step is left, one is running, or apps wait for
  /// the peer.
  func deadline(openRequests: Int) -> Instant? {
    running == nil && next != nil && openRequests == 0 ? notBefore : nil
  }

  func isDue(openRequests: Int, at now: Instant) -> Bool {
    guard running == nil, next != nil else { return false }
    return openRequests == 0 && notBefore <= now || completions >= Self.deferralLimit
  }

  /// Restarts the quiet time, after an app's request or an answer to it.
  mutating func linkWasUsed(at now: Instant) { notBefore = now + Self.pause }

  /// Starts and returns the next step that has something to do; nil: none is left.
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

  /// Returns true if the running step is this procedure.
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
  /// The value as the octets of a Client Characteristic Configuration descriptor.
  var octets: ByteSlice { [UInt8(truncatingIfNeeded: rawValue), UInt8(truncatingIfNeeded: rawValue >> 8)] }
}
