import CoreBluetooth
import CoreBluetoothExtras
import Gateway

// One line per record, at once, so that the program at the other end of a pipe need not wait.
let gateway = Gateway(Central()) { FileHandle.standardOutput.write($0.line) }
try await gateway.run()
