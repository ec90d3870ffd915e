import ArgumentParser
import BluetoothAir
import BluetoothDaemon
import BluetoothDissection
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers

/// The argument and the options that choose a device.
struct DeviceChoice: ParsableArguments {
  @Argument(help: "The device: its name, a part of its name, its identifier or its address.")
  var device: String

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("How long to look for the device (default: 10).", valueName: "time"),
    transform: TimeArgument.seconds(of:))
  var searchTime = 10.0

  @Flag(help: "Takes the first device that matches, without looking for others of that name.")
  var first = false

  mutating func validate() throws {
    guard !device.isEmpty else { throw ValidationError("the name of the device is empty") }
    guard searchTime > 0, searchTime <= 1e6 else {
      throw ValidationError("--search-time must be more than 0, up to 1000000")
    }
  }

  /// The time for which the search goes on after the first match, to find other devices of that name, in seconds.
  private static let settleTime = 1.0

  /// A device that was seen.
  struct Candidate: Sendable {
    let peripheral: Peripheral
    /// The central that has found the device.
    let central: Central
    var name: String?
    var isConnectable: Bool
    var rssi: Int?
    var match: DeviceMatch?

    /// The device in messages.
    var title: String { name ?? peripheral.address?.digits ?? peripheral.id.uuidString }

    /// True if the device comes before another one in a list: the strongest one is the first, as in the table of scan.
    func precedes(_ other: Candidate) -> Bool {
      let levels = (rssi ?? Int.min, other.rssi ?? Int.min)
      return levels.0 == levels.1 ? line < other.line : levels.0 > levels.1
    }

    /// The line in a list of devices.
    var line: String {
      let parts = [
        peripheral.address?.digits, peripheral.id.uuidString, rssi.map { "\($0) dBm" },
        name?.debugDescription ?? "without a name",
      ]
      return "  " + parts.compactMap { $0 }.joined(separator: "  ")
    }
  }

  /// The devices seen in a search.
  private struct Search {
    var candidates: [UUID: Candidate] = [:]
    /// The order in which the devices were seen.
    var order: [UUID] = []
    /// The time at which the first device with a matching name was seen.
    var firstMatch: Duration?
  }

  /// Looks for the device.
  ///
  /// - Throws: `Failure` if no device or more than one device matches.
  func find(by central: Central, on stage: Stage) async throws -> Candidate {
    let box = NIOLockedValueBox(Search())
    do {
      try await withTimeLimit(stage.limit(searchTime)) {
        for try await discovery in central.scan(allowsDuplicates: true) {
          if box.withLockedValue({ note(discovery, by: central, at: stage.now, in: &$0) }) { return }
        }
      }
    } catch is TimeLimitExceeded {
      // The choice is made among the devices seen so far.
    } catch {
      throw await stage.failure(of: error, "looking for \(device)", by: central)
    }
    return try choose(from: box.withLockedValue { $0 })
  }

  /// Notes a sighting. Returns true if the search is over.
  private func note(
    _ discovery: CoreBluetoothExtras.Discovery, by central: Central, at now: Duration, in search: inout Search
  ) -> Bool {
    let id = discovery.peripheral.id
    if search.candidates[id] == nil { search.order.append(id) }
    var candidate =
      search.candidates[id]
      ?? Candidate(
        peripheral: discovery.peripheral, central: central, isConnectable: discovery.advertisement.isConnectable)
    candidate.name = discovery.advertisement.localName ?? discovery.peripheral.name ?? candidate.name
    candidate.rssi = discovery.rssi ?? candidate.rssi
    candidate.isConnectable = discovery.advertisement.isConnectable || candidate.isConnectable
    candidate.match = match(candidate)
    search.candidates[id] = candidate
    guard let match = candidate.match else {
      return search.firstMatch.map { now - $0 >= .seconds(Self.settleTime) } ?? false
    }
    if match == .identity || first { return true }
    guard let firstMatch = search.firstMatch else {
      search.firstMatch = now
      return false
    }
    return now - firstMatch >= .seconds(Self.settleTime)
  }

  /// Returns how a device matches; nil: it does not.
  private func match(_ candidate: Candidate) -> DeviceMatch? {
    let identities = [candidate.peripheral.id.uuidString, candidate.peripheral.address?.digits]
    let isIdentity = identities.contains { $0?.lowercased() == device.lowercased() }
    return DeviceMatch(device, name: candidate.name, isIdentity: isIdentity)
  }

  private func choose(from search: Search) throws -> Candidate {
    let all = search.order.compactMap { search.candidates[$0] }
    let matches = DeviceMatch.best(of: all.compactMap { device in device.match.map { (element: device, match: $0) } })
    guard let found = matches.first else {
      throw Failure(
        "no device \"\(device)\" among \(all.count == 1 ? "1 device" : "\(all.count) devices")"
          + " within \(searchTime.short) s" + suggestion(among: all),
        status: ExitStatus.notFound)
    }
    guard matches.count == 1 || first else {
      let lines = matches.sorted { $0.precedes($1) }.map(\.line)
      throw Failure(
        "\"\(device)\" matches \(matches.count) devices; use an identifier or an address:", details: lines,
        status: ExitStatus.ambiguous)
    }
    return found
  }

  /// The largest number of wrong digits in an address or an identifier that has a suggestion.
  private static let wrongDigits = 2

  /// Returns `; did you mean "Strap"?` with the nearest name, part of a name, address or identifier, or an empty text.
  private func suggestion(among all: [Candidate]) -> String {
    if let match = NameSuggestion.nearest(to: device, among: all.compactMap(\.name)) {
      return NameSuggestion.suggestion(match.part)
    }
    var best: (identity: String, distance: Int)?
    for candidate in all {
      for identity in [candidate.peripheral.address?.digits, candidate.peripheral.id.uuidString] {
        guard let identity, let distance = SpellingSuggestion.distance(from: device, to: identity),
          distance <= Self.wrongDigits, distance < best?.distance ?? .max
        else { continue }
        best = (identity, distance)
      }
    }
    return best.map { NameSuggestion.suggestion($0.identity) } ?? ""
  }
}

extension Failure {
  /// Returns the failure, with exit status 2, of an observation in which a device that was found does not advertise.
  ///
  /// - Parameter seconds: the duration of the observation.
  static func silence(of found: DeviceChoice.Candidate, for seconds: Double) -> Failure {
    Failure("\(found.title) has not advertised for \(seconds.short) s", status: ExitStatus.linkLost)
  }
}

extension Double {
  /// The number without a fraction of zero.
  var short: String { self == rounded() && magnitude < 1e15 ? "\(Int(self))" : "\(self)" }
}
