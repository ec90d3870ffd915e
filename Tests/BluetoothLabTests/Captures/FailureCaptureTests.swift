import CoreBluetooth
import TestSupport
import Testing

@testable import BluetoothLab

/// The captures of failing tests. One test at a time: `keepCaptures` keeps those of all worlds.
@Suite(.serialized) struct FailureCaptureTests {
  /// A world with a strap and a phone that is connected to it.
  private struct Scene {
    let world: World
    let strap: AccessoryDevice<HeartRateSensor>
    let phone: TestCentral

    init(in folder: String) throws {
      world = World(seed: 1)
      world.captureFailures(in: folder)
      strap = world.add(HeartRateSensor(), named: "strap")
      phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
      try phone.connect(to: "Heart Rate")
    }

    /// The error of an expectation that is not met.
    func failure() throws -> ExpectationFailure {
      try #require(throws: ExpectationFailure.self) {
        try world.expect("the impossible", within: .seconds(1)) { false }
      }
    }
  }

  @Test("A failed expectation names the capture of its world, which has the packets until the world ends")
  func failureNamesCapture() throws {
    try withTemporaryFolder { folder in
      var path = ""
      var atFailure = 0
      do {
        let scene = try Scene(in: folder.path + "/new/captures")
        let failure = try scene.failure()
        path = try #require(failure.capture)
        #expect(failure.description.contains("\ncapture: \(path)\n"))
        atFailure = try AirCapture(path: path).packets.count
        #expect(atFailure > 10)
        scene.world.run(for: .seconds(1))
        #expect(try scene.failure().capture == path)
      }
      #expect(try AirCapture(path: path).packets.count > atFailure)
    }
  }

  @Test("A world whose test does not fail leaves no capture")
  func successLeavesNothing() throws {
    try withTemporaryFolder { folder in
      do {
        let scene = try Scene(in: folder.path)
        #expect(folder.names.count == 1)
        // The test has not started this capture, so it does not end it.
        try scene.world.finishCapture()
        #expect(folder.names.count == 1)
      }
      #expect(folder.names.isEmpty)
    }
  }

  @Test("The captures of all worlds are kept for a test that fails without an expectation")
  func allAreKept() throws {
    try withTemporaryFolder { folder in
      do {
        let scenes = [try Scene(in: folder.path), try Scene(in: folder.path)]
        #expect(World.keepCaptures() == folder.names.map(folder.file))
        #expect(scenes.count == 2)
      }
      #expect(folder.names.count == 2)
      #expect(World.keepCaptures().isEmpty)
    }
  }

  @Test("A capture that the test starts takes the place of the one for failures")
  func ownCaptureWins() throws {
    try withTemporaryFolder { folder in
      let scene = try Scene(in: folder.path)
      scene.world.startCapture(try Capture(path: folder.file("own.pcapng")))
      #expect(folder.names == ["own.pcapng"])
      #expect(try scene.failure().capture == nil)
      try scene.world.finishCapture()
      #expect(try !AirCapture(path: folder.file("own.pcapng")).packets.isEmpty)
    }
  }

  @Test("A folder that can't be created leaves worlds without such a capture")
  func noFolder() throws {
    try withTemporaryFolder { folder in
      try Data().write(to: URL(fileURLWithPath: folder.file("file")))
      #expect(try Scene(in: folder.file("file")).failure().capture == nil)
    }
  }
}
