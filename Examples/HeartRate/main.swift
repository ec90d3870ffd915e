import ArgumentParser
import BluetoothLab
import CoreBluetooth

/// The command line: simulates a sensor and a phone in one world, or runs one of them on an adapter.
struct HeartRate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "heart-rate",
    abstract: "Simulates a heart rate sensor and a phone, or runs one of them on a Bluetooth adapter.")

  // `unconditional`: "-3" is parsed as an invalid number, not as another option.
  @Option(parsing: .unconditional, help: "The number of measurements that the phone receives.")
  var count = 10

  @Option(parsing: .unconditional, help: "The seed for all randomness in the simulation.")
  var seed: UInt64 = 1

  @Option(parsing: .unconditional, help: ArgumentHelp("The distance between sensor and phone.", valueName: "metres"))
  var distance = 2.0

  @Flag(help: "Requires an encrypted link: the devices pair with a passkey.")
  var protected = false

  @Option(help: ArgumentHelp("Keeps bonds in this folder for later runs.", valueName: "folder"))
  var bonds: String?

  @Option(help: ArgumentHelp("Captures all packets on the air in this file.", valueName: "file.pcapng"))
  var capture: String?

  @Flag(help: "Captures packets of encrypted links in plain text, including exchanged keys.")
  var captureDecrypted = false

  @Flag(help: "Writes the session keys of encrypted links to a file next to the capture.")
  var captureKeys = false

  @Flag(help: "Runs the simulation in real time.")
  var realTime = false

  enum Role: String, CaseIterable, ExpressibleByArgument { case sensor, phone }

  @Option(
    help: ArgumentHelp(
      "Runs only the sensor or only the phone, on the adapter in COREBLUETOOTH_ADAPTER.",
      valueName: "sensor|phone"))
  var only: Role?

  func validate() throws {
    guard count > 0 else { throw ValidationError("--count must be at least 1, not \(count).") }
    guard distance >= 0, distance <= 1_000_000 else {
      throw ValidationError("--distance must be between 0 and 1000000 metres, not \(distance).")
    }
    guard capture != nil || !(captureDecrypted || captureKeys) else {
      throw ValidationError("--\(captureDecrypted ? "capture-decrypted" : "capture-keys") requires --capture.")
    }
    if only != nil {
      guard capture == nil, bonds == nil else {
        throw ValidationError("--capture and --bonds can't be used with --only.")
      }
      return
    }
    let adapter = ProcessInfo.processInfo.environment["COREBLUETOOTH_ADAPTER"] ?? ""
    guard ["", "virtual"].contains(adapter) else {
      throw ValidationError(
        "COREBLUETOOTH_ADAPTER is \"\(adapter)\", but both devices are simulated: unset it, or use --only.")
    }
  }

  func run() throws {
    if let only { return try play(only) }
    let world = World(seed: seed, time: realTime ? .real(speed: 1) : .virtual, capture: try captureFile())
    let start = ContinuousClock.now
    func log(_ who: String) -> (String) -> Void {
      { [world] line in print("\(world.now.inSeconds)  \(who)  \(line.printable)") }
    }
    // Only for --protected: the sensor displays six digits, and the user types them on the phone after three seconds.
    let (display, owner) = (ScriptedPrompts(.displayOnly), ScriptedPrompts(.keyboardOnly))
    owner.answer(.passkeyShown(by: display), to: .enterPasskey, after: .seconds(3))
    let strap = world.makeDevice(named: "sensor", DeviceOptions(), prompts: display, bondFolder: bonds)
    let mobile = world.makeDevice(
      named: "phone", DeviceOptions(position: Position(x: distance)), prompts: owner, bondFolder: bonds)
    let sensor = Sensor(isProtected: protected, options: [CBManagerOptionAdapterKey: strap], log: log("sensor"))
    let phone = Phone(count: count, options: [CBManagerOptionAdapterKey: mobile], log: log("phone "))

    let succeeded = meet(in: world, sensor, phone)
    try world.finishCapture()
    for digits in display.questions.compactMap(\.digits) { print(String(format: "The sensor showed %06d.", digits)) }
    let yours = (ContinuousClock.now - start).inMilliseconds
    if !succeeded {
      print(
        phone.hasFound
          ? "Lost the sensor after \(world.now.inSeconds) of simulated time."
          : "Found no sensor in \(world.now.inSeconds) of simulated time.")
    }
    print("Simulated \(world.now.inSeconds) in \(yours).")
    if !succeeded { throw ExitCode.failure }
  }

  /// Runs one role in real time: the sensor until the program is stopped, the phone until it is done.
  private func play(_ role: Role) throws {
    let start = ContinuousClock.now
    let log: (String) -> Void = { line in
      print("\((ContinuousClock.now - start).inSeconds)  \(role)  \(line.printable)")
      fflush(nil)
    }
    switch role {
    case .sensor:
      let sensor = Sensor(isProtected: protected, options: [:], log: log)
      while true {
        RunLoop.main.run(until: Date(timeIntervalSinceNow: 1))
        if sensor.isAdvertising { sensor.measure() }
      }
    case .phone:
      let phone = Phone(count: count, options: [:], log: log)
      while !phone.isDone { RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.1)) }
      if !phone.hasSucceeded { throw ExitCode.failure }
    }
  }

  /// Runs discovery, subscription and all measurements. Returns false if a step fails or takes too long.
  private func meet(in world: World, _ sensor: Sensor, _ phone: Phone) -> Bool {
    guard world.run(until: { phone.hasFound }, limit: .seconds(10)) else { return false }
    guard world.run(until: { phone.isSubscribed || phone.isDone }, limit: .seconds(30)), !phone.isDone else {
      return false
    }
    for _ in 0..<count {
      world.run(for: .seconds(1))
      sensor.measure()
    }
    return world.run(until: { phone.isDone }, limit: .seconds(30)) && phone.hasSucceeded
  }

  private func captureFile() throws -> Capture? {
    guard let capture else { return nil }
    do { return try Capture(path: capture, decryptsAir: captureDecrypted, writesKeys: captureKeys) } catch {
      throw ValidationError("can't write the capture: \(error.description).")
    }
  }
}

extension String {
  /// The text with escapes for control characters and invisible characters: names come from other devices.
  fileprivate var printable: String {
    unicodeScalars.map { $0.isShown ? String($0) : "\\u{" + String($0.value, radix: 16, uppercase: true) + "}" }
      .joined()
  }
}

extension Unicode.Scalar {
  fileprivate var isShown: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: false
    // The zero-width joiner, which joins the parts of an emoji.
    case .format: value == 0x200D
    default: true
    }
  }
}

extension Duration {
  /// The duration in seconds, with three digits after the point.
  fileprivate var inSeconds: String {
    let (seconds, attoseconds) = components
    let thousandths = attoseconds / 1_000_000_000_000_000
    let digits = String(thousandths)
    return "\(seconds)." + String(repeating: "0", count: 3 - digits.count) + digits + " s"
  }

  fileprivate var inMilliseconds: String {
    let (seconds, attoseconds) = components
    return "\(seconds * 1_000 + attoseconds / 1_000_000_000_000_000) ms"
  }
}

do {
  var command = try HeartRate.parseAsRoot()
  try command.run()
} catch {
  let status = HeartRate.exitCode(for: error)
  guard status == .validationFailure else { HeartRate.exit(withError: error) }
  var message = HeartRate.message(for: error)
  if message.hasSuffix(".") { message.removeLast() }
  try? FileHandle.standardError.write(
    contentsOf: Data("heart-rate: \(message); see heart-rate --help\n".utf8))
  exit(status.rawValue)
}
