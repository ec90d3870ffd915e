// On Apple's systems there is no BluetoothLab.
#if os(Linux)
  import BluetoothLab
  import CoreBluetooth
  import SensorScanner
  import Testing

  @MainActor @Suite struct SensorScannerTests {
    let world = World(seed: 1)
    let scanner = SensorScanner(service: CBUUID(string: "180D"))

    init() {
      world.add(HeartRateSensor(name: "Strap"), named: "strap")
      world.add(Thermometer(), named: "thermometer")
      // The managers that are created in the closure use the phone.
      world.makeDevice(named: "phone", at: Position(x: 2)).run { [scanner] in scanner.start() }
    }

    @Test("A strap is found, a thermometer is not")
    func findsStrap() throws {
      try world.expect("the strap is found") { scanner.names == ["Strap"] }
      world.run(for: .seconds(60))
      #expect(scanner.names == ["Strap"])
    }

    @Test("A strap that is switched on later is found, too")
    func findsLaterStrap() throws {
      try world.expect("the first strap is found") { scanner.names.count == 1 }
      world.add(HeartRateSensor(name: "Second"), named: "second")
      try world.expect("the second strap is found") { scanner.names == ["Strap", "Second"] }
    }
  }
#endif
