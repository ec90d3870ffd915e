import ArgumentParser
import BluetoothAir
import BluetoothDissection
import BluetoothLab
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import ble

/// Handles, permissions and times of services in the files of `ble serve` and `ble clone`, in virtual time.
@Suite struct ServedHandlesTests {
  private static let services = """
    - uuid: A000
      handle: 64
      includedHandles: [32]
      characteristics:
        - {uuid: B000, properties: [read, notify], value: "01", handle: 66}
        - {uuid: B000, properties: [read], value: "02", handle: 80}
    - uuid: A001
      handle: 32
      characteristics:
        - uuid: B001
          properties: [read, write]
          value: "03"
          handle: 40
          userDescription: Level
          descriptors: [{uuid: B002, value: "04", handle: 50}, {uuid: B003, value: "05"}]
    """

  /// Returns the recording of the device, as `ble clone --handles` makes it.
  private static func clone(
    _ found: DeviceChoice.Candidate, _ stage: Stage, handles: Bool = true, probesWrites: Bool = false
  ) async throws -> (recording: RecordingFile, tree: GATTTree) {
    var advertising = RecordedAdvertising()
    advertising.add(.advInd, [2, 1, 6, 6, 9, 0x54, 0x68, 0x69, 0x6E, 0x67], isConnectable: true, at: .zero)
    let tree = try await stage.withLink(to: found) {
      try await GATTTree(of: $0, readsValues: true, probesWrites: probesWrites, stage)
    }
    return (RecordingFile(named: "Thing", advertising, tree, handles: handles), tree)
  }

  /// Returns the handles of services, of values and of descriptors.
  private static func handles(of tree: GATTTree) -> [[UInt16]] {
    let characteristics = tree.services.flatMap(\.characteristics)
    return [
      tree.services.compactMap(\.handle), characteristics.compactMap(\.handle),
      characteristics.flatMap(\.descriptors).compactMap(\.handle),
    ]
  }

  @Test("A served device has the handles of its file, and a file cloned with handles gives the same ones again")
  func roundTrip() throws {
    var text = Meeting.file(Self.services)
    for _ in 0..<2 {
      let clone = NIOLockedValueBox("")
      try Meeting.play(text) { _, found, stage in
        let (recording, tree) = try await Self.clone(found, stage)
        #expect(Self.handles(of: tree) == [[32, 64], [41, 67, 81], [42, 50, 51, 68]])
        #expect(recording.notes == [])
        clone.withLockedValue { $0 = recording.yaml }
      }
      text = clone.withLockedValue { $0 }
      let description = try #require(try WorldFile(text: text).members.first?.description)
      #expect(description.services.map(\.handle) == [32, 64])
      #expect(description.services.map(\.includes) == [[], [0]])
    }
  }

  @Test("A recorded tree whose descriptors have another order, or whose handles are those of an app, says so")
  func otherOrders() throws {
    func tree(_ first: UInt16) -> GATTTree {
      let descriptors = [("2908", first + 3), ("2902", first + 4)].map { uuid, handle in
        let type = CBUUID(string: uuid)
        return GATTTree.Descriptor(uuid: type, value: .value(ValueText([1, 0], of: type)), handle: handle)
      }
      return GATTTree(services: [
        GATTTree.Service(
          uuid: CBUUID(string: "A000"), isPrimary: true, includes: [],
          characteristics: [
            GATTTree.Characteristic(
              uuid: CBUUID(string: "B000"), properties: .notify, value: .none, descriptors: descriptors,
              handle: first + 2),
            GATTTree.Characteristic(
              uuid: CBUUID(string: "B001"), properties: .write, value: .none, descriptors: [], handle: first + 6),
          ], handle: first)
      ])
    }
    var advertising = RecordedAdvertising()
    advertising.add(.advInd, [2, 1, 6], isConnectable: true, at: .zero)
    let far = RecordingFile(named: "Thing", advertising, tree(100), handles: true)
    #expect(far.notes == ["the file has another order of attributes: their handles differ at B000"])
    let service = try #require(try WorldFile(text: far.yaml).members.first?.description?.services.first)
    #expect(service.handle == 100 && service.characteristics.map(\.handle) == [101, 105])
    let near = RecordingFile(named: "Thing", advertising, tree(10), handles: true)
    #expect(near.notes.count == 2 && near.yaml.contains("firstHandle: 17"))
    #expect(try WorldFile(text: near.yaml).members.first?.description?.movesSystemServices == true)
    // Handles that no server has are left out.
    let overlapping = GATTTree(services: tree(100).services + tree(102).services)
    let without = RecordingFile(named: "Thing", advertising, overlapping, handles: true)
    #expect(without.notes == ["the file can't describe the handles, which are unknown or out of order: it has none"])
    #expect(try WorldFile(text: without.yaml).members.first?.description?.services.first?.handle == nil)
  }

  @Test("A handle that an adapter can't give ends serve with one line that names the service and the handle")
  func takenHandle() throws {
    // The world moves the GAP service, and an app can't.
    let text = Meeting.file("- {uuid: A000, handle: 12}").replacing(
      "kind: peripheral", with: "kind: peripheral\n      firstHandle: 256")
    let description = try #require(try WorldFile(text: text).members.first?.description)
    #expect(description.movesSystemServices)
    try Meeting.run { local, _, stage in
      let player = PeripheralPlayer(description, named: "Thing", by: local, stage, isJSON: false) { _ in }
      let error = await #expect(throws: CBError.self) { try await player.play() }
      #expect(error?.code == .invalidHandle)
      let failure = await stage.failure(of: try #require(error), "serving \"Thing\"", by: local)
      #expect(
        "\(failure)"
          == "serving \"Thing\": The attribute handle 12 of the service A000 is taken, out of order or outside the range"
      )
    }
  }

  @Test("A served service comes and goes at the times of the file, and its central gets Service Changed")
  func presences() throws {
    let lines = try Meeting.play(
      Meeting.file(
        """
        - {uuid: A000, handle: 40, characteristics: [{uuid: B000, properties: [notify], value: "01", notifyPeriod: 0.5}]}
        - {uuid: A001, presentFrom: 20}
        - uuid: A002
          presentFrom: 40
          presentUntil: 20
          handle: 60
          characteristics: [{uuid: B001, properties: [read, notify]}]
        """)
    ) { _, found, stage in
      try await stage.withLink(to: found) { peripheral in
        func services() async throws -> [UInt16?] {
          try await peripheral.discoverServices(within: stage.stepLimit).map(\.handle)
        }
        #expect(try await services() == [40, 60])
        let characteristic = try await AttributePath("B001").characteristic(on: peripheral, stage)
        let subscription = try await characteristic.subscribe(within: stage.stepLimit)
        try await stage.sleep(20)
        #expect(try await services().count == 2)
        #expect(try await services().contains(60) == false)
        try await stage.sleep(20)
        #expect(try await services().count == 3)
        #expect(try await services().contains(60))
        withExtendedLifetime(subscription) {}
      }
    }
    #expect(lines.contains("subscribe B001") && lines.contains("unsubscribe B001"))
  }

  @Test("The answers of a device to reads, and to values that are written back, are permissions of its clone")
  func permissions() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).yaml")
    defer { try? FileManager.default.removeItem(at: path) }
    try Meeting.file(
      """
      - uuid: A000
        handle: 40
        characteristics:
          - {uuid: B000, properties: [read], value: "01", permissions: [readable, readAuthorizationRequired]}
          - {uuid: B001, properties: [read, write], value: "02", permissions: [readable]}
          - uuid: B002
            properties: [read, write]
            value: "03"
            permissions: [readable, writeable, writeAuthorizationRequired]
            descriptors:
              - {uuid: B003, value: "04", permissions: [readable, writeable]}
              - {uuid: B004, permissions: [readable, readAuthorizationRequired]}
          - {uuid: B005, properties: [read], permissions: [writeable]}
      """
    ).write(to: path, atomically: true, encoding: .utf8)
    try Stage(try AdapterOptions.parse(["--world", path.path, "--virtual-time"])).run { stage in
      let central = try await stage.makeCentral()
      let found = try await Meeting.find("Thing", central, stage)
      for probesWrites in [false, true] {
        let (recording, _) = try await Self.clone(found, stage, probesWrites: probesWrites)
        #expect(recording.notes == [])
        let description = try #require(try WorldFile(text: recording.yaml).members.first?.description)
        let characteristics = description.services[0].characteristics
        let written: AttributePermissions = [.readable, .writeable, .writeAuthorizationRequired]
        let expected: [AttributePermissions?] = [
          [.readable, .readAuthorizationRequired], probesWrites ? .readable : nil, probesWrites ? written : nil, [],
        ]
        #expect(characteristics.map(\.permissions) == expected)
        let descriptor: AttributePermissions = probesWrites ? [.readable, .writeable] : .readable
        let descriptors: [AccessoryDescriptor] = [
          .other("B003", [4], permissions: descriptor, handle: 47),
          .other("B004", [], permissions: [.readable, .readAuthorizationRequired], handle: 48),
        ]
        #expect(characteristics[2].descriptors == descriptors)
      }
      central.close()
    }
  }
}
