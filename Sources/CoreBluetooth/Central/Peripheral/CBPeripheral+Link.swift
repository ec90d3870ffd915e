import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import NIOConcurrencyHelpers

// Properties of a peer and its link that Apple's API does not have, for CoreBluetoothExtras.
extension CBPeripheral {
  /// The properties of the link; nil: there is none, or the manager does not observe its links.
  package var link: LinkInfo? { content.withLockedValue { $0.link } }

  /// Sets the function that is called on the manager's queue with each event of the link.
  package func setLinkObserver(_ observer: (@Sendable (LinkEvent) -> Void)?) {
    content.withLockedValue { $0.linkObserver = observer }
  }

  /// Requests other properties of the link. `LinkEvent.requestEnded` answers, unless the link ends before.
  package func changeLink(_ request: LinkRequest) { core.send(.changeLink(handle, request)) }

  /// The address of the peer: the identity address if there is a bond, else the address in its packets.
  package var deviceAddress: DeviceAddress? { core.adapter?.directory.address(of: handle) }

  /// The bond with the peer; nil: none.
  package var bond: BondInfo? { core.adapter?.directory.bond(with: handle) }

  func linkReported(_ event: LinkEvent) {
    let observer = content.withLockedValue { content in
      if case .changed(let link) = event, content.state != .disconnected { content.link = link }
      return content.linkObserver
    }
    observer?(event)
  }
}

extension CBCentralManager {
  /// Starts events about the links of this manager.
  package func observeLinks() { core.send(.observeLinks) }
}
