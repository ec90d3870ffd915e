// What tests kill while it keeps a bond, again and again, with a counter that grows. It says so with an octet each time.

import BluetoothBonds
import BluetoothCrypto
import BluetoothDaemon
import BluetoothHost
import BluetoothWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

if CommandLine.arguments.count > 2 {
  // Or: what has an adapter for itself until tests let it end, or kill it. It says which of the adapter's folders it has.
  let claimed = try FileBondStore.claimed(folder: CommandLine.arguments[1], adapter: CommandLine.arguments[2])
  print(claimed.number)
  fflush(nil)
  _ = readLine()
  withExtendedLifetime(claimed) {}
  exit(0)
}

let store = FileBondStore(folder: CommandLine.arguments[1], adapter: "adapter")
var bond = Bond(identity: DeviceAddress(0xC0_11_22_33_44_55, .random))
var counter = try store.load().records.first?.bond.signatureMaker?.nextCounter ?? 0
while true {
  counter += 1
  bond.signatureMaker = SignatureMaker(key: Block(high: 1, low: 2), nextCounter: counter)
  var record = BondRecord(bond, identifier: PeerIdentifier(high: 3, low: 4))
  // Long enough that writing it takes a while, and not always the same.
  record.name = String(repeating: "n", count: Int(counter % 7) * 2_000)
  try store.save(record)
  print(".", terminator: "")
  fflush(nil)
}
