import BluetoothRadio
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("Radio arbitration")
struct RadioArbitrationTests {
  private func timeslot(
    _ purpose: TimeslotRequest.Purpose, at start: Int64, lasting length: Int64 = 400, waiting slack: Int64 = 0,
    losses: Int = 0, isUrgent: Bool = false
  ) -> TimeslotRequest {
    let start = Instant.zero + .microseconds(start)
    return TimeslotRequest(
      purpose: purpose, start: start, latestStart: start + .microseconds(slack), shortest: .microseconds(length),
      longest: .microseconds(length), losses: losses, isUrgent: isUrgent)
  }

  /// Returns the index of the timeslot that begins first.
  private func winner(_ timeslots: [TimeslotRequest]) -> Int? {
    var scheduler = RadioScheduler()
    let places = timeslots.indices.map { scheduler.add(.advertising($0)) }
    for (place, timeslot) in zip(places, timeslots) { scheduler[place] = timeslot }
    while true {
      switch scheduler.decide(at: scheduler.next) {
      case .begin(_, .advertising(let index)): return index
      case .lose(let place, _): scheduler[place] = nil
      default: return nil
      }
    }
  }

  @Test("Of two overlapping timeslots the more important one wins, even if it starts later")
  func purpose() {
    #expect(winner([timeslot(.auxiliary, at: 0), timeslot(.connection, at: 100)]) == 1)
    #expect(winner([timeslot(.connection, at: 0), timeslot(.periodic, at: 100)]) == 0)
    #expect(winner([timeslot(.auxiliary, at: 0), timeslot(.connection, at: 1_000)]) == 0)
  }

  @Test("Consecutive losses raise the importance of a timeslot above another purpose, and urgency beats everything")
  func age() {
    #expect(winner([timeslot(.connection, at: 0), timeslot(.advertising, at: 100, losses: 3)]) == 0)
    #expect(winner([timeslot(.connection, at: 0), timeslot(.advertising, at: 100, losses: 4)]) == 1)
    #expect(
      winner([timeslot(.advertising, at: 0, losses: 90), timeslot(.connection, at: 100, isUrgent: true)]) == 1)
  }

  @Test("A timeslot that can wait is postponed until the more important timeslot has ended")
  func waiting() {
    var scheduler = RadioScheduler()
    let advertising = scheduler.add(.advertising(0))
    let connection = scheduler.add(.connection(0))
    scheduler[advertising] = timeslot(.advertising, at: 0, waiting: 5_000)
    scheduler[connection] = timeslot(.connection, at: 300)
    guard case .nothing = scheduler.decide(at: .zero) else {
      Issue.record("advertising did not wait")
      return
    }
    #expect(scheduler[advertising]?.start == .zero + .microseconds(700))
    #expect(scheduler.next == .zero + .microseconds(300))
  }

  @Test("An event with much data leaves room at the end for a timeslot that can wait, and stops for one that can't")
  func limit() {
    var scheduler = RadioScheduler()
    let place = scheduler.add(.advertising(0))
    var waiting = timeslot(.advertising, at: 1_000, waiting: 20_000)
    waiting.whole = .microseconds(3_000)
    scheduler[place] = waiting
    let (end, next) = (Instant.zero + .microseconds(400), Instant.zero + .milliseconds(10))
    #expect(scheduler.limit(end: end, next: next) == Instant.zero + .microseconds(7_000 - 150))
    scheduler[scheduler.add(.periodicAdvertising(0))] = timeslot(.periodic, at: 5_000)
    #expect(scheduler.limit(end: end, next: next) == Instant.zero + .microseconds(5_000 - 150))
  }

  @Test(
    "Links of equal interval get anchor points that do not overlap, while there is room", .requirement("L117"),
    arguments: [24, 25, 80])
  func anchors(interval: UInt16) {
    var starts: [Int64] = []
    let earliest = Instant.zero + .microseconds(777)
    for number in 0..<Int(interval) {
      // Each connection is made at a different time.
      let now = earliest + .microseconds(Int64(number) * 3_331)
      var placement = AnchorPointPlanner(
        interval: interval, earliest: now, grid: starts.first.map { Instant(nanoseconds: $0) })
      for start in starts { placement.occupy(from: Instant(nanoseconds: start), interval: interval) }
      let (offset, delay) = placement.best()
      #expect(offset <= interval && delay >= .zero && delay < .microseconds(1_250))
      starts.append((now + .microseconds(1_250) * Int64(offset) + delay).nanoseconds)
    }
    let period = 1_250_000 * Int64(interval)
    let places = Set(starts.map { ($0 - starts[0]) % period })
    #expect(places.count == Int(interval))
    for place in places { #expect(place % 1_250_000 == 0) }
  }

  @Test(
    "128 connections in both roles, four advertising sets and a scan share the radio for 30 s without starvation",
    .requirement("A006", "L172", "L210", "L211"))
  func nobodyStarves() throws {
    let air = PerfectAir()
    let hub = ControllerHarness("hub", address: 0x1111_1111_1111) { $0.aclBufferCount = 128 }
    let advertiser = ControllerHarness("advertiser", address: 0x3333_3333_3333)
    air.start(hub, advertiser)
    let peers = (0..<128).map {
      ControllerHarness("peer \($0)", address: 0x2222_2222_0000 + UInt64($0), seed: UInt64($0))
    }
    hub.send(.leSetExtendedAdvertisingParameters(.every100ms(0, [.legacy, .connectable, .scannable])))
    for (number, peer) in peers.enumerated() {
      air.start(peer)
      // Interval 200 ms, supervision timeout 4 s.
      if number % 2 == 0 {
        peer.advertise()
        hub.connectExtended(to: peer, interval: 160, timeout: 400)
      } else {
        hub.enable(0)
        peer.connect(to: hub, interval: 160, timeout: 400)
      }
      #expect(air.run(until: { !peer.connectionCompletes.isEmpty && hub.connectionCompletes.count == number + 1 }))
    }
    #expect(hub.connectionCompletes.count { $0.role == 1 } == 64)

    for number in 1...4 {
      let handle = HCI.AdvertisingHandle(rawValue: UInt8(number))
      hub.send(.leSetExtendedAdvertisingParameters(.every100ms(handle) { $0.advertisingSID = UInt8(number) }))
      hub.setData(Array(repeating: UInt8(number), count: 100), of: handle)
      #expect(hub.enable(handle) == .success)
    }
    hub.scanExtended()
    advertiser.advertise(.nonConnectableUndirected)
    air.clearLog()
    hub.clear()
    for peer in peers { peer.clear() }
    // More than seven supervision timeouts.
    air.run(for: .seconds(30))

    #expect(hub.disconnections.isEmpty)
    #expect(peers.allSatisfy { $0.disconnections.isEmpty })
    for number in 1...4 {
      let own = air.log.filter { $0.device == 0 && $0.extended?.dataInfo?.sid == UInt8(number) }
      #expect(own.count { $0.isPrimary } > 100)
      #expect(own.count { !$0.isPrimary && $0.extended?.data.count == 100 } > 50)
    }
    #expect(hub.extendedReports.count { $0.address == HCI.PeerAddress(advertiser.address) } > 25)
    // Data arrive on every connection.
    for complete in hub.controller.connections { hub.send([1, 2, 3], on: complete.handle) }
    air.run(for: .seconds(5))
    #expect(peers.allSatisfy { $0.data.count == 1 })
  }
}
