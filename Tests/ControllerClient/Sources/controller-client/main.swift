import CoreBluetooth

/// Prints the first lasting state of the adapter.
final class Looker: NSObject, CBCentralManagerDelegate {
  private var manager: CBCentralManager?

  func start() { manager = CBCentralManager(delegate: self, queue: nil) }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    switch central.state {
    case .poweredOn: end("powered on")
    case .unsupported: end("unsupported")
    default: break
    }
  }

  private func end(_ state: String) {
    print(state)
    exit(0)
  }
}

let looker = Looker()
looker.start()
RunLoop.main.run(until: Date(timeIntervalSinceNow: 10))
print("no adapter within 10 s")
exit(1)
