import AppleClient
import BluetoothLab
import BluetoothLabTime
import Dispatch
import Testing
import UIKit
import XCTest

/// The app on a phone of a world, and a strap.
private func makeApp(in world: World) -> (SimulatedApp<AppDelegate>, AccessoryDevice<HeartRateSensor>) {
  var options = DeviceOptions()
  options.policy = .ios
  let phone = world.makeDevice(named: "phone", options)
  let app = phone.app(
    named: "com.example.client", manifest: AppManifest(backgroundModes: [.central], usageDescription: "pulse"),
    delegate: AppDelegate.init)
  return (app, world.add(HeartRateSensor(), named: "strap", at: Position(x: 1)))
}

@Suite(.serialized) struct AppLifeTests {
  @Test("An app as for an iPhone is launched in the background for its strap, and sees when it is visible")
  func launchedForTheStrap() throws {
    let world = World(seed: 1)
    let (app, strap) = makeApp(in: world)
    app.launch()
    try world.expect("the app is connected") { app.root?.log.last == "connected true, visible true" }
    #expect(app.root?.log == ["connected false, visible true", "my strap in active", "connected true, visible true"])
    app.enterBackground()
    world.run(for: .seconds(1))
    #expect(app.root?.log.last == "connected true, visible false")
    #expect(UIApplication.shared.applicationState == .background)
    strap.setPower(false)
    world.run(for: .seconds(20))
    app.terminate()
    strap.setPower(true)
    try world.expect("the app is launched again") { app.root?.log.count == 2 }
    #expect(app.root?.log == ["launched for central", "restored in background"])
    #expect(UIApplication.shared.applicationState == .background)
    app.enterForeground()
    world.run(for: .seconds(1))
    #expect(app.root?.log.last == "connected true, visible true")
  }

  @Test("Names that Foundation and Dispatch have on Apple's systems follow the time of a world")
  func namesOfFoundationAndDispatch() async throws {
    let world = World(seed: 1)
    try await world.withAppTime {
      let stopwatch = Stopwatch()
      await stopwatch.restart()
      let start = CFAbsoluteTimeGetCurrent()
      await world.run(for: .seconds(3))
      #expect(abs(age(of: start) - 3) < 0.001)
      guard case .nanoseconds(3_000_000_000) = await stopwatch.elapsed() else {
        Issue.record("another time")
        return
      }
    }
  }
}

final class ProxyTests: XCTestCase {
  func testService() async throws {
    let uuid = try await Proxy().service().uuid.uuidString
    XCTAssertEqual(uuid, "180D")
  }
}
