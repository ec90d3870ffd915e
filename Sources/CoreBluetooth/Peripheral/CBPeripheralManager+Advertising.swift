import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import Foundation

/// An event of a peripheral manager that Apple's API does not have.
package enum PeripheralObservation: Sendable {
  /// The answer to `start(_:_:)`; nil: the set advertises.
  case setStarted(LocalSetID, SessionError?)
  /// The advertising of a set has ended without a request.
  case setEnded(LocalSetID)
  /// An event of the link to a central, which its object identifies.
  case link(ObjectIdentifier, LinkEvent)
  /// The link to a central has ended; requests that are still open get no answer.
  case linkEnded(ObjectIdentifier)
  /// The last link has ended, or the links that remain are those of other apps: the end of `disconnectCentrals`.
  case linksEnded
  /// A central has confirmed an indication of a characteristic that has no notifications; their objects identify them.
  case indicationConfirmed(by: ObjectIdentifier, of: ObjectIdentifier)
  /// A central has repeated its subscription to a characteristic; their objects identify them.
  case subscribedAgain(by: ObjectIdentifier, to: ObjectIdentifier)
}

// Advertising and links beyond Apple's API, for CoreBluetoothExtras.
extension CBPeripheralManager {
  /// Starts advertising with these parameters and data. `peripheralManagerDidStartAdvertising(_:error:)` reports the
  /// result.
  package func startAdvertising(_ advertising: HostAdvertising) {
    guard core.accepts(from: self) else { return }
    core.advertise(advertising)
  }

  /// Sets the function that is called on the manager's queue with the events that Apple's API does not have, and starts
  /// events about links.
  package func setObserver(_ observer: @escaping @Sendable (PeripheralObservation) -> Void) {
    core.with { $0.role.observer = observer }
    core.send(.observeLinks)
  }

  /// Starts an advertising set, or changes its parameters and data.
  package func start(_ set: LocalSetID, _ advertising: HostAdvertising) { core.send(.startSet(set, advertising)) }

  /// Stops an advertising set.
  package func stop(_ set: LocalSetID) { core.send(.stopSet(set)) }

  /// Returns the properties of the link to a central; nil: the link has ended.
  package func link(to central: CBCentral) -> LinkInfo? {
    core.with { $0.role.centrals[central.handle] === central ? $0.role.links[central.handle] : nil }
  }

  /// Returns true while the link to a central exists.
  package func isConnected(_ central: CBCentral) -> Bool {
    core.with { $0.role.centrals[central.handle] === central }
  }

  /// Requests other properties of the link to a central. Returns false if the link has ended.
  package func changeLink(to central: CBCentral, _ request: LinkRequest) -> Bool {
    guard core.with({ $0.role.centrals[central.handle] }) === central else { return false }
    core.send(.changeLink(central.handle, request))
    return true
  }

  /// Ends the links to all centrals, except those that other apps use. `PeripheralObservation.linksEnded` reports the
  /// end of the last one.
  ///
  /// - Returns: false if there is no link; there is then no report.
  package func disconnectCentrals() -> Bool {
    let centrals = core.with { $0.role.links.keys.sorted { $0.index < $1.index } }
    for central in centrals { core.send(.disconnect(central)) }
    return !centrals.isEmpty
  }
}

extension HostAdvertising {
  /// The key of Core Location for the identity of an iBeacon: the UUID, the major and minor numbers, most significant
  /// octets first, and the level at one metre in dBm; 21 octets.
  static let beaconKey = "kCBAdvDataAppleBeaconKey"

  /// Creates the advertising of the iBeacon in an app's advertisement data; nil if there is none, or if it has another
  /// length.
  init?(beaconIn advertisementData: [String: Any]) {
    guard let identity = advertisementData[Self.beaconKey] as? Data, identity.count == 21 else { return nil }
    // Flags; then manufacturer data with Apple's company identifier, the type 0x02 and the length 0x15 of the rest.
    let header: [UInt8] = [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15]
    self.init(data: ByteSlice(header + Array(identity)), scanResponse: ByteSlice())
  }
}
