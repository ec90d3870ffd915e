import ArgumentParser
import BluetoothDissection
import BluetoothLab
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

/// The verbs that advertise a beacon.
struct BeaconVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "beacon", abstract: "Advertises a beacon, which tells its identity, an address or its state.",
    subcommands: [IBeaconVerb.self, EddystoneUID.self, EddystoneURL.self, EddystoneTLM.self])

  /// The options of all beacons.
  struct Options: ParsableArguments {
    @Option(
      parsing: .unconditional, help: ArgumentHelp("The advertising interval (default: 0.1).", valueName: "time"),
      transform: TimeArgument.seconds(of:))
    var interval = 0.1
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("The transmit power (default: the controller chooses).", valueName: "dBm"))
    var txPower: Int?
    @OptionGroup var duration: DurationOption
    @OptionGroup var adapter: AdapterOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
      guard interval >= 0.02, interval <= 10.24 else { throw ValidationError("--interval must be 0.02 to 10.24") }
      if let txPower, !(-127...20 ~= txPower) { throw ValidationError("--tx-power must be -127 to 20") }
      try duration.requireEnd(adapter)
    }

    /// Advertises until the end of the time, or until interrupted.
    ///
    /// - Parameters:
    ///   - format: the name of the format in the output.
    ///   - renewal: the time after which the data are made again, in seconds; nil: they do not change.
    ///   - frame: returns the advertising data at this time since the beginning.
    func advertise(
      _ format: String, renewal: Double? = nil, _ frame: @escaping @Sendable (Duration) -> [ADStructure]
    ) throws {
      try Stage(adapter).run(isEndless: duration.seconds == nil) { stage in
        try await advertise(format, renewal: renewal, on: stage, frame)
      }
    }

    /// Advertises until the end of the time, or until the task is cancelled.
    ///
    /// - Throws: `Failure` with exit status 69 if the adapter is lost or turned off.
    func advertise(
      _ format: String, renewal: Double? = nil, on stage: Stage,
      _ frame: @escaping @Sendable (Duration) -> [ADStructure]
    ) async throws {
      let device = LocalPeripheral(adapter: stage.adapter)
      defer { device.close() }
      try await stage.waitForPower(of: device.waitUntilPoweredOn(within:)) { device.state }
      do {
        try await duration.run(on: stage) {
          try await withThrowingTaskGroup(of: Void.self) { group in
            // Advertising that has begun ends without an error when its adapter does.
            group.addTask { try await stage.watchPower(of: device) }
            group.addTask { try await renew(format, renewal, by: device, stage, frame) }
            defer { group.cancelAll() }
            try await group.next()
          }
        }
      } catch { throw await stage.failure(of: error, "advertising", by: device) }
    }

    /// Advertises, with new data after each `renewal`, until the task is cancelled.
    private func renew(
      _ format: String, _ renewal: Double?, by device: LocalPeripheral, _ stage: Stage,
      _ frame: @Sendable (Duration) -> [ADStructure]
    ) async throws {
      let start = stage.now
      var isFirst = true
      while true {
        let data = frame(stage.now - start)
        var parameters = AdvertisingParameters(data)
        parameters.kind = .broadcast
        parameters.interval = .seconds(interval)
        parameters.txPower = txPower
        try await device.withAdvertising(parameters) {
          if isFirst { try report(format, data, stage.now - start) }
          isFirst = false
          try await stage.sleep(renewal ?? 1e6)
        }
      }
    }

    private func report(_ format: String, _ data: [ADStructure], _ time: Duration) throws {
      let octets = data.flatMap(\.octets).digits
      guard output.json else { return try put("\(time.seconds.fixed(3))  \(format)  0x\(octets)\n") }
      var record = JSONRecord("beacon")
      record.add("time", .decimal(time.seconds, places: 6))
      record.add("format", format)
      record.add("data", "0x" + octets)
      try put(record.line + "\n")
    }
  }

  struct IBeaconVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "ibeacon", abstract: "Advertises an iBeacon: a UUID, a group and a number.")
    @Argument(help: "The proximity UUID.")
    var uuid: String
    @Option(parsing: .unconditional, help: "The group of beacons, 0 to 65535.")
    var major: UInt16 = 0
    @Option(parsing: .unconditional, help: "The number within the group, 0 to 65535.")
    var minor: UInt16 = 0
    @Option(parsing: .unconditional, help: ArgumentHelp("The signal strength at 1 m.", valueName: "dBm"))
    var power: Int8 = -59
    @OptionGroup var options: Options

    func run() throws {
      guard let uuid = UUID(uuidString: uuid) else {
        throw Failure(
          "invalid UUID \"\(self.uuid)\": expected 32 digits with hyphens; ble uuid new makes one",
          status: ExitStatus.usage)
      }
      let beacon = IBeacon(proximityUUID: uuid, major: major, minor: minor, measuredPower: power)
      try options.advertise("ibeacon") { _ in beacon.advertising.payload.structures }
    }
  }

  struct EddystoneUID: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "eddystone-uid", abstract: "Advertises an Eddystone-UID: a namespace and an instance.")
    @Argument(help: "The namespace, 20 hexadecimal digits.")
    var namespace: String
    @Argument(help: "The instance, 12 hexadecimal digits.")
    var instance: String
    @Option(parsing: .unconditional, help: ArgumentHelp("The signal strength at 0 m.", valueName: "dBm"))
    var power: Int8 = -18
    @OptionGroup var options: Options

    func run() throws {
      let frame = try EddystoneFrame.identity(
        Self.octets(namespace, "namespace", 10), Self.octets(instance, "instance", 6), power: power)
      try options.advertise("eddystone-uid") { _ in frame }
    }

    private static func octets(_ digits: String, _ name: String, _ count: Int) throws -> [UInt8] {
      guard let octets = try? WrittenValue("0x" + digits).octets, octets.count == count else {
        throw Failure(
          "invalid \(name) \"\(digits)\": expected \(2 * count) hexadecimal digits", status: ExitStatus.usage)
      }
      return Array(octets)
    }
  }

  struct EddystoneURL: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "eddystone-url", abstract: "Advertises an Eddystone-URL: a short address of a page.")
    @Argument(help: "The address, which begins with http:// or https://.")
    var url: String
    @Option(parsing: .unconditional, help: ArgumentHelp("The signal strength at 0 m.", valueName: "dBm"))
    var power: Int8 = -18
    @OptionGroup var options: Options

    func run() throws {
      let frame = try EddystoneFrame.address(url, power: power)
      try options.advertise("eddystone-url") { _ in frame }
    }
  }

  struct EddystoneTLM: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "eddystone-tlm",
      abstract: "Advertises Eddystone-TLM: battery, temperature, packets and time since the beginning.",
      discussion: "The number of packets is the time since the beginning divided by the interval.")
    @Option(parsing: .unconditional, help: ArgumentHelp("The battery voltage; 0: none.", valueName: "millivolts"))
    var battery: UInt16 = 0
    @Option(parsing: .unconditional, help: ArgumentHelp("The temperature (default: none).", valueName: "°C"))
    var temperature: Double?
    @OptionGroup var options: Options

    func validate() throws {
      if let temperature, !(temperature > -128 && temperature < 128) {
        throw ValidationError("--temperature must be between -128 and 128")
      }
    }

    func run() throws {
      let (battery, temperature, interval) = (battery, temperature, options.interval)
      try options.advertise("eddystone-tlm", renewal: 1) { time in
        EddystoneFrame.telemetry(
          battery: battery, temperature: temperature, packets: EddystoneFrame.packets(within: time, every: interval),
          uptime: time)
      }
    }
  }
}

/// The advertising data of Eddystone · the Eddystone protocol specification of Google.
enum EddystoneFrame {
  /// The member UUID that Eddystone uses.
  private static let service: BluetoothUUID = 0xFEAA
  private static let schemes = ["http://www.", "https://www.", "http://", "https://"]
  private static let endings = [".com", ".org", ".edu", ".net", ".info", ".biz", ".gov"]
  /// The most octets of an address after its scheme.
  private static let maximumAddress = 17
  /// The temperature of a beacon without a thermometer: −128 °C in units of 1/256 °C.
  private static let noTemperature: UInt16 = 0x8000

  private static func data(_ octets: [UInt8]) -> [ADStructure] {
    [.flags(), .services([service]), .serviceData(of: service, octets)]
  }

  private static func big(_ number: UInt32, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
  }

  /// Returns an Eddystone-UID.
  ///
  /// - Parameters:
  ///   - namespace: 10 octets.
  ///   - instance: 6 octets.
  ///   - power: the signal strength at 0 m in dBm.
  static func identity(_ namespace: [UInt8], _ instance: [UInt8], power: Int8) -> [ADStructure] {
    // The last two octets are reserved.
    data([0x00, UInt8(bitPattern: power)] + namespace + instance + [0, 0])
  }

  /// Returns an Eddystone-URL.
  ///
  /// - Parameter power: the signal strength at 0 m in dBm.
  /// - Throws: `Failure` if the address has another scheme, other characters than those of ASCII, or is too long.
  static func address(_ url: String, power: Int8) throws -> [ADStructure] {
    guard let scheme = schemes.firstIndex(where: { url.hasPrefix($0) }) else {
      throw Failure("invalid address \"\(url)\": expected http:// or https://", status: ExitStatus.usage)
    }
    var rest = url.dropFirst(schemes[scheme].count)
    var octets: [UInt8] = []
    // The endings with a slash have the first numbers, and are the longer ones.
    let expansions = endings.map { $0 + "/" } + endings
    while let first = rest.first {
      if let index = expansions.firstIndex(where: { rest.hasPrefix($0) }) {
        octets.append(UInt8(index))
        rest = rest.dropFirst(expansions[index].count)
      } else if let ascii = first.asciiValue, 0x21...0x7E ~= ascii {
        octets.append(ascii)
        rest = rest.dropFirst()
      } else {
        throw Failure("invalid address \"\(url)\": \"\(first)\" is not allowed", status: ExitStatus.usage)
      }
    }
    guard 1...maximumAddress ~= octets.count else {
      throw Failure(
        "invalid address \"\(url)\": \(octets.count) octets after the scheme; expected 1 to \(maximumAddress)",
        status: ExitStatus.usage)
    }
    return data([0x10, UInt8(bitPattern: power), UInt8(scheme)] + octets)
  }

  /// Returns the number of packets in a time, modulo 2^32, as a beacon counts them.
  ///
  /// - Parameter interval: the advertising interval in seconds.
  static func packets(within time: Duration, every interval: Double) -> UInt32 {
    UInt32(truncatingIfNeeded: Int(time.seconds / interval))
  }

  /// Returns Eddystone-TLM without encryption.
  ///
  /// - Parameters:
  ///   - battery: the battery voltage in mV; 0: none.
  ///   - temperature: the temperature in °C, −128 to 128; nil: none.
  ///   - packets: the number of packets since the beginning.
  ///   - uptime: the time since the beginning.
  static func telemetry(battery: UInt16, temperature: Double?, packets: UInt32, uptime: Duration) -> [ADStructure] {
    let degrees = temperature.map { UInt16(bitPattern: Int16(max(-32_768, min(32_767, ($0 * 256).rounded())))) }
    let tenths = UInt32(truncatingIfNeeded: Int(uptime.seconds * 10))
    return data(
      [0x20, 0x00] + big(UInt32(battery), 2) + big(UInt32(degrees ?? noTemperature), 2) + big(packets, 4)
        + big(tenths, 4))
  }
}
