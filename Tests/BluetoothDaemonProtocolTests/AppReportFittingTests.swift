import BluetoothDaemon
import BluetoothWire
import Testing

@testable import BluetoothDaemonProtocol

/// Reports about apps that are too long for a message.
@Suite struct AppReportFittingTests {
  /// A text of this many octets, whose characters have two octets each.
  private func text(_ octets: Int) -> String { String(repeating: "ä", count: octets / 2) }

  private func frame(_ report: AppReport) -> [UInt8]? { ServerMessage.app(report).encode(.none).frame() }

  private func app(_ name: String) -> AppDescription {
    AppDescription(
      name: name, adapter: "phone", state: .foreground, processes: [1], sessions: 1, access: .allowed,
      isLaunchable: false, question: name)
  }

  @Test("Texts are cut between two characters, and a report that fits is left as it is")
  func texts() {
    let long = text(20_000)
    let cut = text(1_024)
    #expect(AppReport.done(failure: long).fitted == .done(failure: cut))
    #expect(AppReport.done(failure: "a" + long).fitted == .done(failure: "a" + text(1_022)))
    #expect(AppReport.stop(long, byUser: true).fitted == .stop(cut, byUser: true))
    #expect(AppReport.apps([app(long), app("b")]).fitted == .apps([app(cut), app("b")]))
    let alert = AlertDescription(number: 1, time: 2, app: long, text: long)
    #expect(AppReport.alerts([alert]).fitted == .alerts([.init(number: 1, time: 2, app: cut, text: cut)]))
    var samples = MessageSamples(seed: 3)
    for report in samples.appReports() { #expect(report.fitted == report) }
  }

  @Test("A text that is one long character, or very long, is cut between two Unicode scalars")
  func scalars() {
    // One character: a letter and combining accents of two octets each.
    let character = "e" + String(repeating: "\u{301}", count: 2_000)
    #expect(character.count == 1)
    let cut = character.cut(toOctets: 10)
    #expect(Array(cut.unicodeScalars) == Array(character.unicodeScalars.prefix(5)), "9 octets, and the next has two")
    #expect(character.cut(toOctets: 4_001) == character && "".cut(toOctets: 0) == "" && "€".cut(toOctets: 2) == "")
    // With time that grows with the square of the length, this would take minutes.
    #expect(text(1_000_000).cut(toOctets: 7) == text(6))
  }

  @Test("A list keeps its first entries that fit into a message, and alerts keep the newest ones")
  func lists() throws {
    let apps = (0..<2_000).map { app("\($0) " + text(1_000)) }
    guard case .apps(let fitting) = AppReport.apps(apps).fitted else {
      Issue.record("no list of apps")
      return
    }
    #expect(!fitting.isEmpty && fitting.count < apps.count)
    #expect(fitting == Array(apps.prefix(fitting.count)))
    #expect(frame(.apps(fitting)) != nil)
    #expect(frame(.apps(Array(apps.prefix(fitting.count + 1)))) == nil)

    let alerts = (0..<2_000).map { AlertDescription(number: $0, time: 0, app: text(1_000), text: "") }
    guard case .alerts(let newest) = AppReport.alerts(alerts).fitted else {
      Issue.record("no list of alerts")
      return
    }
    #expect(newest == Array(alerts.suffix(newest.count)))
    #expect(frame(.alerts(newest)) != nil)
    #expect(frame(.alerts(Array(alerts.suffix(newest.count + 1)))) == nil)
  }

  @Test("The uses of a peer by very many apps fit into a message")
  func uses() {
    let pending = Array(
      repeating: PeerUsage.Pending(.read, of: BluetoothUUID(0x2A19), milliseconds: 1), count: 16)
    var user = PeerUsage.User(
      app: text(1_024), phase: .connected, isPreserved: false, reconnects: false, isBlocked: false)
    user.pending = pending
    let subscriptions = Array(repeating: BluetoothUUID(0x2A37), count: 1_000)
    let served = PeerUsage.Served(app: text(1_024), subscriptions: subscriptions, pending: pending)
    var usage = PeerUsage(
      identifier: PeerIdentifier(high: 1, low: 2), address: DeviceAddress(1, .random), name: text(2_000),
      isLinked: true, isEnding: false, users: Array(repeating: user, count: 2_000))
    usage.served = Array(repeating: served, count: 2_000)
    let report = AppReport.links([usage, usage, usage]).fitted
    #expect(frame(report) != nil)
    guard case .links(let usages) = report else {
      Issue.record("no list of uses")
      return
    }
    #expect(usages.first?.users.first == user)
    #expect(usages.first?.name == text(1_024))
  }
}
