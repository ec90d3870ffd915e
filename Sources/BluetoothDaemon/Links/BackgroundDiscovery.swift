import BluetoothHost
import BluetoothWire

/// Background discovery: the daemon itself discovers the services and the name of the peer on every link that an app
/// uses. This type decides which step comes next; the host decides when, because apps' requests go first
/// (`Host.awaitBackgroundTurn`). (The host subscribes to Service Changed.)
struct BackgroundDiscovery {
  enum Step: UInt8 {
    case findServices, findNameCharacteristic, readName
  }

  /// A request that a step makes to the peer.
  enum Task {
    case discovery(DiscoveryRequest)
    case request(GATTRequest)
  }

  private enum State {
    case waiting(Step)
    case running(Task, next: Step?)
    case done
  }

  private var state = State.waiting(.findServices)

  /// True if a step is left and none is running.
  var isWaiting: Bool {
    if case .waiting = state { true } else { false }
  }

  /// Starts and returns the next step that has something to do; nil: none is left, or one is running.
  ///
  /// - Parameter discoveries: The discoveries that apps have requested. The results of running ones are not used.
  mutating func begin(_ database: RemoteDatabase, _ discoveries: DiscoveryQueue) -> (step: Step, task: Task)? {
    while case .waiting(let step) = state {
      let next = Step(rawValue: step.rawValue + 1)
      if let task = task(of: step, database, discoveries) {
        state = .running(task, next: next)
        return (step, task)
      }
      state = next.map { .waiting($0) } ?? .done
    }
    return nil
  }

  /// Ends the running step.
  mutating func ended() {
    guard case .running(_, let next) = state else { return }
    state = next.map { .waiting($0) } ?? .done
  }

  /// Returns true if the running step is this procedure.
  func awaits(_ procedure: DiscoveryRequest) -> Bool {
    if case .running(.discovery(procedure), _) = state { true } else { false }
  }

  private func task(of step: Step, _ database: RemoteDatabase, _ discoveries: DiscoveryQueue) -> Task? {
    guard step != .findServices else {
      return database.primaryServices == nil || discoveries.isRunning(.services) ? .discovery(.services) : nil
    }
    let isGAP = { (service: GATTService) in service.uuid == SystemAttribute.genericAccess }
    guard let service = database.primaryServices?.first(where: isGAP)?.range.lowerBound else { return nil }
    let characteristics = database.characteristics(of: service)
    if step == .findNameCharacteristic {
      let procedure = DiscoveryRequest.characteristics(of: service)
      return characteristics == nil || discoveries.isRunning(procedure) ? .discovery(procedure) : nil
    }
    return characteristics?.first { $0.uuid == SystemAttribute.deviceName }.map { .request(.read($0.value)) }
  }
}

extension GATTSubscription {
  /// The value as the octets of a Client Characteristic Configuration descriptor.
  var octets: ByteSlice { [UInt8(truncatingIfNeeded: rawValue), UInt8(truncatingIfNeeded: rawValue >> 8)] }
}
