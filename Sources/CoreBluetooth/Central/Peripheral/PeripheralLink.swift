import BluetoothDaemon
import Foundation
import NIOConcurrencyHelpers

// The state of the link changes in calls by the app, and on the app's queue just before the callback that reports the
// change.
extension CBPeripheral {
  var linkState: CBPeripheralState { content.withLockedValue { $0.state } }

  func isUsable(by manager: CentralManagerCore) -> Bool {
    core === manager && content.withLockedValue { $0.isUsable }
  }

  func willConnect() {
    content.withLockedValue { content in
      // A link that is ending is reported as such until its end.
      if content.state == .disconnected { content.state = .connecting }
    }
  }

  /// The attributes that the app has discovered.
  struct Discoveries {
    fileprivate let services: [CBService]?
    fileprivate let attributes: [RemoteAttributeID: CBAttribute]
  }

  var discoveries: Discoveries {
    content.withLockedValue { Discoveries(services: $0.services, attributes: $0.attributes) }
  }

  /// Marks the link as being re-established automatically. The app goes on using what it has discovered; the peer has
  /// forgotten the subscriptions.
  func willReconnect(with discoveries: Discoveries?) {
    willConnect()
    guard let discoveries else { return }
    for case let characteristic as CBCharacteristic in discoveries.attributes.values {
      characteristic.content.withLockedValue { $0.isNotifying = false }
    }
    content.withLockedValue { content in
      guard content.state == .connecting else { return }
      (content.services, content.attributes) = (discoveries.services, discoveries.attributes)
    }
  }

  /// Marks a link as ending.
  func willCancel() {
    content.withLockedValue { content in
      if content.state == .connected { content.state = .disconnecting }
    }
  }

  /// Takes the state of a link or attempt whose object has been released.
  func willEnd(as state: CBPeripheralState) { content.withLockedValue { $0.state = state } }

  /// Marks the link as connected.
  func linkIsUp(maximumWriteLength: Int, credits: TransmitCredits?) {
    content.withLockedValue { content in
      content.state = .connected
      content.maximumWriteLength = maximumWriteLength
      content.writeCredits = credits
    }
  }

  /// Resets all state of the link. Returns true if there was a link or an attempt. If `keepsObject` is false, the app
  /// must retrieve the peripheral again before using it.
  @discardableResult
  func endLink(keepsObject: Bool = true) -> Bool {
    let (before, content) = content.withLockedValue { content in
      let before = content
      content.state = .disconnected
      content.isUsable = content.isUsable && keepsObject
      content.services = nil
      content.attributes = [:]
      content.writeCredits = nil
      content.link = nil
      content.maximumWriteLength = Content().maximumWriteLength
      return (before, content)
    }
    // Objects held by `before` are released here, outside the lock.
    return before.state != content.state
  }

  /// Stores the advertised name, without a callback.
  func learnName(_ name: String?) {
    guard let name else { return }
    content.withLockedValue { $0.name = name }
  }

  func nameChanged(_ name: String?) {
    content.withLockedValue { $0.name = name }
    delegate?.peripheralDidUpdateName(self)
  }

  func setMaximumWriteLength(_ length: Int) { content.withLockedValue { $0.maximumWriteLength = length } }

  func rssiRead(_ result: Result<Int8, SessionError>) {
    guard isConnected else { return }
    switch result {
    case .success(let level):
      let rssi = NSNumber(value: level)
      content.withLockedValue { $0.rssi = rssi }
      currentDelegate?.peripheral(self, didReadRSSI: rssi, error: nil)
    case .failure(let error):
      currentDelegate?.peripheral(self, didReadRSSI: NSNumber(value: Self.unknownRSSI), error: error.appError())
    }
  }

  private static var unknownRSSI: Int8 { 127 }

  func readyToWrite() {
    guard isConnected else { return }
    currentDelegate?.peripheralIsReady(toSendWriteWithoutResponse: self)
  }

  /// Reports an opened channel. If the link is no longer connected, the channel is released and closes.
  func channelOpened(_ result: Result<OpenChannel?, SessionError>) {
    guard isConnected else { return }
    switch result {
    case .success(let open):
      guard let open else { return }
      let channel = CBL2CAPChannel(open, peer: self, isInVirtualTime: core.callbacks.isInVirtualTime)
      currentDelegate?.peripheral(self, didOpen: channel, error: nil)
    case .failure(let error): currentDelegate?.peripheral(self, didOpen: nil, error: error.appError())
    }
  }

  /// True if the app is connected. Results that arrive later are dropped.
  var isConnected: Bool { linkState == .connected }

  /// The stored delegate, not the overridable property, for which a subclass may return any object.
  var currentDelegate: (any CBPeripheralDelegate)? { content.withLockedValue { $0.delegate } }
}
