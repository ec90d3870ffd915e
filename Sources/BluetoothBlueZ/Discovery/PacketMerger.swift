/// Merges advertisements with their scan responses as the Linux kernel does: the advertisement of a scannable device
/// waits for its scan response, or for the next packet that the adapter receives.
struct PacketMerger<Device: Hashable> {
  /// One sighting of a device.
  struct Sighting {
    let device: Device
    var data: [UInt8]
    let rssi: Int8
    let isConnectable: Bool
    /// True for a scan response whose advertisement has been lost.
    var isResponseAlone = false
  }

  private var waiting: Sighting?

  /// Takes a packet, and returns the sightings that are complete.
  mutating func take(_ packet: Sighting, isScannable: Bool, isResponse: Bool) -> [Sighting] {
    var complete: [Sighting] = []
    if var former = waiting.take() {
      if isResponse, former.device == packet.device {
        former.data += packet.data
        return [former]
      }
      complete.append(former)
    }
    if isResponse {
      var alone = packet
      alone.isResponseAlone = true
      complete.append(alone)
    } else if isScannable {
      waiting = packet
    } else {
      complete.append(packet)
    }
    return complete
  }

  /// Forgets the advertisement that waits: the scan has ended.
  mutating func removeAll() { waiting = nil }
}
