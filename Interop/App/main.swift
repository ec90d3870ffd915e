import CoreBluetooth

// A program of the suite in the parent folder. `central` tests a server of the suite's service and ends, `channel` does
// the same with an L2CAP channel, `watch` stays connected to a server and prints its changes. `peripheral` is a server
// until its standard input ends, and executes the input's lines unless the input is a terminal. `profile` prints what the
// typed client of a standard profile gets from a server, `consumer` what it gets from the notification service of a phone
// that connects to it. COREBLUETOOTH_ADAPTER selects the controller. `accessory` is an air with an accessory of this
// package, or a phone that serves its notifications, for foreign hosts. `world` is a test that stops and shows its world
// in virtual time on a page.

let arguments = CommandLine.arguments.dropFirst()
let delegate: NSObject
switch arguments.first {
case "central": delegate = Central()
case "channel": delegate = ChannelCentral(psm: arguments.dropFirst().first.flatMap { CBL2CAPPSM($0) } ?? 0x80)
case "peripheral":
  // Only the main queue uses it.
  nonisolated(unsafe) let peripheral = Peripheral(name: arguments.dropFirst().first ?? "interop")
  delegate = peripheral
  // At a terminal the user answers prompts, and every line is input for them.
  if isatty(STDIN_FILENO) == 1 { break }
  Thread.detachNewThread {
    while let line = readLine() { DispatchQueue.main.async { peripheral.execute(line) } }
    exit(0)
  }
case "watch": delegate = Watcher()
case "profile", "consumer":
  delegate = NSObject()
  let name = arguments.first == "profile" ? arguments.dropFirst().first ?? "" : nil
  Task.detached {
    do {
      guard let name else {
        try await ProfileReader.receiveNotifications()
        exit(0)
      }
      if try await ProfileReader.read(name) { exit(0) }
      say("unknown profile \(name)")
      exit(64)
    } catch {
      say("failed: \(error)")
      exit(1)
    }
  }
case "accessory":
  guard let air = AccessoryAir(arguments.dropFirst().first ?? "") else {
    say("unknown accessory")
    exit(64)
  }
  try air.run()
  exit(0)
case "world":
  try ServedWorld().show()
  exit(0)
default:
  let usage =
    "central | channel [PSM] | watch | peripheral [NAME] | profile PROFILE | consumer | accessory KIND | world"
  try? FileHandle.standardError.write(contentsOf: Data("usage: interop-app \(usage)\n".utf8))
  exit(64)
}
withExtendedLifetime(delegate) { RunLoop.main.run() }
