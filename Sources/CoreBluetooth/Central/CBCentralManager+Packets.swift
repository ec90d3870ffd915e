import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import Foundation

/// An advertising packet for an app. CBPeripheral is not Sendable, but protects its state with a lock.
package struct SightedPacket: @unchecked Sendable {
  package let peripheral: CBPeripheral
  /// The address of the advertiser: its identity address if the adapter knows it.
  package let address: DeviceAddress
  /// The report without its octets.
  package let report: AdvertisingReport
  package let octets: Data
  /// The time on the adapter's clock.
  package let time: Duration
  /// The time of day, in seconds since 1 January 2001, 00:00 UTC.
  package let absoluteTime: CFAbsoluteTime
}

/// An event of a synchronization with a periodic train.
package struct TrainEvent: Sendable {
  /// The number that the app has given the synchronization.
  package let number: UInt32
  /// The event without its octets.
  package let event: SyncEvent
  package let octets: Data
  /// The time on the adapter's clock.
  package let time: Duration
  /// The time of day of a report, in seconds since 1 January 2001, 00:00 UTC.
  package let absoluteTime: CFAbsoluteTime
}

// Scans for packets as they are, which Apple's API does not have, for CoreBluetoothExtras.
extension CBCentralManager {
  /// Sets the function that is called on the manager's queue with each packet of a scan for packets.
  package func setPacketObserver(_ observer: @escaping @Sendable (SightedPacket) -> Void) {
    core.with { $0.role.packetObserver = observer }
  }

  /// Scans for packets until `stopScan`. Replaces the previous scan.
  package func scanForPackets(isActive: Bool, includesLECoded: Bool) {
    guard core.accepts(from: self) else { return core.wantsToScan() }
    var request = ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: true)
    request.packets = PacketScan(isActive: isActive, includesLECoded: includesLECoded)
    core.scan(request)
  }

  /// Sets the function that is called on the manager's queue with each event of a synchronization.
  package func setTrainObserver(_ observer: @escaping @Sendable (TrainEvent) -> Void) {
    core.with { $0.role.trainObserver = observer }
  }

  /// Synchronizes with a periodic train. The events have this number.
  package func synchronize(_ number: UInt32, with request: SyncRequest) { core.send(.synchronize(number, request)) }

  /// Ends a synchronization, or the attempt.
  package func endSynchronization(_ number: UInt32) { core.send(.endSynchronization(number)) }
}

extension CentralManagerCore {
  func packetReceived(_ packet: ReceivedPacket, _ copies: CentralEventCopies) {
    // The app may have stopped the scan since the packet was received.
    guard isScanning, let observer = with({ $0.role.packetObserver }) else { return }
    observer(
      SightedPacket(
        peripheral: peripheral(for: packet.peer), address: packet.report.address, report: packet.report,
        octets: copies.octets, time: packet.time.sinceZero.duration, absoluteTime: copies.time))
  }
}
