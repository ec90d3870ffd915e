import BluetoothWire
import Foundation
import TestSupport
import Testing

/// The page about the platform policies.
@Suite("Page about platforms")
struct PlatformPageTests {
  private static let platforms: [PlatformPolicy] = [.ios, .iosInTheField, .macos, .watchos, .tvos, .visionos, .open]

  /// The cells of the page's tables between the first and the last column, by the field in the first column.
  private static func rows() throws -> [String: [String]] {
    var rows: [String: [String]] = [:]
    for line in try WorkingCopy.text("Documentation/Platforms.md").components(separatedBy: "\n")
    where line.hasPrefix("|") {
      let cells = line.components(separatedBy: "|").dropFirst().dropLast()
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard let rule = cells.first, rule.hasSuffix("`)"), let start = rule.range(of: "(`", options: .backwards) else {
        continue
      }
      let field = String(rule[start.upperBound...].dropLast(2))
      #expect(rows.updateValue(Array(cells.dropFirst().dropLast()), forKey: field) == nil, "\(field) is there twice")
    }
    return rows
  }

  private static func text(_ flag: Bool) -> String { flag ? "yes" : "no" }

  private static func text(_ duration: Duration) -> String {
    let milliseconds = duration / Duration.milliseconds(1)
    if milliseconds.truncatingRemainder(dividingBy: 1_000) == 0 { return "\(Int(milliseconds / 1_000)) s" }
    return milliseconds.formatted(.number.locale(Locale(identifier: "en_US"))) + " ms"
  }

  private static func text(_ number: Int) -> String { number.formatted(.number.locale(Locale(identifier: "en_US"))) }

  private static func text(_ services: [BluetoothUUID]) -> String {
    let names: [BluetoothUUID: String] = [
      0x1800: "GAP", 0x1801: "GATT", 0x1812: "HID", "7905F431-B5CE-4E99-A40F-4B1E122D00D0": "ANCS",
    ]
    return services.map { names[$0] ?? "?" }.joined(separator: ", ")
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

  /// Returns the cell of a rule in the table of all platforms; nil: the table has no such rule.
  private static func cell(_ field: String, _ policy: PlatformPolicy) -> String? {
    let modes = policy.background.flatMap { $0.hasModes ? $0 : nil }
    return switch field {
    case "alwaysBonds": text(policy.alwaysBonds)
    case "bondLimit": "\(policy.bondLimit)"
    case "allowsPeripheralRole": text(policy.allowsPeripheralRole)
    case "linksPerApp": policy.linksPerApp.map { "\($0)" } ?? "controller's limit"
    case "linkLimit": policy.linkLimit.map { "\($0)" } ?? "controller's limit"
    case "linkDataRate": policy.linkDataRate.map { text($0) } ?? "no limit"
    case "restoresAfterPowerChange": text(policy.restoresAfterPowerChange)
    case "restoresAfterRestart": text(policy.restoresAfterRestart)
    case "restoresQuitAccessoryApps": text(policy.restoresQuitAccessoryApps)
    case "hiddenServices": text(policy.hiddenServices)
    case "hiddenManufacturerData": text(policy.hiddenManufacturerData)
    case "keepsUnbondedServices": text(policy.keepsUnbondedServices)
    case "requiresUsageDescription": text(policy.requiresUsageDescription)
    case "restoresApps": text(policy.restoresApps)
    case "background": text(policy.background != nil)
    case "reconnectsInputDevices": text(policy.reconnectsInputDevices)
    case "offersNotifications": text(policy.offersNotifications)
    case "idleLinkTimeout": policy.idleLinkTimeout.map { text($0) } ?? "off"
    case "lowLatency": text(policy.lowLatency)
    case "mediumLatency": text(policy.mediumLatency)
    case "highLatency": text(policy.highLatency)
    case "hasModes": policy.background.map { text($0.hasModes) } ?? "–"
    case "wakeBudget": modes.map { $0.wakeBudget.map { "\($0)" } ?? "no limit" } ?? "–"
    default: nil
    }
  }

  /// Returns the value of a limit that is the same on all platforms with limits; nil: there is no such limit.
  private static func value(_ field: String, _ limits: PlatformPolicy.BackgroundLimits) -> String? {
    switch field {
    case "suspensionDelay": text(limits.suspensionDelay)
    case "idleRunTime": text(limits.idleRunTime)
    case "linksKeepApps": text(limits.linksKeepApps)
    case "channelsRunApps": text(limits.channelsRunApps)
    case "writeReadinessRunsApps": text(limits.writeReadinessRunsApps)
    case "connectsWithoutRestoration": text(limits.connectsWithoutRestoration)
    case "eventRunTime": text(limits.eventRunTime)
    case "wakeBudgetPeriod": "\(Int(limits.wakeBudgetPeriod / Duration.seconds(3_600))) h"
    case "scanPeriod": text(limits.scanPeriod)
    case "scanWindow": text(limits.scanWindow)
    case "advertisingInterval": text(limits.advertisingInterval)
    case "updatesPerSecond": "\(limits.updatesPerSecond)"
    default: nil
    }
  }

  @Test("The page has each field of a policy with its value on each platform")
  func values() throws {
    let rows = try Self.rows()
    var fields = Mirror(reflecting: PlatformPolicy.ios).children.compactMap(\.label).filter { $0 != "name" }
    let limits = PlatformPolicy.BackgroundLimits()
    fields += Mirror(reflecting: limits).children.compactMap(\.label)
    #expect(Set(rows.keys) == Set(fields))
    let variants = [("iosInTheField", PlatformPolicy.iosInTheField), ("iosWithRareScans", .iosWithRareScans)]
    for (field, cells) in rows {
      if cells.count == Self.platforms.count {
        #expect(cells == Self.platforms.map { Self.cell(field, $0) ?? "?" }, "\(field)")
      } else {
        for platform in Self.platforms where platform != .iosInTheField {
          guard let limits = platform.background else { continue }
          let value = try #require(Self.value(field, limits))
          var cell = value
          for (name, variant) in variants {
            let other = try Self.value(field, #require(variant.background))
            if let other, other != value { cell += "; \(other) in `\(name)`" }
          }
          #expect(cells == [cell], "\(field), \(platform.name)")
        }
      }
    }
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
