import BluetoothTypes
import CoreBluetooth

extension Central {
  /// Returns a sequence of advertising packets and scan responses as they are, as they are received. Each iteration
  /// is a scan, which ends with the iteration or when its task is cancelled.
  ///
  /// A central has one scan at a time, as `scan(for:allowsDuplicates:)` describes. If the consumer is slower than the
  /// advertisers, the oldest of more than 1,000 packets are dropped.
  ///
  /// - Parameters:
  ///   - isActive: true to ask scannable advertisers for their scan responses. A passive scan transmits nothing, unless
  ///     another app of this adapter scans.
  ///   - includesLECoded: true to scan on LE Coded as well, if the controller has it.
  public func packets(
    isActive: Bool = true, includesLECoded: Bool = false
  ) -> ThrowingEventSequence<AdvertisingPacket> {
    ThrowingEventSequence(owner: self) { [self] in
      let (stream, continuation) = AsyncThrowingStream.makeStream(
        of: AdvertisingPacket.self, throwing: (any Error).self,
        bufferingPolicy: .bufferingNewest(Self.bufferedDiscoveries))
      let number = begin(.packets(continuation)) { manager in
        manager.scanForPackets(isActive: isActive, includesLECoded: includesLECoded)
      }
      if let number { continuation.onTermination = { [weak self] _ in self?.endScan(number) } }
      return stream
    }
  }

  func received(_ packet: SightedPacket) {
    guard case .packets(let continuation)? = with({ $0.scan })?.receiver else { return }
    continuation.yield(AdvertisingPacket(packet, from: peripheral(for: packet.peripheral)))
  }
}
