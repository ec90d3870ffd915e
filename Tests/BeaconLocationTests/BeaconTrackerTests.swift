import Foundation
import Testing

@testable import BeaconLocation

@Suite("Tracking of beacons") struct BeaconTrackerTests {
  @Test("A flood of beacons and of packets takes bounded memory, and the order of reports is that of the identities")
  func flood() throws {
    var tracker = BeaconTracker()
    let uuid = UUID()
    let constraint = BeaconConstraint(uuid: uuid, major: nil, minor: nil)
    tracker.range(constraint, at: .zero)
    for minor in (0..<UInt16(2_000)).reversed() {
      let identity = BeaconIdentity(uuid: uuid, major: 0, minor: minor)
      for _ in 0..<3 {
        _ = tracker.receive(BeaconSighting(identity: identity, levelAtOneMetre: -59, rssi: -70), at: .milliseconds(1))
      }
    }
    let events = tracker.timeReached(.seconds(1))
    guard case .ranged(constraint, let beacons)? = events.first else {
      Issue.record("\(events)")
      return
    }
    #expect(beacons.map(\.identity.minor) == Array(1_000..<2_000))
    // Packets without a level leave the distance unknown.
    var other = BeaconTracker()
    other.range(constraint, at: .zero)
    let identity = BeaconIdentity(uuid: uuid, major: 0, minor: 0)
    _ = other.receive(BeaconSighting(identity: identity, levelAtOneMetre: -59, rssi: nil), at: .zero)
    guard case .ranged(_, let unknown)? = other.timeReached(.seconds(1)).first else {
      Issue.record("no ranging")
      return
    }
    #expect(unknown.map(\.distance) == [nil])
  }

  @Test("After a pause of the program, one ranging follows and not one for each second")
  func pause() {
    var tracker = BeaconTracker()
    tracker.range(BeaconConstraint(uuid: UUID(), major: nil, minor: nil), at: .zero)
    #expect(tracker.deadline == .seconds(1))
    #expect(tracker.timeReached(.seconds(1)).count == 1)
    #expect(tracker.deadline == .seconds(2))
    #expect(tracker.timeReached(.seconds(60)).count == 1)
    #expect(tracker.timeReached(.seconds(60)).isEmpty && tracker.deadline == .seconds(61))
  }

  @Test("The latest levels count: a beacon that comes nearer is near after three seconds")
  func averaging() throws {
    var tracker = BeaconTracker()
    let identity = BeaconIdentity(uuid: UUID(), major: 0, minor: 0)
    tracker.model = DistanceModel(exponent: 2, shadowing: 0)
    tracker.range(BeaconConstraint(uuid: identity.uuid, major: 0, minor: 0), at: .zero)
    var metres: [Double] = []
    for tenth in 0..<80 {
      let now = Duration.milliseconds(100 * tenth)
      _ = tracker.receive(
        BeaconSighting(identity: identity, levelAtOneMetre: -60, rssi: tenth < 40 ? -80 : -60), at: now)
      for case .ranged(_, let beacons) in tracker.timeReached(now) {
        metres.append(try #require(beacons.first?.distance?.metres))
      }
    }
    #expect(metres.count == 7 && metres == metres.sorted(by: >))
    #expect(abs(metres[0] - 10) < 1e-9 && abs(metres[6] - 1) < 1e-9)
  }
}
