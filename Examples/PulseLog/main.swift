import CoreBluetooth
import Foundation

// btserver names the managers for which it has launched this program, one a line.
let restored = ProcessInfo.processInfo.environment["COREBLUETOOTH_LAUNCH_CENTRALS"] ?? ""
func log(_ line: String) {
  print("pulse-log: \(line)")
  fflush(nil)
}
log(restored.isEmpty ? "started" : "launched for \(restored.split(separator: "\n").joined(separator: ", "))")
let app = PulseLog(log: log)
withExtendedLifetime(app) { RunLoop.main.run() }
