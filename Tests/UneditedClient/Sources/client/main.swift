import CoreBluetooth
import CoreBluetooth.CBUUID

final class Scanner: NSObject, CBCentralManagerDelegate {
  let heartRate = CBUUID(string: "180D")
  private(set) var manager: CBCentralManager?

  func start() { manager = CBCentralManager(delegate: self, queue: nil) }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return }
    print("powered on, looking for \(heartRate)")
    exit(0)
  }
}

let scanner = Scanner()
scanner.start()
RunLoop.main.run(until: Date(timeIntervalSinceNow: 10))
print("no adapter within 10 s")
exit(1)
