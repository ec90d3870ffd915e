import CoreBluetooth
import SensorScanner

let scanner = SensorScanner(service: CBUUID(string: "180D"))
scanner.start()
RunLoop.main.run(until: Date(timeIntervalSinceNow: 2))
print(scanner.names.isEmpty ? "no heart rate sensor is here" : scanner.names.joined(separator: "\n"))
