import CoreBluetooth

// A program of the suite in this folder's parent: a CoreBluetooth central that tries a server of the suite's service, or a
// channel to it, and ends, or a peripheral that is one until its standard input ends.
// COREBLUETOOTH_ADAPTER says on which controller.

let arguments = CommandLine.arguments.dropFirst()
let delegate: NSObject
switch arguments.first {
case "central": delegate = Central()
case "channel": delegate = ChannelCentral(psm: arguments.dropFirst().first.flatMap { CBL2CAPPSM($0) } ?? 0x80)
case "peripheral":
  delegate = Peripheral(name: arguments.dropFirst().first ?? "interop")
  Thread.detachNewThread {
    while readLine() != nil {}
    exit(0)
  }
default:
  FileHandle.standardError.write(Data("usage: interop-app central | channel [PSM] | peripheral [NAME]\n".utf8))
  exit(64)
}
withExtendedLifetime(delegate) { RunLoop.main.run() }
