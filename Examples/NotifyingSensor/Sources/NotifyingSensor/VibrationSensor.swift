import CoreBluetooth

/// A peripheral that notifies its subscribers of samples, as fast as the link allows.
///
/// `updateValue` returns false when the queue of the system is full; the value was then not sent. The sensor keeps the
/// value, and goes on when `peripheralManagerIsReady(toUpdateSubscribers:)` is called. The number of samples that wait
/// is limited: a sensor whose link is too slow drops its oldest samples, and counts them.
///
/// Use the sensor on the main queue.
public final class VibrationSensor: NSObject {
  /// The UUID of the service.
  public static let service = CBUUID(string: "8B7A0001-52C9-4B0E-9D5C-5D1E5B1E0C4D")
  /// The UUID of the characteristic with the samples: each has two octets, the least significant first.
  public static let samples = CBUUID(string: "8B7A0002-52C9-4B0E-9D5C-5D1E5B1E0C4D")

  /// The number of samples that wait for the link.
  public var waitingCount: Int { waiting.count }
  /// The number of samples that were dropped.
  public private(set) var droppedCount = 0
  /// True while a central is subscribed.
  public var hasSubscribers: Bool { !(characteristic.subscribedCentrals ?? []).isEmpty }

  private let capacity: Int
  private let characteristic = CBMutableCharacteristic(
    type: VibrationSensor.samples, properties: .notify, value: nil, permissions: .readable)
  private lazy var manager = CBPeripheralManager(delegate: self, queue: .main)
  private var waiting: [UInt16] = []
  // True until everything that waited at the latest flush has been sent.
  private var isFlushing = false

  /// Creates a sensor.
  ///
  /// - Parameter capacity: the maximum number of samples that wait.
  public init(capacity: Int = 4_096) { self.capacity = capacity }

  /// Publishes the service and advertises it, as soon as Bluetooth is on.
  public func start() { _ = manager }

  /// Sends a sample to all subscribers. Without a subscriber it does nothing.
  public func add(_ sample: UInt16) {
    guard hasSubscribers else { return }
    if waiting.count == capacity {
      waiting.removeFirst()
      droppedCount += 1
    }
    waiting.append(sample)
    // A notification with many samples costs little more than one with a single sample, so wait until one is full.
    if waiting.count >= samplesPerNotification { send() }
  }

  /// Sends the samples that wait, even if they do not fill a notification.
  public func flush() {
    isFlushing = true
    send()
  }

  /// The number of samples that fit into a notification to each of the subscribers.
  private var samplesPerNotification: Int {
    (characteristic.subscribedCentrals ?? []).map { $0.maximumUpdateValueLength / 2 }.min() ?? 1
  }

  private func send() {
    let size = samplesPerNotification
    while waiting.count >= size || isFlushing && !waiting.isEmpty {
      let part = waiting.prefix(size)
      let value = Data(part.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
      guard manager.updateValue(value, for: characteristic, onSubscribedCentrals: nil) else { return }
      waiting.removeFirst(part.count)
    }
    isFlushing = false
  }
}

extension VibrationSensor: CBPeripheralManagerDelegate {
  public func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    guard peripheral.state == .poweredOn else {
      // The links and subscriptions have ended, without a call of `didUnsubscribeFrom` for each.
      waiting = []
      isFlushing = false
      return
    }
    let service = CBMutableService(type: Self.service, primary: true)
    service.characteristics = [characteristic]
    peripheral.add(service)
  }

  public func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    guard error == nil else { return }
    peripheral.startAdvertising([
      CBAdvertisementDataLocalNameKey: "Vibration", CBAdvertisementDataServiceUUIDsKey: [Self.service],
    ])
  }

  public func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { send() }

  public func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {
    guard !hasSubscribers else { return }
    waiting = []
    isFlushing = false
  }
}
