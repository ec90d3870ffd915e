import ArgumentParser
import BeaconLocation
import BluetoothAir
import BluetoothLab
import BluetoothRadio
import BluetoothSimulation
import BluetoothTypes
import CoreBluetoothExtras
import Foundation
import Requirements
import Testing

@testable import ble

/// The distances that a scan shows, beside those in the world.
@Suite struct WorldDistanceTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The example worlds, and that of the documentation.
  static let paths: [String] = {
    let folder = root.appendingPathComponent("Examples/Worlds")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().map { folder.appendingPathComponent($0).path }
      + [root.appendingPathComponent("Tests/ProgramTests/Files/world.yaml").path]
  }()

  @Test("There are example worlds") func examples() { #expect(Self.paths.count > 5) }

  @Test(
    "The interval of each distance in each example world contains the true distance", .requirement("L115"),
    arguments: paths)
  func distances(path: String) throws {
    let members = try WorldFile(path: path).members.map(\.name)
    try Stage(try AdapterOptions.parse(["--world", path, "--virtual-time"])).run { stage in
      let device = try #require(stage.adapter as? Device)
      let world = device.world
      let central = Central(adapter: device)
      defer { central.close() }
      try await central.waitUntilPoweredOn(within: stage.stepLimit)
      var sighted: [String: SightedDevice] = [:]
      for try await packet in central.packets(isActive: false) {
        guard stage.now < .seconds(12), sighted.count < members.count || stage.now < .seconds(3) else { break }
        let place = try #require(world.place(of: packet.address, from: device))
        var one = sighted[place.name] ?? SightedDevice(AdvertiserReport(packet))
        one.add(AdvertiserReport(packet), at: stage.now)
        sighted[place.name] = one
        // The model of the place, and that of an app that does not know the place.
        for model in [stage.distanceModel, DistanceModel()] {
          let (estimate, _) = try #require(one.distance(model))
          #expect(estimate.interval.contains(place.distance), "\(place), \(stage.now): \(estimate)")
        }
        if let estimate = packet.distance() {
          #expect(estimate.interval.contains(place.distance), "\(place), \(stage.now): \(estimate)")
        }
      }
      #expect(sighted.keys.sorted() == members.sorted())
    }
  }
}

extension World {
  /// Returns the name of the device with this address, and its distance from another one in metres.
  fileprivate func place(of address: DeviceAddress, from device: Device) -> (name: String, distance: Double)? {
    let (names, own) = (deviceNames, device.radio)
    return inspect { engine in
      names.indices.first { index in
        (engine.device(RadioID(index: index)) as? any WorldDevice)?.hasAddress(address) ?? false
      }.map { index in
        let distance = engine[RadioID(index: index)].position.squaredDistance(to: engine[own].position)
        return (names[index], Double(distance).squareRoot() / 1_000)
      }
    }
  }
}
