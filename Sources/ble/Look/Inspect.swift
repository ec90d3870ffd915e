import ArgumentParser
import BluetoothAir
import BluetoothDissection
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import NIOConcurrencyHelpers

/// The verb that shows the attributes of a device.
struct Inspect: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the services, characteristics and descriptors of a device, with their values.",
    discussion: """
      Reading a protected value makes the devices pair, as in any app; --no-values prevents that. Like Apple's API, the \
      tree has no GAP and GATT services: they belong to the system.
      """
  )
  .examples("ble inspect strap --world gym", "ble inspect strap --check apple")

  enum Rules: String, ExpressibleByArgument, CaseIterable, Sendable { case apple }

  @OptionGroup var device: DeviceChoice
  @Flag(inversion: .prefixedNo, help: "Reads the values.")
  var values = true
  @Option(
    help: ArgumentHelp(
      "Checks the device's advertising against design rules: apple. Breaches give the exit status 4.",
      valueName: "rules"))
  var check: Rules?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("With --check: how long to observe the advertising (default: 5).", valueName: "time"),
    transform: TimeArgument.seconds(of:))
  var checkTime = 5.0
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard checkTime > 0, checkTime <= 1e6 else {
      throw ValidationError("--check-time must be more than 0, up to 1000000")
    }
  }

  /// The lines, the record and the tree of a device, which are printed after its link has ended.
  private struct Result: Sendable {
    var head: [String] = []
    var record = JSONRecord("device")
    var tree: GATTTree?
  }

  func run() throws {
    try Stage(adapter).run { stage in
      let central = try await stage.makeCentral()
      let found = try await device.find(by: central, on: stage)
      let findings = check == nil ? [] : try await observe(found, central, stage)
      // A device without connections has advertising to be checked, but no attributes.
      if found.isConnectable || check == nil {
        try print(try await stage.withLink(to: found) { try await inspect($0, found, stage) }, found.peripheral)
      }
      for finding in findings { try put((output.json ? finding.record.line : finding.line) + "\n") }
      let breaches = findings.filter { !$0.isKept }.count
      if breaches > 0 {
        throw Failure(
          "\(found.title) breaks \(breaches == 1 ? "1 rule" : "\(breaches) rules")", status: ExitStatus.breaches)
      }
    }
  }

  /// Observes the advertising of a device for the time of `--check-time`.
  ///
  /// - Throws: `Failure` with exit status 2 if the device does not advertise in this time, or with exit status 69 if
  ///   the adapter is lost or turned off.
  func observe(
    _ found: DeviceChoice.Candidate, _ central: Central, _ stage: Stage
  ) async throws -> [AppleGuidelines.Finding] {
    let rules = NIOLockedValueBox(AppleGuidelines())
    do {
      try await withTimeLimit(stage.limit(checkTime)) {
        for try await packet in central.packets() where packet.peripheral == found.peripheral {
          rules.withLockedValue { $0.add(packet) }
        }
      }
    } catch is TimeLimitExceeded {
      // The findings are those of the packets so far.
    } catch {
      throw await stage.failure(of: error, "observing the advertising", by: central)
    }
    let observed = rules.withLockedValue { $0 }
    guard observed.isHeard else { throw Failure.silence(of: found, for: checkTime) }
    return observed.findings
  }

  private func inspect(
    _ peripheral: Peripheral, _ found: DeviceChoice.Candidate, _ stage: Stage
  ) async throws -> Result {
    var result = Result()
    result.tree = try await GATTTree(of: peripheral, readsValues: values, stage)
    let address = peripheral.address
    result.head = [
      [peripheral.name ?? found.name ?? "device without a name", address?.digits, peripheral.id.uuidString]
        .compactMap { $0 }.joined(separator: "  ")
    ]
    result.record.add("device", peripheral.id.uuidString)
    result.record.add("name", peripheral.name ?? found.name)
    result.record.add("address", address?.digits)
    result.record.add("addressKind", address.map { $0.kind == .public ? "public" : "random" })
    guard let link = peripheral.link else { return result }
    let security =
      link.security.isEncrypted ? link.security.isAuthenticated ? "authenticated" : "encrypted" : "not encrypted"
    let interval = link.connectionParameters.interval.seconds
    let mtu = link.maximumTransmissionUnit
    result.head.append(
      "\(link.receivePHY), interval \((interval * 1_000).decimal(2)) ms, ATT_MTU \(mtu), \(security)")
    result.record.add("phy", "\(link.receivePHY)")
    result.record.add("interval", .decimal(interval, places: 6))
    result.record.add("mtu", mtu)
    result.record.add("encrypted", .flag(link.security.isEncrypted))
    result.record.add("authenticated", .flag(link.security.isAuthenticated))
    result.record.add("bonded", .flag(link.security.isBonded))
    return result
  }

  private func print(_ result: Result, _ peripheral: Peripheral) throws {
    let lines: [String]
    if output.json {
      lines = [result.record.line] + (result.tree?.records(device: peripheral.id.uuidString).map(\.line) ?? [])
    } else {
      let tree = result.tree?.lines(output.style) ?? []
      lines =
        [output.style.bold(result.head[0].printable)] + result.head.dropFirst()
        + ["(no services)"].filter { _ in tree.isEmpty }
        + tree
    }
    try put(lines.map { $0 + "\n" }.joined())
  }
}
