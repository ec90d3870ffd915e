import CoreBluetooth
import NIOConcurrencyHelpers

/// A delegate of a peripheral manager that records all callbacks with their times, and answers requests.
///
/// Reads are answered from `values`, and writes are stored there, unless `answerRead` or `answerWrite` decides.
/// Centrals appear by their identifiers.
public final class RecordingPeripheralDelegate: NSObject {
  /// A callback with the arguments that tests compare.
  public enum Event: Hashable, Sendable {
    /// `peripheralManagerDidUpdateState(_:)`
    case stateChanged(CBManagerState)
    /// `peripheralManagerDidStartAdvertising(_:error:)`
    case advertisingStarted(RecordedError? = nil)
    /// `peripheralManager(_:didAdd:error:)`
    case serviceAdded(CBUUID, RecordedError? = nil)
    /// `peripheralManager(_:central:didSubscribeTo:)`
    case subscribed(UUID, to: CBUUID)
    /// `peripheralManager(_:central:didUnsubscribeFrom:)`
    case unsubscribed(UUID, from: CBUUID)
    /// `peripheralManager(_:didReceiveRead:)`
    case readRequested(CBUUID, offset: Int)
    /// One request of `peripheralManager(_:didReceiveWrite:)`; a callback with several requests gives several events.
    case writeRequested(CBUUID, [UInt8], offset: Int)
    /// `peripheralManagerIsReady(toUpdateSubscribers:)`
    case readyToUpdate
    /// `peripheralManager(_:didPublishL2CAPChannel:error:)`
    case channelPublished(CBL2CAPPSM, RecordedError? = nil)
    /// `peripheralManager(_:didUnpublishL2CAPChannel:error:)`
    case channelUnpublished(CBL2CAPPSM, RecordedError? = nil)
    /// `peripheralManager(_:didOpen:error:)`; no PSM if the channel was not opened.
    case channelOpened(psm: CBL2CAPPSM?, RecordedError? = nil)
  }

  private struct State {
    var values: [CBUUID: [UInt8]] = [:]
    var answerRead: ((CBATTRequest) -> CBATTError.Code)?
    var answerWrite: (([CBATTRequest]) -> CBATTError.Code)?
    var channels: [CBL2CAPChannel] = []
  }

  let recording: Recording<Event>
  private let lock = NIOLock()
  private var state = State()

  /// Creates a delegate that records times of `world`.
  public init(in world: World) { recording = Recording(in: world) }

  /// All callbacks in their order, with their times.
  public var records: [Recorded<Event>] { recording.all }

  /// All callbacks in their order.
  public var events: [Event] { recording.all.map(\.event) }

  /// The values that answer reads, by the UUID of the characteristic. Writes change them.
  public var values: [CBUUID: [UInt8]] {
    get { lock.withLock { state.values } }
    set { lock.withLock { state.values = newValue } }
  }

  /// Answers a read instead of `values`: sets the value of the request and returns the result.
  public var answerRead: ((CBATTRequest) -> CBATTError.Code)? {
    get { lock.withLock { state.answerRead } }
    set { lock.withLock { state.answerRead = newValue } }
  }

  /// Answers the requests of a write. The values are stored if the result is `success`.
  public var answerWrite: (([CBATTRequest]) -> CBATTError.Code)? {
    get { lock.withLock { state.answerWrite } }
    set { lock.withLock { state.answerWrite = newValue } }
  }

  /// The channels that peers opened, in their order.
  public var channels: [CBL2CAPChannel] { lock.withLock { state.channels } }

  private func answer(_ request: CBATTRequest) -> CBATTError.Code {
    if let answerRead { return answerRead(request) }
    guard let value = values[request.characteristic.uuid] else { return .attributeNotFound }
    guard request.offset <= value.count else { return .invalidOffset }
    request.value = Data(value.dropFirst(request.offset))
    return .success
  }

  private func answer(_ requests: [CBATTRequest]) -> CBATTError.Code {
    let result = answerWrite?(requests) ?? .success
    guard result == .success else { return result }
    for request in requests {
      let octets = Array(request.value ?? Data())
      lock.withLock {
        var value = Array(state.values[request.characteristic.uuid, default: []].prefix(request.offset))
        // An app that accepts a write behind the end of the value has zeros between.
        value += [UInt8](repeating: 0, count: request.offset - value.count) + octets
        state.values[request.characteristic.uuid] = value
      }
    }
    return .success
  }
}

extension RecordingPeripheralDelegate: CBPeripheralManagerDelegate {
  public func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    recording.append(.stateChanged(peripheral.state))
  }

  public func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
    recording.append(.advertisingStarted(error.map(RecordedError.init)))
  }

  public func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    recording.append(.serviceAdded(service.uuid, error.map(RecordedError.init)))
  }

  public func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    recording.append(.subscribed(central.identifier, to: characteristic.uuid))
  }

  public func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {
    recording.append(.unsubscribed(central.identifier, from: characteristic.uuid))
  }

  public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    recording.append(.readRequested(request.characteristic.uuid, offset: request.offset))
    peripheral.respond(to: request, withResult: answer(request))
  }

  public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    for request in requests {
      recording.append(
        .writeRequested(request.characteristic.uuid, Array(request.value ?? Data()), offset: request.offset))
    }
    // Apple's rule: one response to the first request answers all of them.
    if let first = requests.first { peripheral.respond(to: first, withResult: answer(requests)) }
  }

  public func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
    recording.append(.readyToUpdate)
  }

  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
  ) {
    recording.append(.channelPublished(psm, error.map(RecordedError.init)))
  }

  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
  ) {
    recording.append(.channelUnpublished(psm, error.map(RecordedError.init)))
  }

  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?
  ) {
    if let channel { lock.withLock { state.channels.append(channel) } }
    recording.append(.channelOpened(psm: channel?.psm, error.map(RecordedError.init)))
  }
}
