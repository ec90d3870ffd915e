import BluetoothHost
import BluetoothWire
import FuzzSupport

/// Fuzzes events and data from a controller that answers all commands correctly.
///
/// Each step is an octet for the action, with its parameters. At the end the host must work again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHCIEvents(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var input = FuzzInput(start, count: count)
  var bench = FuzzHost()
  while !input.isEmpty { step(&bench, &input) }
  bench.expectSound()
  return 0
}

private func step(_ bench: inout FuzzHost, _ input: inout FuzzInput) {
  let choice = input.octet()
  // Few handles and peers, so that collisions are likely.
  let handle = HCI.ConnectionHandle(rawValue: UInt16(choice >> 4) & 3)
  let peer = DeviceAddress(0xC0_00_00_00_01_00 + UInt64(choice >> 4), .random)
  switch choice & 0x0F {
  case 0...3: event(&bench, &input)
  case 4: bench.receive(input.slice(Int(input.octet())), on: handle)
  case 5: bench.receive(input.slice(Int(input.octet())), on: handle, .continuing)
  case 6: bench.link(choice & 0x10 == 0 ? .central : .peripheral, handle, peer)
  case 7: bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTimeout))
  case 8:
    bench.receive(.numberOfCompletedPackets(HCI.CompletedPackets(handle, count: UInt16(input.octet()), in: bench.pool)))
  case 9: bench.pass(.milliseconds(Int64(input.octet()) * 200))
  case 10: bench.unansweredCommands = Int(choice >> 4)
  case 11: bench.perform { host, now in host.connect(to: peer, at: now) }
  case 12: bench.perform { host, now in host.cancelConnecting(to: peer, at: now) }
  case 13:
    bench.perform { host, now in
      if choice & 0x10 == 0 {
        host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now)
      } else {
        host.setScanning(ScanParameters(isActive: choice & 0x20 == 0, filterDuplicates: true), at: now)
      }
    }
  case 14:
    bench.perform { host, now in
      if choice & 0x10 == 0 { host.readRSSI(handle, at: now) } else { host.disconnect(handle, at: now) }
    }
  default: bench.perform { host, now in host.setPower(choice & 0x70 != 0, at: now) }
  }
  precondition(bench.data.count < 4_096)
  if bench.data.count > 64 { bench.data.removeAll() }
}

private func event(_ bench: inout FuzzHost, _ input: inout FuzzInput) {
  let code = input.octet()
  let parameters = input.slice(Int(input.octet()))
  bench.receive(.event(code: code, parameters: parameters))
}
