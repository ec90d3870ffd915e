import BluetoothDaemon
import BluetoothWire
import Foundation
import TestSupport
import Testing

/// A table of Documentation/Platforms.md, made from the policies.
private struct PlatformTable {
  /// A column: the name of a policy in the code, and its values by field.
  struct Column {
    let name: String
    let values: [String: Any]

    init(_ name: String, _ subject: some Any) {
      self.name = name
      let fields = Mirror(reflecting: subject).children.map { ($0.label ?? "", $0.value) }
      values = Dictionary(uniqueKeysWithValues: fields)
    }
  }

  private static let policies: [(name: String, policy: PlatformPolicy)] = [
    ("ios", .ios), ("iosInTheField", .iosInTheField), ("iosWithRareScans", .iosWithRareScans), ("macos", .macos),
    ("watchos", .watchos), ("tvos", .tvos), ("visionos", .visionos), ("open", .open),
  ]

  /// The fields of policies. `iosWithRareScans` differs from `ios` in limits only.
  static var rules: PlatformTable {
    PlatformTable(
      subject: "rule", fields: PlatformPolicy.fields,
      columns: policies.filter { $0.name != "iosWithRareScans" }.map { Column($0.name, $0.policy) })
  }

  /// The fields of the limits of apps in the background.
  static var limits: PlatformTable {
    PlatformTable(
      subject: "limit", fields: PlatformPolicy.BackgroundLimits.fields,
      columns: policies.compactMap { policy in policy.policy.background.map { Column(policy.name, $0) } })
  }

  /// The heading of the first column.
  let subject: String
  let fields: [PolicyField]
  let columns: [Column]

  /// The lines of the table.
  var lines: [String] {
    let cells =
      [[subject] + columns.map { "`\($0.name)`" } + ["source"], [String](repeating: "---", count: columns.count + 2)]
      + fields.map { field in
        let values = columns.map { Self.text($0.values[field.name], otherwise: field.otherwise) }
        return ["\(field.meaning) (`\(field.name)`)"] + values + [field.source]
      }
    return cells.map { "| \($0.joined(separator: " | ")) |" }
  }

  /// Returns a page with this table in place of the table with the same heading; nil: the page has no such table.
  func replacing(in page: String) -> String? {
    var lines = page.components(separatedBy: "\n")
    guard let start = lines.firstIndex(where: { $0.hasPrefix("| \(subject) |") }) else { return nil }
    let end = lines[start...].firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex
    lines.replaceSubrange(start..<end, with: self.lines)
    return lines.joined(separator: "\n")
  }

  private static func text(_ value: Any?, otherwise: String) -> String {
    switch value {
    case let flag as Bool: flag ? "yes" : "no"
    case let number as Int: text(number)
    case let duration as Duration: text(duration)
    case is PlatformPolicy.BackgroundLimits: "yes"
    case let services as [BluetoothUUID]: services.map(text).joined(separator: ", ")
    case let data as PlatformPolicy.HiddenManufacturerData: text(data)
    case let latency as PlatformPolicy.LatencyParameters: text(latency)
    case .some(let value) where Mirror(reflecting: value).displayStyle == .optional: otherwise
    default: "?"
    }
  }

  private static func text(_ number: Int) -> String { number.formatted(.number.locale(Locale(identifier: "en_US"))) }

  private static func text(_ duration: Duration) -> String {
    let milliseconds = duration / Duration.milliseconds(1)
    if milliseconds.truncatingRemainder(dividingBy: 1_000) == 0 {
      let seconds = Int(milliseconds / 1_000)
      return seconds >= 3_600 && seconds.isMultiple(of: 3_600) ? "\(seconds / 3_600) h" : "\(seconds) s"
    }
    return milliseconds.formatted(.number.locale(Locale(identifier: "en_US"))) + " ms"
  }

  private static func text(_ service: BluetoothUUID) -> String {
    let names: [BluetoothUUID: String] = [
      0x1800: "GAP", 0x1801: "GATT", 0x1812: "HID", "7905F431-B5CE-4E99-A40F-4B1E122D00D0": "ANCS",
    ]
    return names[service] ?? service.description
  }

  private static func text(_ data: PlatformPolicy.HiddenManufacturerData) -> String {
    switch data {
    case .none: "none"
    case .beacons: "iBeacons"
    case .apple: "company 0x004C"
    }
  }

  private static func text(_ latency: PlatformPolicy.LatencyParameters) -> String {
    let (low, high) = (latency.intervals.lowerBound, latency.intervals.upperBound)
    let first = low == high ? "" : text(low).replacingOccurrences(of: " ms", with: "") + " to "
    return "\(first)\(text(high)), \(latency.peripheralLatency), \(text(latency.supervisionTimeout))"
  }
}

/// The page about the platform policies.
@Suite("Page about platforms")
struct PlatformPageTests {
  private static let page = "Documentation/Platforms.md"

  /// With `COREBLUETOOTH_WRITE_TABLES=1` the test writes the tables instead of comparing them.
  @Test("The page has each field of a policy with its value on each platform")
  func tables() throws {
    let text = try WorkingCopy.text(Self.page)
    let rules = try #require(PlatformTable.rules.replacing(in: text))
    let expected = try #require(PlatformTable.limits.replacing(in: rules))
    if ProcessInfo.processInfo.environment["COREBLUETOOTH_WRITE_TABLES"] == "1" {
      try expected.write(to: WorkingCopy.root.appendingPathComponent(Self.page), atomically: true, encoding: .utf8)
    } else {
      let (lines, others) = (expected.components(separatedBy: "\n"), text.components(separatedBy: "\n"))
      #expect(lines.difference(from: others).isEmpty, "make the tables again with COREBLUETOOTH_WRITE_TABLES=1")
    }
  }

  @Test("Each field of a policy and of its limits is described once")
  func descriptions() throws {
    func names(_ subject: some Any) -> [String] { Mirror(reflecting: subject).children.compactMap(\.label).sorted() }
    let limits = try #require(PlatformPolicy.ios.background)
    #expect(PlatformPolicy.fields.map(\.name).sorted() == names(PlatformPolicy.ios).filter { $0 != "name" })
    #expect(PlatformPolicy.BackgroundLimits.fields.map(\.name).sorted() == names(limits))
  }

  @Test("The policy with rare scans differs from that of iOS in its background scan only")
  func rareScans() {
    var policy = PlatformPolicy.iosWithRareScans
    policy.name = PlatformPolicy.ios.name
    policy.background?.scanPeriod = PlatformPolicy.BackgroundLimits().scanPeriod
    policy.background?.scanWindow = PlatformPolicy.BackgroundLimits().scanWindow
    #expect(policy == .ios)
  }
}
