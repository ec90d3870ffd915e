import BluetoothWire
import Testing

@testable import BluetoothHost

/// The reassembly of frames from ACL packets · Vol 3, Part A, 7.2.1.
struct FrameReassemblerTests {
  private let pool = PacketPool()

  private func packet(_ octets: [UInt8], _ boundary: HCI.ACLData.Boundary = .firstFlushable) -> HCI.ACLData {
    HCI.ACLData(handle: HCI.ConnectionHandle(rawValue: 1), boundary: boundary, payload: ByteSlice(octets))
  }

  private func continuation(_ octets: [UInt8]) -> HCI.ACLData { packet(octets, .continuing) }

  private let frame: [UInt8] = [5, 0, 4, 0, 0x0B, 1, 2, 3, 4]
  private let whole = L2CAP.Frame(channel: .attribute, payload: [0x0B, 1, 2, 3, 4])

  @Test("A frame in one packet is complete", arguments: [HCI.ACLData.Boundary.firstFlushable, .firstNonFlushable])
  func onePiece(_ boundary: HCI.ACLData.Boundary) {
    var reassembler = FrameReassembler()
    #expect(reassembler.receive(packet(frame, boundary), pool: pool) == whole)
    #expect(reassembler.dropped == 0)
  }

  @Test("A frame is reassembled wherever it was cut, even in its header", arguments: 0...9)
  func twoPieces(_ cut: Int) {
    var reassembler = FrameReassembler()
    let first = reassembler.receive(packet(Array(frame.prefix(cut))), pool: pool)
    let second = reassembler.receive(continuation(Array(frame.dropFirst(cut))), pool: pool)
    switch cut {
    case 0: #expect(first == nil && second == nil && reassembler.dropped == 1)
    case 9: #expect(first == whole && second == nil)
    default: #expect(first == nil && second == whole && reassembler.dropped == 0)
    }
  }

  @Test("A frame of single octets with empty packets between them is reassembled")
  func singleOctets() {
    var reassembler = FrameReassembler()
    #expect(reassembler.receive(packet([frame[0]]), pool: pool) == nil)
    for octet in frame.dropFirst().dropLast() {
      #expect(reassembler.receive(continuation([octet]), pool: pool) == nil)
      #expect(reassembler.receive(continuation([]), pool: pool) == nil)
    }
    #expect(reassembler.receive(continuation([4]), pool: pool) == whole)
    #expect(reassembler.dropped == 0)
  }

  @Test("H8: a continuation without a start is dropped")
  func continuationWithoutStart() {
    var reassembler = FrameReassembler()
    #expect(reassembler.receive(continuation([0xAA, 0xBB]), pool: pool) == nil)
    #expect(reassembler.dropped == 1)
    #expect(reassembler.receive(packet(frame), pool: pool) == whole)
  }

  @Test("H8: a start during an unfinished frame replaces that frame")
  func startWhileOpen() {
    var reassembler = FrameReassembler()
    #expect(reassembler.receive(packet(Array(frame.prefix(6))), pool: pool) == nil)
    #expect(reassembler.receive(packet(frame), pool: pool) == whole)
    #expect(reassembler.dropped == 1)
    #expect(reassembler.receive(continuation([3, 4]), pool: pool) == nil)
  }

  @Test("L1: octets beyond the length in the header are dropped, in one packet or in several")
  func tooMany() {
    var reassembler = FrameReassembler()
    #expect(reassembler.receive(packet(frame + [5]), pool: pool) == nil)
    #expect(reassembler.dropped == 1)
    #expect(reassembler.receive(packet(Array(frame.prefix(6))), pool: pool) == nil)
    #expect(reassembler.receive(continuation([2, 3, 4, 5]), pool: pool) == nil)
    #expect(reassembler.dropped == 2)
    #expect(reassembler.receive(packet(frame), pool: pool) == whole)
  }

  @Test("L1: a frame longer than any channel accepts is dropped up to the next start, and counted once")
  func tooLong() {
    var reassembler = FrameReassembler()
    #expect(reassembler.receive(packet([0xFF, 0xFF, 4, 0, 1, 2, 3]), pool: pool) == nil)
    for _ in 0..<1000 {
      #expect(reassembler.receive(continuation([UInt8](repeating: 0, count: 251)), pool: pool) == nil)
    }
    #expect(reassembler.dropped == 1)
    #expect(reassembler.receive(packet(frame), pool: pool) == whole)
  }

  @Test("L1: a packet shorter than the header waits for the rest", arguments: 0...3)
  func shortHeader(_ count: Int) {
    var reassembler = FrameReassembler()
    #expect(reassembler.receive(packet([UInt8](repeating: 0, count: count)), pool: pool) == nil)
    #expect(reassembler.dropped == 0)
    #expect(reassembler.receive(packet(frame), pool: pool) == whole)
  }

  @Test("A frame without a payload is delivered")
  func empty() {
    var reassembler = FrameReassembler()
    let none = L2CAP.Frame(channel: .attribute, payload: [])
    #expect(reassembler.receive(packet([0, 0, 4, 0]), pool: pool) == none)
    #expect(reassembler.receive(packet([0, 0, 4]), pool: pool) == nil)
    #expect(reassembler.receive(continuation([0]), pool: pool) == none)
  }

  @Test("The longest frame is accepted; one octet more is dropped")
  func longest() {
    var reassembler = FrameReassembler()
    let longest = [0x05, 0x02, 4, 0] + [UInt8](repeating: 7, count: 517)
    #expect(reassembler.receive(packet(Array(longest.prefix(251))), pool: pool) == nil)
    #expect(reassembler.receive(continuation(Array(longest[251..<502])), pool: pool) == nil)
    #expect(reassembler.receive(continuation(Array(longest[502...])), pool: pool)?.payload.count == 517)
    #expect(reassembler.receive(packet([0x06, 0x02, 4, 0, 7]), pool: pool) == nil)
    #expect(reassembler.dropped == 1)
    #expect(reassembler.receive(packet([0x06, 0x02, 4, 0] + [UInt8](repeating: 7, count: 518)), pool: pool) == nil)
    #expect(reassembler.dropped == 2)
  }

  @Test("Whatever arrives, the reassembler holds at most one frame of the maximum length")
  func randomInput() {
    var reassembler = FrameReassembler()
    var generator = RandomStream(seed: 3)
    let pool = PacketPool()
    for _ in 0..<50_000 {
      var writer = ByteWriter(pool)
      for _ in 0..<Int.random(in: 0...12, using: &generator) {
        writer.append(UInt8.random(in: 0...9, using: &generator))
      }
      let boundary = HCI.ACLData.Boundary(rawValue: UInt8.random(in: 0...2, using: &generator)) ?? .continuing
      let data = HCI.ACLData(
        handle: HCI.ConnectionHandle(rawValue: 1), boundary: boundary, payload: writer.finish())
      _ = reassembler.receive(data, pool: pool)
    }
    #expect(pool.count <= FrameReassembler.maximumLength + 16)
  }
}
