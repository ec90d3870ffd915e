import BluetoothRadio
import Testing

@testable import BluetoothLab

@Suite("Fault plans")
struct FaultPlanTests {
  private static let plans: [FaultPlan] = [
    [.air(.lose)],
    [.air(.corrupt, .notifications(of: 12, from: "strap"), .number(3))],
    [.air(.inject([1, 0xFF]), .control(0x02), .numbers(2...5))],
    [.air(.lose, AirMatch(.channel(5), to: "phone"), .percent(12.5)), .air(.lose, AirMatch(.empty))],
    [.air(.lose, AirMatch(.advertising())), .air(.lose, AirMatch(.attribute()))],
    [.hci(.delay(.milliseconds(20)), HCIMatch(.event(0x3E, subevent: 1), on: "hub"))],
    [.hci(.duplicate, HCIMatch(.data, direction: .toHost)), .hci(.corrupt, HCIMatch(.command(0x0C03)))],
    [.hci(.lose, .anything, .number(1))],
    [
      .device(.mute(for: .seconds(2)), "strap", when: .at(.milliseconds(1_500))),
      .device(.mute(), when: .at(.zero)),
      .device(.driftClock(partsPerMillion: -250), "strap", when: .afterAir(.connectIndications, .number(2))),
      .device(.resetController, "hub", when: .afterHCI(HCIMatch(.event(0x05)), .every)),
      .device(.refuseConnections(for: .seconds(1)), when: .at(.seconds(3))),
      .device(.stopAnswering(), when: .at(.seconds(4))),
    ],
  ]

  @Test("A plan survives a round trip through JSON", arguments: plans)
  func roundTrip(plan: FaultPlan) throws {
    #expect(try FaultPlan(json: plan.json) == plan)
  }

  @Test("A plan is parsed from handwritten JSON")
  func reading() throws {
    let plan = try FaultPlan(
      json: """
        { "faults": [
          { "layer": "air", "fault": "lose", "attribute": "0x1B", "from": "strap", "number": 3 },
          { "layer": "air", "fault": "inject", "octets": "02 13", "control": 12 },
          { "layer": "hci", "fault": "delay", "by": 0.02, "event": "0x0E", "device": "phone", "percent": 10 },
          { "layer": "device", "fault": "mute", "device": "strap", "at": 5, "for": 1.5 },
          { "layer": "device", "fault": "stopAnswering", "after": { "layer": "air", "control": "any", "number": 4 } }
        ] }
        """)
    #expect(
      plan == [
        .air(.lose, .notifications(from: "strap"), .number(3)),
        .air(.inject([0x02, 0x13]), .control(0x0C)),
        .hci(.delay(.milliseconds(20)), HCIMatch(.event(0x0E), on: "phone"), .percent(10)),
        .device(.mute(for: .milliseconds(1_500)), "strap", when: .at(.seconds(5))),
        .device(.stopAnswering(), when: .afterAir(.control(), .number(4))),
      ])
  }

  @Test(
    "Invalid JSON is refused with the reason",
    arguments: [
      (#"{"layer": "water", "fault": "lose"}"#, "\"air\", \"hci\" or \"device\""),
      (#"{"layer": "air", "fault": "drop"}"#, "or \"inject\" on the air"),
      (#"{"layer": "air", "fault": "lose", "form": "strap"}"#, "unknown key"),
      (#"{"layer": "air", "fault": "lose", "event": 3}"#, "this fault does not have this key"),
      (#"{"layer": "air", "fault": "lose", "control": 3, "channel": 4}"#, "expected only one of"),
      (#"{"layer": "air", "fault": "lose", "control": "0x1FF"}"#, "expected a number of 8 bits"),
      (#"{"layer": "air", "fault": "inject", "octets": "0"}"#, "pairs of hexadecimal digits"),
      (#"{"layer": "air", "fault": "lose", "percent": 101}"#, "expected 0 to 100"),
      (#"{"layer": "air", "fault": "lose", "numbers": [3, 2]}"#, "the first and the last"),
      (#"{"layer": "device", "fault": "mute", "at": 1, "after": {"layer": "air"}}"#, "conflicts with \"at\""),
      (#"{"layer": "air", "fault": "lose", "octets": "00"}"#, "this fault does not have this key"),
      (#"{"layer": "air", "fault": "lose", "number": 0}"#, "expected a number from 1"),
      (#"{"layer": "air", "fault": "lose", "number": 1, "percent": 5}"#, "expected only one of"),
      (#"{"layer": "air", "fault": "lose", "empty": false}"#, "expected true"),
      (#"{"layer": "hci", "fault": "lose", "subevent": 2}"#, "requires \"event\""),
      (#"{"layer": "hci", "fault": "duplicate", "by": 1}"#, "this fault does not have this key"),
      (#"{"layer": "hci", "fault": "delay", "by": -1}"#, "expected 0 to 1,000,000,000 seconds"),
      (#"{"layer": "device", "fault": "mute", "at": 1e30}"#, "expected 0 to 1,000,000,000 seconds"),
      (#"{"layer": "device", "fault": "resetController", "at": 1, "for": 2}"#, "this fault does not have this key"),
      (#"{"layer": "device", "fault": "driftClock", "at": 1, "partsPerMillion": 1e300}"#, "expected -100,000 to"),
    ])
  func refusals(json: String, reason: String) {
    do {
      _ = try FaultPlan(json: #"{"faults": [\#(json)]}"#)
      Issue.record("it was taken")
    } catch DecodingError.dataCorrupted(let context) {
      #expect(context.debugDescription.contains(reason))
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test("A packet is matched with the faults of the world and of its two devices, in the order of the plan")
  func rulesByDevice() {
    let devices = (0..<4).map(RadioID.init(index:))
    let scopes: [FaultScope] = [
      .device(devices[2]), .world, .link(devices[1], devices[0]), .device(devices[1]), .world, .device(devices[0]),
    ]
    var rules = RulesByDevice()
    for (number, scope) in scopes.enumerated() { rules.add(number, to: scope) }
    #expect(rules.about(devices[0]) == [1, 2, 4, 5])
    #expect(rules.about(devices[0], devices[1]) == [1, 2, 3, 4, 5])
    #expect(rules.about(devices[3], devices[2]) == [0, 1, 4])
    #expect(rules.about(devices[3]) == [1, 4])
  }
}
