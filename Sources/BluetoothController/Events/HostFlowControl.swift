import BluetoothWire
import DequeModule

/// Controller-to-host flow control · Vol 4, Part E, 4.1.2, 7.3.38 to 7.3.40: the host's free buffers for ACL data,
/// and the packets that wait for them.
struct HostFlowControl {
  /// The maximum number of waiting packets. Further data PDUs are not acknowledged, so that the peer keeps them: this
  /// is the link layer's flow control · Vol 6, Part B, 4.5.9.
  private static let receiveBuffers = 16

  /// Host_ACL_Data_Packet_Length; longer packets are sent in fragments.
  var maximumLength = Int.max
  /// Host_Total_Num_ACL_Data_Packets; nil until the host sets it.
  var bufferCount: Int?
  var isOn = false

  /// The packets of each connection that the host has received and not completed.
  private var outstanding: [(handle: HCI.ConnectionHandle, count: Int)] = []
  private var outstandingCount = 0
  private var waiting: Deque<HCI.ACLData> = []

  var hasRoom: Bool { waiting.count < Self.receiveBuffers }

  private var hasCredit: Bool {
    guard isOn, let bufferCount else { return true }
    return outstandingCount < bufferCount
  }

  /// Queues a packet from the link layer.
  mutating func append(_ data: HCI.ACLData) {
    var rest = data
    while rest.payload.count > maximumLength {
      waiting.append(
        HCI.ACLData(handle: data.handle, boundary: rest.boundary, payload: rest.payload.prefix(maximumLength)))
      rest.boundary = .continuing
      rest.payload = rest.payload.dropFirst(maximumLength)
    }
    waiting.append(rest)
  }

  /// Returns the next packet for which the host has a free buffer.
  mutating func next() -> HCI.ACLData? {
    guard hasCredit, let data = waiting.popFirst() else { return nil }
    guard isOn else { return data }
    outstandingCount += 1
    if let index = outstanding.firstIndex(where: { $0.handle == data.handle }) {
      outstanding[index].count += 1
    } else {
      outstanding.append((data.handle, 1))
    }
    return data
  }

  /// Counts packets that the host has completed. Returns false, and counts none, if the host completes more packets
  /// than it has, or packets of a connection of which it has none.
  mutating func complete(_ packets: HCI.CompletedPackets) -> Bool {
    let before = (outstanding, outstandingCount)
    for element in packets {
      guard let index = outstanding.firstIndex(where: { $0.handle == element.handle }),
        element.count <= outstanding[index].count
      else {
        (outstanding, outstandingCount) = before
        return false
      }
      outstanding[index].count -= Int(element.count)
      outstandingCount -= Int(element.count)
    }
    return true
  }

  /// Removes a connection that has ended: the host discards its packets · 4.1.2.
  mutating func forget(_ handle: HCI.ConnectionHandle) {
    waiting.removeAll { $0.handle == handle }
    guard let index = outstanding.firstIndex(where: { $0.handle == handle }) else { return }
    outstandingCount -= outstanding.remove(at: index).count
  }
}
