// A program that tests kill while it saves a bond with a growing counter, over and over. It writes one octet for each
// saved bond. With `--settings` it saves a user's decision about another app and a reset of the identifiers instead, and
// with the name of an adapter and `sessions` the sessions of apps, and writes one octet each time.

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

/// Tells the test that everything so far is saved.
func report() {
  print(".", terminator: "")
  fflush(nil)
}

if CommandLine.arguments.dropFirst(2).first == "--settings" {
  let store = FileBondStore(folder: CommandLine.arguments[1], adapter: "adapter")
  var number = try store.secrets { AdapterSecrets(identity: nil, identityKey: Block(high: 1, low: 2)) }
    .identifierGeneration
  while true {
    number += 1
    try store.setAccess(number.isMultiple(of: 2), of: "app \(number)")
    try store.setIdentifierGeneration(number)
    report()
  }
}

if CommandLine.arguments.count > 3 {
  // The mode for the sessions of apps.
  let store = FileBondStore(folder: CommandLine.arguments[1], adapter: CommandLine.arguments[2])
  var counter = Int(try store.storedApps().first?.centrals.first?.identifier ?? "") ?? 0
  while true {
    counter += 1
    // Of varying length.
    let apps = (0...counter % 7).map { StoredApp(name: "\($0)", centrals: [.init(identifier: "\(counter)")]) }
    _ = try store.setStoredApps(apps)
    report()
  }
}

if CommandLine.arguments.count > 2 {
  // The other mode: the program claims an adapter's folder until a test lets it end or kills it, and prints the number
  // of the folder.
  let claimed = try FileBondStore.claimed(folder: CommandLine.arguments[1], adapter: CommandLine.arguments[2])
  print(claimed.number)
  fflush(nil)
  _ = readLine()
  withExtendedLifetime(claimed) {}
  exit(0)
}

let store = FileBondStore(folder: CommandLine.arguments[1], adapter: "adapter")
var bond = HostBond(identity: DeviceAddress(0xC0_11_22_33_44_55, .random))
var counter = try store.load().records.first?.bond.signatureMaker?.nextCounter ?? 0
while true {
  counter += 1
  bond.signatureMaker = Signer(key: Block(high: 1, low: 2), nextCounter: counter)
  var record = BondRecord(bond, identifier: PeerIdentifier(high: 3, low: 4))
  // Long enough that writing takes some time, and of varying length.
  record.name = String(repeating: "n", count: Int(counter % 7) * 2_000)
  try store.save(record)
  report()
}
