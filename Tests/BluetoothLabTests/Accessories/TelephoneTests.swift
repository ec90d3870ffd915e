import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import Requirements
import TestSupport
import Testing

@Suite("Telephone")
struct TelephoneTests {
  private static let (newAlert, unread, alertControl) = ("2A46", "2A45", "2A44")

  private func meet(
    _ telephone: Telephone = Telephone(), subscribing uuids: [String] = []
  ) async throws -> Encounter<Telephone> {
    let meeting = Encounter(telephone)
    try #require(await meeting.prepare(subscribing: uuids))
    return meeting
  }

  @Test("A telephone notifies new and unread alerts of the categories that a client has enabled", .requirement("L181"))
  func alerts() async throws {
    let meeting = try await meet(subscribing: [Self.newAlert, Self.unread])
    meeting.app.read("2A47")
    meeting.app.read("2A48")
    meeting.accessory.act { $0.alert(.email, text: "too early", in: &$1) }
    #expect(await meeting.command([0, 1], to: Self.alertControl) == .accepted)
    #expect(await meeting.command([1, 255], to: Self.alertControl) == .accepted)
    // Email, call, missed call, SMS, schedule, instant message.
    #expect(meeting.app.values(of: "2A47") == [[0xBA, 0x02]] && meeting.app.values(of: "2A48") == [[0xBA, 0x02]])
    #expect(meeting.app.values(of: Self.newAlert).isEmpty)
    meeting.accessory.act { telephone, context in
      telephone.alert(.email, text: "Größere Überschrift", in: &context)
      telephone.alert(.call, text: "not enabled", in: &context)
      telephone.alert(.news, text: "not supported", in: &context)
      telephone.setUnread(7, of: .sms, in: &context)
    }
    await meeting.world.run(for: .milliseconds(500))
    // The second email; the text ends before the character that does not fit into 18 octets.
    #expect(meeting.app.values(of: Self.newAlert) == [[1, 2] + Array("Größere Übersch".utf8)])
    #expect(meeting.app.values(of: Self.unread) == [[5, 7]])
    #expect(await meeting.command([4, 255], to: Self.alertControl) == .accepted)
    #expect(meeting.app.values(of: Self.newAlert).count == 2)
    #expect(await meeting.command([5, 5], to: Self.alertControl) == .accepted)
    #expect(meeting.app.values(of: Self.unread) == [[5, 7], [5, 7]])
    #expect(await meeting.command([2, 1], to: Self.alertControl) == .accepted)
    #expect(await meeting.command([3, 255], to: Self.alertControl) == .accepted)
    meeting.accessory.act { telephone, context in
      telephone.alert(.email, in: &context)
      telephone.setUnread(8, of: .sms, in: &context)
    }
    #expect(await meeting.command([5, 5], to: Self.alertControl) == .accepted)
    #expect(meeting.app.values(of: Self.newAlert).count == 2 && meeting.app.values(of: Self.unread).count == 2)
  }

  @Test("A telephone rejects commands and categories of alerts that it does not support", .requirement("L181"))
  func refusals() async throws {
    let meeting = try await meet()
    let cases: [([UInt8], Int)] = [
      ([6, 1], 0xA0), ([0, 2], 0xA0), ([0, 10], 0xA0), ([0], 0x0D), ([], 0x0D), ([0, 1, 1], 0x0D),
    ]
    for (command, error) in cases {
      #expect(await meeting.command(command, to: Self.alertControl) == .rejected(error), "\(command)")
    }
  }

  @Test("A telephone gives its scheduled alerts at their times")
  func schedule() async throws {
    var telephone = Telephone()
    telephone.scheduledAlerts = [
      Telephone.ScheduledAlert(at: .seconds(20), .email, text: "Bob", unread: 2, alertStatus: []),
      Telephone.ScheduledAlert(at: .seconds(10), .email, text: "Ann", alertStatus: .ringer),
      Telephone.ScheduledAlert(at: .seconds(10), .news, text: "not supported"),
    ]
    let meeting = try await meet(telephone, subscribing: [Self.newAlert, Self.unread, "2A3F"])
    #expect(await meeting.command([0, 1], to: Self.alertControl) == .accepted)
    #expect(await meeting.command([1, 1], to: Self.alertControl) == .accepted)
    await meeting.world.run(for: Duration.seconds(9.9) - meeting.world.now)
    #expect(meeting.app.values(of: Self.newAlert).isEmpty && meeting.app.values(of: "2A3F").isEmpty)
    await meeting.world.run(for: .seconds(2))
    #expect(meeting.app.values(of: Self.newAlert) == [[1, 1] + Array("Ann".utf8)])
    #expect(meeting.app.values(of: Self.unread).isEmpty && meeting.app.values(of: "2A3F") == [[1]])
    await meeting.world.run(for: .seconds(10))
    #expect(meeting.app.values(of: Self.newAlert).last == [1, 2] + Array("Bob".utf8))
    #expect(meeting.app.values(of: Self.unread) == [[1, 2]] && meeting.app.values(of: "2A3F") == [[1], [0]])
    #expect(meeting.app.values(of: Self.newAlert).count == 2)
  }

  @Test("A client silences the ringer of a telephone, and hears of its state", .requirement("L191"))
  func ringer() async throws {
    let meeting = try await meet(subscribing: ["2A3F", "2A41"])
    meeting.accessory.update { $0.alertStatus = [.ringer, .display] }
    await meeting.world.run(for: .milliseconds(300))
    meeting.app.write([2], to: "2A40", .withoutResponse)
    await meeting.world.run(for: .milliseconds(300))
    #expect(meeting.app.values(of: "2A3F") == [[5], [4]] && meeting.app.values(of: "2A41").isEmpty)
    for command: UInt8 in [1, 9, 3] { meeting.app.write([command], to: "2A40", .withoutResponse) }
    await meeting.world.run(for: .milliseconds(300))
    #expect(meeting.app.values(of: "2A41") == [[0], [1]])
    #expect(meeting.app.values(of: "2A3F").count == 2)
    meeting.app.read("2A41")
    await meeting.world.run(for: .milliseconds(300))
    #expect(meeting.app.values(of: "2A41").last == [1])
  }

  @Test("A client reads and sets the clock of a telephone, which tells the day of the week", .requirement("L194"))
  func clock() async throws {
    let meeting = try await meet(
      Telephone(startTime: DateTime(year: 2024, month: 2, day: 28, hours: 23, minutes: 59)), subscribing: ["2A2B"])
    await meeting.world.run(for: .seconds(70))
    meeting.app.read("2A2B")
    for uuid in ["2A0F", "2A14", "2A11"] { meeting.app.read(uuid) }
    await meeting.world.run(for: .milliseconds(500))
    let value = try CurrentTime(try #require(meeting.app.values(of: "2A2B").last))
    // A Thursday, and a leap day later.
    #expect("\(value.exactTime.dayDateTime.dateTime)".hasPrefix("2024-02-29 00:00:"))
    #expect(value.exactTime.dayDateTime.dayOfWeek == .thursday && value.adjustReason == [])
    #expect(meeting.app.values(of: "2A0F") == [[4, 0]])
    #expect(meeting.app.values(of: "2A14") == [[7, 253, 255, 255]])
    #expect(meeting.app.values(of: "2A11") == [[0xE8, 7, 3, 31, 2, 0, 0, 4]])

    // 2025-06-01 12:00:00.5, a Sunday.
    let time: [UInt8] = [0xE9, 7, 6, 1, 12, 0, 0]
    #expect(await meeting.command(time + [7, 128, 0], to: "2A2B") == .response(0xE9, 7, 6, 1, 12, 0, 0, 7, 128, 1))
    #expect(await meeting.command(time + [1, 0, 0], to: "2A2B").error == 0x80, "it was no Monday")
    #expect(await meeting.command([0, 0, 6, 1, 12, 0, 0, 0, 0, 0], to: "2A2B").error == 0x13)
    #expect(await meeting.command([0xE9, 7, 13, 1, 12, 0, 0, 0, 0, 0], to: "2A2B").error == 0x13)
    // 2025-02-29, and a time before 1970.
    #expect(await meeting.command([0xE9, 7, 2, 29, 12, 0, 0, 0, 0, 0], to: "2A2B").error == 0x13)
    #expect(await meeting.command([0xB1, 7, 12, 31, 23, 0, 0, 0, 0, 0], to: "2A2B").error == 0x13)
    #expect(await meeting.command(time, to: "2A2B").error == 0x0D)
  }

  @Test("Reads of the clock of a telephone in one second differ by the time between them")
  func clockFraction() async throws {
    let meeting = try await meet()
    // 0.1 s after a tick of the telephone, so that no tick is between the reads.
    let rest = Duration.seconds(1) - .nanoseconds(meeting.world.now.components.attoseconds / 1_000_000_000)
    await meeting.world.run(for: rest + .milliseconds(100))
    var times: [Duration] = []
    for _ in 0..<2 {
      meeting.app.read("2A2B")
      await meeting.world.run(for: .milliseconds(400))
      let time = try CurrentTime(try #require(meeting.app.values(of: "2A2B").last)).exactTime
      let seconds = time.dayDateTime.dateTime.seconds
      times.append(.seconds(Int(seconds)) + .nanoseconds(Int64(time.fractions256) * 3_906_250))
    }
    // A request waits for the next connection event, at most 30 ms.
    let difference = times[1] - times[0]
    #expect((.milliseconds(350) ... .milliseconds(450)).contains(difference), "\(difference)")
    // The clock began with a full minute at the world's time 0, and the second request was written at 0.5 s.
    let fraction = times[1] - .seconds(meeting.world.now.components.seconds % 60)
    #expect((.milliseconds(495) ... .milliseconds(560)).contains(fraction), "\(fraction)")
  }

  @Test(
    "A telephone updates its clock from the reference on request, unless the request is cancelled", .requirement("L194")
  )
  func referenceUpdate() async throws {
    let meeting = try await meet(subscribing: ["2A2B"])
    func state() async -> [UInt8]? {
      meeting.app.read("2A17")
      await meeting.world.run(for: .milliseconds(300))
      return meeting.app.values(of: "2A17").last
    }
    #expect(await state() == [0, 5])
    meeting.app.write([1], to: "2A16", .withoutResponse)
    #expect(await state() == [1, 5])
    meeting.app.write([2], to: "2A16", .withoutResponse)
    #expect(await state() == [0, 1])
    await meeting.world.run(for: .seconds(3))
    #expect(meeting.app.values(of: "2A2B").isEmpty)
    meeting.app.write([1], to: "2A16", .withoutResponse)
    await meeting.world.run(for: .seconds(3))
    #expect(await state() == [0, 0])
    #expect(meeting.app.values(of: "2A2B").count == 1 && meeting.app.values(of: "2A2B")[0].last == 2)
    meeting.app.read("2A14")
    meeting.accessory.update { $0.hasReference = false }
    meeting.app.write([1], to: "2A16", .withoutResponse)
    await meeting.world.run(for: .seconds(3))
    #expect(meeting.app.values(of: "2A14") == [[6, 8, 0, 0]])
    #expect(await state() == [0, 2])
  }
}
