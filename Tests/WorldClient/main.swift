import CoreBluetooth

/// An app that knows nothing of worlds: it prints the names of the peripherals that it discovers, up to the number in its
/// argument, and the state if Bluetooth is not available.
final class Finder: NSObject, CBCentralManagerDelegate {
  private lazy var manager = CBCentralManager(delegate: self, queue: nil)
  private let count: Int
  private var names: Set<String> = []

  init(count: Int) { self.count = count }

  func start() { _ = manager }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else {
      print("state \(central.state.rawValue)")
      exit(2)
    }
    central.scanForPeripherals(withServices: nil)
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    if let name = peripheral.name { names.insert(name) }
    guard names.count == count else { return }
    print(names.sorted().joined(separator: ", "))
    exit(0)
  }
}

let finder = Finder(count: CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1)
finder.start()
RunLoop.main.run(until: Date(timeIntervalSinceNow: 60))
print("nothing more within 60 s")
exit(1)
