import BluetoothHost
import BluetoothWire
import FuzzSupport

/// Fuzzes ACL packets of two links, with arbitrary fragmentation and interleaving.
///
/// A step is an octet: its lowest bit selects the link, the next one marks a continuation, the others give the
/// fragment's length. Whatever has arrived before, a following whole frame is answered on both links, and the memory in
/// use is limited to one frame for each link.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzACLReassembly(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var input = FuzzInput(start, count: count)
  var bench = FuzzHost()
  let handles = [HCI.ConnectionHandle(rawValue: 1), HCI.ConnectionHandle(rawValue: 2)]
  for (number, handle) in handles.enumerated() {
    bench.link(.peripheral, handle, DeviceAddress(0xC0_00_00_00_01_00 + UInt64(number), .random))
  }
  while !input.isEmpty {
    let choice = input.octet()
    let handle = handles[Int(choice & 1)]
    bench.receive(input.slice(Int(choice >> 2)), on: handle, choice & 2 == 0 ? .firstFlushable : .continuing)
    complete(&bench)
  }
  // A link still exists after malformed data, unless the peer violated the rules of ATT.
  for handle in handles where bench.host.links.contains(where: { $0.handle == handle }) {
    bench.receive([], on: handle)
    bench.receive([3, 0, 5, 0, 0xFE, 0x07, 0x00], on: handle)
    complete(&bench)
    bench.data.removeAll()
    bench.receive([4, 0, 5, 0, 0xFE, 0x07, 0x00, 0x00], on: handle)
    // Command Reject: not understood.
    precondition(bench.data.last?.payload == [6, 0, 5, 0, 0x01, 0x07, 2, 0, 0, 0], "a frame after others is lost")
    complete(&bench)
  }
  precondition(bench.pool.count < 2_048, "packets are kept")
  bench.expectSound()
  return 0
}

private func complete(_ bench: inout FuzzHost) {
  while let packet = bench.data.popLast() {
    bench.receive(.numberOfCompletedPackets(HCI.CompletedPackets(packet.handle, count: 1, in: bench.pool)))
  }
}
