import ArgumentParser
import BeaconLocation
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
      _ format: String, renewal: Double? = nil, _ frame: @escaping @Sendable (Duration) throws -> [ADStructure]
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
      _ frame: @escaping @Sendable (Duration) throws -> [ADStructure]
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
      _ frame: @Sendable (Duration) throws -> [ADStructure]
    ) async throws {
      let start = stage.now
      var isFirst = true
      while true {
        let data = try frame(stage.now - start)
        var parameters = AdvertisingParameters(data)
        parameters.kind = .broadcast
        parameters.interval = .seconds(interval)
        parameters.txPower = txPower
        try await device.withAdvertising(parameters) {
          if isFirst { try report(format, data, stage.now - start, stage) }
          isFirst = false
          try await stage.sleep(renewal ?? 1e6)
        }
      }
    }

    private func report(_ format: String, _ data: [ADStructure], _ time: Duration, _ stage: Stage) throws {
      let octets = data.flatMap(\.octets).digits
      guard output.json else { return try put("\(time.seconds.fixed(3))  \(format)  0x\(octets)\n") }
      var record = JSONRecord("beacon")
      record.add(time: time, on: stage)
      record.add("format", format)
      record.add("data", "0x" + octets)
      try put(record.line + "\n")
    }
  }

  struct IBeaconVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "ibeacon", abstract: "Advertises an iBeacon: a UUID, a group and a number."
    )
    .examples(
      "ble beacon ibeacon 6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C0DE --minor 7",
      "ble beacon ibeacon 6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C0DE --interval 1s")
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
      commandName: "eddystone-uid", abstract: "Advertises an Eddystone-UID: a namespace and an instance."
    )
    .examples(
      "ble beacon eddystone-uid 00112233445566778899 000000000001",
      "ble beacon eddystone-uid 00112233445566778899 000000000001 --power -20")
    @Argument(help: "The namespace, 20 hexadecimal digits.")
    var namespace: String
    @Argument(help: "The instance, 12 hexadecimal digits.")
    var instance: String
    @Option(parsing: .unconditional, help: ArgumentHelp("The signal strength at 0 m.", valueName: "dBm"))
    var power: Int8 = -18
    @OptionGroup var options: Options

    func run() throws {
      let data = try EddystoneFrame.uid(
        namespace: Self.octets(namespace, "namespace", 10), instance: Self.octets(instance, "instance", 6),
        txPower: power
      ).advertisingData()
      try options.advertise("eddystone-uid") { _ in data }
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
      commandName: "eddystone-url", abstract: "Advertises an Eddystone-URL: a short address of a page."
    )
    .examples(
      "ble beacon eddystone-url https://www.example.com/",
      "ble beacon eddystone-url https://www.example.com/ --for 1min --json")
    @Argument(help: "The address, which begins with http:// or https://.")
    var url: String
    @Option(parsing: .unconditional, help: ArgumentHelp("The signal strength at 0 m.", valueName: "dBm"))
    var power: Int8 = -18
    @OptionGroup var options: Options

    func run() throws {
      let data = try Self.data(url, power: power)
      try options.advertise("eddystone-url") { _ in data }
    }

    /// Returns the advertising data of an Eddystone-URL.
    ///
    /// - Parameter power: the signal strength at 0 m in dBm.
    /// - Throws: `Failure` if the address has another scheme, other characters than those of ASCII, nothing after the
    ///   scheme, or is too long.
    static func data(_ url: String, power: Int8) throws -> [ADStructure] {
      do throws(EddystoneError) {
        let frame = EddystoneFrame.url(url, txPower: power)
        // The kind of frame, the power and the scheme.
        guard try frame.serviceData().count > 3 else { throw EddystoneError.urlLength(0) }
        return try frame.advertisingData()
      } catch { throw Failure("invalid address \"\(url)\": \(reason(error))", status: ExitStatus.usage) }
    }

    private static func reason(_ error: EddystoneError) -> String {
      switch error {
      case .unknownScheme: "expected http:// or https://"
      case .invalidCharacter(let character): "\"\(character)\" is not allowed"
      case .urlLength(let count): "\(count) octets after the scheme; expected 1 to 17"
      case .namespaceLength, .instanceLength, .temperature, .negativeUptime: "\(error)"
      }
    }
  }

  struct EddystoneTLM: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "eddystone-tlm",
      abstract: "Advertises Eddystone-TLM: battery, temperature, packets and time since the beginning.",
      discussion: "The number of packets is the time since the beginning divided by the interval."
    )
    .examples(
      "ble beacon eddystone-tlm --battery 2950",
      "ble beacon eddystone-tlm --battery 2950 --temperature 21.5 --interval 1s")
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
        let state = EddystoneFrame.Telemetry(
          batteryVoltage: battery, temperature: temperature,
          advertisingCount: Self.packets(within: time, every: interval), uptime: time)
        return try EddystoneFrame.telemetry(state).advertisingData()
      }
    }

    /// Returns the number of packets in a time, modulo 2^32, as a beacon counts them.
    ///
    /// - Parameter interval: the advertising interval in seconds.
    static func packets(within time: Duration, every interval: Double) -> UInt32 {
      UInt32(truncatingIfNeeded: Int(time.seconds / interval))
    }
  }
}
