import BluetoothDaemon
import Foundation
import NIOConcurrencyHelpers

// The link's state. It changes on the app's queue just before the callback that announces it, except for what the app's
// own calls change.
extension CBPeripheral {
  var linkState: CBPeripheralState { content.withLockedValue { $0.state } }

  /// Whether `connect` came while the link was ending.
  var isWantedAgain: Bool { content.withLockedValue { $0.isWantedAgain } }

  func isUsable(by manager: CentralManagerCore) -> Bool {
    core === manager && content.withLockedValue { $0.isUsable }
  }

  func willConnect() {
    content.withLockedValue { content in
      if content.isEnding {
        content.isWantedAgain = true
      } else if content.state != .connected {
        content.state = .connecting
      }
    }
  }

  /// Whether there is something to cancel.
  func willCancel() -> Bool {
    content.withLockedValue { content in
      content.isWantedAgain = false
      guard content.state != .disconnected, !content.isEnding else { return false }
      content.isEnding = true
      if content.state == .connected { content.state = .disconnecting }
      return true
    }
  }

  /// Whether the link is news for the app: not if it was cancelled meanwhile.
  func linkIsUp(maximumWriteLength: Int, credits: TransmitCredits?) -> Bool {
    content.withLockedValue { content in
      guard content.state == .connecting || content.state == .connected, !content.isEnding else { return false }
      content.state = .connected
      content.maximumWriteLength = maximumWriteLength
      content.writeCredits = credits
      return true
    }
  }

  /// Whether there was a link or an attempt. Without `keepsObject` the peripheral has to be retrieved again.
  @discardableResult
  func endLink(keepsObject: Bool = true) -> Bool {
    let (before, content) = content.withLockedValue { content in
      let before = content
      content.state = .disconnected
      content.isEnding = false
      content.isWantedAgain = false
      content.isUsable = content.isUsable && keepsObject
      content.services = nil
      content.attributes = [:]
      content.writeCredits = nil
      content.maximumWriteLength = Content().maximumWriteLength
      return (before, content)
    }
    // What `before` held is released here, outside of the lock.
    return before.state != content.state
  }

  /// What an advertisement said; no callback.
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

  /// A channel that comes when nobody wants it any more closes.
  func channelOpened(_ result: Result<OpenChannel, SessionError>) {
    guard isConnected else { return }
    switch result {
    case .success(let channel):
      let channel = CBL2CAPChannel(channel, peer: self, isInVirtualTime: core.callbacks.isInVirtualTime)
      currentDelegate?.peripheral(self, didOpen: channel, error: nil)
    case .failure(let error): currentDelegate?.peripheral(self, didOpen: nil, error: error.appError())
    }
  }

  /// Whether answers still matter to the app.
  var isConnected: Bool { linkState == .connected }

  /// Not the overridable property: a subclass may answer anything there.
  var currentDelegate: (any CBPeripheralDelegate)? { content.withLockedValue { $0.delegate } }
}
