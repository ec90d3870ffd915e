import BluetoothHost
import BluetoothWire

/// What the system does by itself on every link that an app uses: learn the peer's name and ask to be told when its
/// services change. Apps' requests go first.
struct LinkPreparation {
  enum Step: UInt8 {
    case findServices, findNameCharacteristic, readName, findChangedCharacteristic, findChangedDescriptors
    case configureChanged
  }

  /// What a step asks the peer for.
  enum Task {
    case discovery(DiscoveryProcedure)
    case request(GATTRequest)
  }

  /// A step that waits this many completions of apps' requests is done between them.
  static let patience = 8

  private var next: Step? = .findServices
  private var running: Task?
  private var completions = 0

  /// Where indications of Service Changed come from.
  private(set) var serviceChanged: AttributeHandle?

  /// Whether it is time for a step, if there is one left.
  func isDue(openRequests: Int) -> Bool {
    running == nil && next != nil && (openRequests == 0 || completions >= Self.patience)
  }

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

  private mutating func task(of step: Step, _ database: RemoteDatabase) -> Task? {
    switch step {
    case .findServices:
      return database.primaryServices == nil ? .discovery(.services) : nil
    case .findNameCharacteristic:
      return findCharacteristics(of: SystemAttribute.genericAccess, database)
    case .readName:
      return value(SystemAttribute.deviceName, in: SystemAttribute.genericAccess, database).map {
        .request(.read($0))
      }
    case .findChangedCharacteristic:
      return findCharacteristics(of: SystemAttribute.genericAttribute, database)
    case .findChangedDescriptors:
      serviceChanged = value(SystemAttribute.serviceChanged, in: SystemAttribute.genericAttribute, database)
      guard let serviceChanged, database.descriptorRange(ofValue: serviceChanged) != nil,
        database.descriptors(ofValue: serviceChanged) == nil
      else { return nil }
      return .discovery(.descriptors(of: serviceChanged))
    case .configureChanged:
      guard let serviceChanged,
        let configuration = database.descriptors(ofValue: serviceChanged)?.first(where: {
          $0.uuid == SystemAttribute.clientCharacteristicConfiguration
        })
      else { return nil }
      return .request(.write(configuration.handle, GATTSubscription.indication.octets))
    }
  }

  private func findCharacteristics(of uuid: BluetoothUUID, _ database: RemoteDatabase) -> Task? {
    guard let service = database.primaryServices?.first(where: { $0.uuid == uuid }),
      database.characteristics(of: service.range.lowerBound) == nil
    else { return nil }
    return .discovery(.characteristics(of: service.range.lowerBound))
  }

  private func value(
    _ characteristic: BluetoothUUID, in uuid: BluetoothUUID, _ database: RemoteDatabase
  ) -> AttributeHandle? {
    guard let service = database.primaryServices?.first(where: { $0.uuid == uuid }) else { return nil }
    return database.characteristics(of: service.range.lowerBound)?.first { $0.uuid == characteristic }?.value
  }
}

extension GATTSubscription {
  /// The value of a Client Characteristic Configuration descriptor.
  var octets: ByteSlice { [UInt8(truncatingIfNeeded: rawValue), UInt8(truncatingIfNeeded: rawValue >> 8)] }
}
