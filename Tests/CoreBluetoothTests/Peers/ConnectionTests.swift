import Requirements
import TestSupport
import Testing

@testable import BluetoothDaemon
@testable import BluetoothHost
@testable import BluetoothWire
@testable import CoreBluetooth

@Suite struct ConnectionTests {
  @Test(
    "3.1 A connection attempt has no time limit, and only the app repeats it after a failure",
    .requirement("G020", "K002"))
  func connect() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.discover()
    bench.manager.connect(peripheral)
    #expect(bench.commands == ["connect after 0 ms"])
    bench.adapter.tell(.connectionFailed(peripheral.handle, .link(.connectionFailedToBeEstablished)))
    #expect(bench.app.events == ["not connected failed"])
    #expect(bench.app.lastError?.code == .connectionFailed)
    #expect(peripheral.state == .disconnected)
    #expect(bench.commands.isEmpty)
  }

  @Test(
    "3.2 Releasing a connecting or connected peripheral cancels its connection, with a log line",
    .requirement("K013", "L070"))
  func strongReference() {
    let bench = CentralHarness(CentralApp())
    var peripheral: CBPeripheral? = bench.connect(321)
    let identifier = peripheral!.identifier
    peripheral = nil
    #expect(bench.commands == ["cancel 0"])
    let lines = bench.log.lines(containing: "Did you forget to keep a reference to it?").filter {
      $0.hasPrefix("Cancelling connection for unused peripheral") && $0.contains("\(identifier)")
    }
    #expect(lines.count == 1)

    peripheral = bench.discover(322)
    bench.manager.connect(peripheral!)
    _ = bench.commands
    peripheral = nil
    #expect(bench.commands == ["cancel 1"])
    bench.adapter.tell(.disconnected(PeerHandle(index: 1), nil, isReconnecting: false))
    #expect(bench.app.take() == ["disconnected disconnected"])

    _ = bench.discover(323)
    #expect(bench.commands.isEmpty, "a peripheral that was never connected is just forgotten")
  }

  @Test(
    "3.2 A released peripheral's disconnection is reported with an object that has its identifier and its name",
    .requirement("G021"),
    arguments: [false, true])
  func releaseIsReported(afterCancelling: Bool) throws {
    let bench = CentralHarness(CentralApp())
    var peripheral: CBPeripheral? = bench.connect(321)
    let (identifier, handle) = (peripheral!.identifier, peripheral!.handle)
    if afterCancelling { bench.manager.cancelPeripheralConnection(peripheral!) }
    weak let former = peripheral
    peripheral = nil
    #expect(former == nil)
    #expect(bench.commands == ["cancel 0"])
    let last = try #require(bench.manager.retrievePeripherals(withIdentifiers: [identifier]).first)
    #expect(last.state == .disconnecting && last.delegate == nil && last.services == nil)
    bench.adapter.tell(.disconnected(handle, nil, isReconnecting: false))
    #expect(bench.app.take() == ["disconnected disconnected"])
    #expect(bench.app.lastPeripheral === last)
    #expect(last.identifier == identifier && last.name == "sensor")
    bench.manager.connect(last)
    #expect(bench.commands == ["connect after 0 ms"])
  }

  @Test(
    "3.2 The object that reports a released peripheral's disconnection lives no longer than the callback",
    .requirement("G021"))
  func successorIsReleased() {
    let bench = CentralHarness(CentralApp())
    for isPowerLost in [false, true] {
      var peripheral: CBPeripheral? = bench.connect(321)
      let (identifier, handle) = (peripheral!.identifier, peripheral!.handle)
      peripheral = nil
      weak let last = bench.manager.retrievePeripherals(withIdentifiers: [identifier]).first
      #expect(last?.state == .disconnecting)
      if isPowerLost {
        bench.adapter.tell(state: .poweredOff)
        #expect(bench.app.take() == ["state poweredOff"], "the state implies all disconnections")
      } else {
        bench.adapter.tell(.disconnected(handle, nil, isReconnecting: false))
        #expect(bench.app.take() == ["disconnected disconnected"])
      }
      #expect(last == nil)
    }
  }

  @Test(
    "3.3 The state is connecting at once, and connected before didConnect",
    .symbol("CBPeripheral.state", "CBCentralManagerDelegate.centralManager(_:didConnect:)"))
  func states() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.discover()
    #expect(peripheral.state == .disconnected)
    bench.manager.connect(peripheral)
    #expect(peripheral.state == .connecting)
    bench.adapter.tell(.connected(peripheral.handle, maximumWriteLength: 20))
    #expect(bench.app.events == ["connected connected"])
  }

  @Test("3.4 Connecting a connected peripheral gives didConnect again")
  func connectedAlready() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    bench.manager.connect(peripheral)
    #expect(peripheral.state == .connected)
    #expect(bench.commands == ["connect after 0 ms"])
    bench.adapter.tell(.connected(peripheral.handle, maximumWriteLength: 20))
    #expect(bench.app.events == ["connected connected"])
  }

  @Test("3.5 A peripheral of another manager is refused with a log line")
  func foreign() {
    let bench = CentralHarness(CentralApp())
    let other = CentralHarness(CentralApp())
    let peripheral = other.discover(99)
    bench.manager.connect(peripheral)
    bench.manager.cancelPeripheralConnection(peripheral)
    #expect(bench.commands.isEmpty)
    #expect(peripheral.state == .disconnected)
    #expect(bench.log.lines(containing: "is not, or is no longer, a peripheral of \(bench.manager!)").count == 2)
  }

  @Test("3.6 Cancelling a live connection ends in didDisconnect without an error", .requirement("G027", "L062"))
  func cancel() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    bench.manager.cancelPeripheralConnection(sensor.peripheral)
    #expect(sensor.peripheral.state == .disconnecting)
    bench.manager.cancelPeripheralConnection(sensor.peripheral)
    #expect(bench.commands == ["cancel 0"], "once is enough")
    bench.adapter.tell(.disconnected(sensor.handle, nil, isReconnecting: false))
    #expect(bench.app.events == ["disconnected disconnected"])
    #expect(bench.app.errors.last! == nil)
  }

  @Test("3.6 Cancelling a pending connection ends in didDisconnect, whatever happens on the link meanwhile")
  func cancelPending() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.discover()
    bench.manager.connect(peripheral)
    bench.manager.cancelPeripheralConnection(peripheral)
    bench.adapter.tell(.connected(peripheral.handle, maximumWriteLength: 20))
    #expect(bench.app.events.isEmpty)
    bench.adapter.tell(.disconnected(peripheral.handle, nil, isReconnecting: false))
    #expect(bench.app.events == ["disconnected disconnected"])
  }

  @Test("3.6 Connecting while a cancelled link ends gives didDisconnect and then didConnect")
  func connectWhileEnding() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    bench.manager.cancelPeripheralConnection(peripheral)
    bench.manager.connect(peripheral)
    bench.adapter.tell(.disconnected(peripheral.handle, nil, isReconnecting: false))
    #expect(bench.app.take() == ["disconnected connecting"])
    bench.adapter.tell(.connected(peripheral.handle, maximumWriteLength: 20))
    #expect(bench.app.take() == ["connected connected"])
  }

  @Test("3.6 Of several cancellations and connects before the end is reported, the last one counts")
  func connectTwiceWhileEnding() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.discover()
    bench.manager.connect(peripheral)
    for _ in 0..<2 {
      bench.manager.cancelPeripheralConnection(peripheral)
      bench.manager.connect(peripheral)
    }
    #expect(bench.commands == ["connect after 0 ms", "cancel 0"], "each cancellation has one answer, which is awaited")
    bench.adapter.tell(.connected(peripheral.handle, maximumWriteLength: 20))
    #expect(bench.app.take().isEmpty, "that attempt was cancelled")
    bench.adapter.tell(.disconnected(peripheral.handle, nil, isReconnecting: false))
    #expect(bench.app.take() == ["disconnected connecting"])
    #expect(bench.commands == ["connect after 0 ms"])
    bench.adapter.tell(.connected(peripheral.handle, maximumWriteLength: 20))
    #expect(bench.app.take() == ["connected connected"])
  }

  @Test("3.6 A connect after a cancellation outlives a failure of the cancelled attempt")
  func connectAfterFailure() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.discover()
    bench.manager.connect(peripheral)
    bench.manager.cancelPeripheralConnection(peripheral)
    bench.manager.connect(peripheral)
    _ = bench.commands
    // The failure is on its way when the app cancels, so the daemon has nothing to cancel and answers nothing.
    bench.adapter.tell(.connectionFailed(peripheral.handle, .link(.connectionFailedToBeEstablished)))
    #expect(bench.app.take() == ["not connected failed"])
    #expect(peripheral.state == .connecting)
    #expect(bench.commands == ["connect after 0 ms"])
    bench.adapter.tell(.connected(peripheral.handle, maximumWriteLength: 20))
    #expect(bench.app.take() == ["connected connected"])
  }

  @Test("3.6 A connect after a cancellation outlives an automatic reconnection that begins meanwhile")
  func connectAfterLoss() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    bench.manager.cancelPeripheralConnection(peripheral)
    bench.manager.connect(peripheral)
    #expect(bench.commands == ["cancel 0"])
    bench.adapter.tell(.disconnected(peripheral.handle, .link(.connectionTimeout), isReconnecting: true))
    #expect(bench.app.take().isEmpty, "the answer to the cancellation follows")
    bench.adapter.tell(.disconnected(peripheral.handle, nil, isReconnecting: false))
    #expect(bench.app.take() == ["disconnected connecting"])
    #expect(bench.commands == ["connect after 0 ms"])
  }

  @Test("3.6 A connect that crosses the report of a loss is answered")
  func connectCrossingLoss() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    bench.manager.connect(peripheral)
    // The daemon has lost the link before it gets the command, which begins a new attempt.
    bench.adapter.tell(.disconnected(peripheral.handle, .link(.connectionTimeout), isReconnecting: false))
    #expect(bench.app.take() == ["disconnected disconnected failed"])
    bench.adapter.tell(.connected(peripheral.handle, maximumWriteLength: 20))
    #expect(bench.app.take() == ["connected connected"])
    bench.manager.cancelPeripheralConnection(peripheral)
    #expect(bench.commands == ["connect after 0 ms", "cancel 0"])
  }

  @Test("3.6 A connect that crosses the report of a loss can be cancelled before it is answered")
  func cancelCrossingLoss() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    bench.manager.connect(peripheral)
    bench.adapter.tell(.disconnected(peripheral.handle, .link(.connectionTimeout), isReconnecting: false))
    #expect(bench.app.take() == ["disconnected disconnected failed"])
    bench.manager.cancelPeripheralConnection(peripheral)
    #expect(bench.commands == ["connect after 0 ms", "cancel 0"])
    // The attempt succeeds before the daemon gets the cancellation.
    bench.adapter.tell(.connected(peripheral.handle, maximumWriteLength: 20))
    bench.adapter.tell(.disconnected(peripheral.handle, nil, isReconnecting: false))
    #expect(bench.app.take().isEmpty, "the app has been told of the end")
    #expect(peripheral.state == .disconnected)
    bench.manager.connect(peripheral)
    #expect(bench.commands == ["connect after 0 ms"])
    bench.adapter.tell(.connected(peripheral.handle, maximumWriteLength: 20))
    #expect(bench.app.take() == ["connected connected"])
  }

  @Test("3.6 After a connect that crosses the report of a loss, a cancellation has one answer")
  func cancelBeforeLoss() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    bench.manager.connect(peripheral)
    bench.manager.cancelPeripheralConnection(peripheral)
    bench.manager.connect(peripheral)
    #expect(bench.commands == ["connect after 0 ms", "cancel 0"])
    bench.adapter.tell(.disconnected(peripheral.handle, .link(.connectionTimeout), isReconnecting: false))
    #expect(bench.app.take().isEmpty && bench.commands.isEmpty, "the answer to the cancellation follows")
    bench.adapter.tell(.disconnected(peripheral.handle, nil, isReconnecting: false))
    #expect(bench.app.take() == ["disconnected connecting"])
    #expect(bench.commands == ["connect after 0 ms"])
  }

  @Test("3.6 A connect that is answered before a loss is not taken for an attempt after it")
  func connectAnsweredBeforeLoss() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    bench.manager.connect(peripheral)
    bench.adapter.tell(.connected(peripheral.handle, maximumWriteLength: 20))
    bench.adapter.tell(.disconnected(peripheral.handle, .link(.connectionTimeout), isReconnecting: false))
    #expect(bench.app.take() == ["connected connected", "disconnected disconnected failed"])
    bench.manager.cancelPeripheralConnection(peripheral)
    #expect(bench.commands == ["connect after 0 ms"], "there is nothing to cancel")
  }

  @Test("3.2 Releasing a peripheral cancels a connect that has crossed the report of a loss or of a failure")
  func releaseAfterCrossing() {
    let bench = CentralHarness(CentralApp())
    var peripheral: CBPeripheral? = bench.connect(321)
    let handle = peripheral!.handle
    bench.manager.connect(peripheral!)
    bench.adapter.tell(.disconnected(handle, .link(.connectionTimeout), isReconnecting: false))
    peripheral = nil
    #expect(bench.commands == ["connect after 0 ms", "cancel 0"])
    bench.adapter.tell(.disconnected(handle, nil, isReconnecting: false))

    peripheral = bench.discover(321)
    bench.manager.connect(peripheral!)
    bench.manager.connect(peripheral!)
    // Only the connection shows that the second connect came after the failure of the first.
    bench.adapter.tell(.connectionFailed(handle, .link(.connectionFailedToBeEstablished)))
    peripheral = nil
    #expect(bench.commands == ["connect after 0 ms", "connect after 0 ms"])
    _ = bench.app.take()
    bench.adapter.tell(.connected(handle, maximumWriteLength: 20))
    #expect(bench.commands == ["cancel 0"])
    bench.adapter.tell(.disconnected(handle, nil, isReconnecting: false))
    #expect(bench.app.take().isEmpty)
  }

  @Test("3.2 The end of a released peripheral's attempt is not taken for the end of a new object's attempt")
  func connectAfterRelease() {
    let bench = CentralHarness(CentralApp())
    var peripheral: CBPeripheral? = bench.discover(321)
    bench.manager.connect(peripheral!)
    peripheral = nil
    #expect(bench.commands == ["connect after 0 ms", "cancel 0"])
    let again = bench.discover(321)
    bench.manager.connect(again)
    #expect(again.state == .connecting)
    bench.adapter.tell(.disconnected(again.handle, nil, isReconnecting: false))
    #expect(bench.app.take().isEmpty, "that was the former object's attempt")
    #expect(again.state == .connecting)
    #expect(bench.commands == ["connect after 0 ms"])
    bench.adapter.tell(.connected(again.handle, maximumWriteLength: 20))
    #expect(bench.app.take() == ["connected connected"])
  }

  @Test("3.6 Cancelling without a connection does nothing")
  func cancelNothing() {
    let bench = CentralHarness(CentralApp())
    bench.manager.cancelPeripheralConnection(bench.discover())
    #expect(bench.commands.isEmpty)
  }

  @Test(
    "3.7 A link ended by the peer or by the radio is reported with the reason",
    arguments: [
      (SessionError.link(.remoteUserTerminatedConnection), CBError.Code.peripheralDisconnected),
      (.link(.connectionTimeout), .connectionTimeout),
    ])
  func drop(reason: SessionError, code: CBError.Code) {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    bench.adapter.tell(.disconnected(peripheral.handle, reason, isReconnecting: false))
    #expect(bench.app.events == ["disconnected disconnected failed"])
    #expect(bench.app.lastError?.code == code)
  }

  @Test(
    "3.9 After didDisconnect the link causes no callbacks, services is nil and attributes are invalid",
    .requirement("G028"), .symbol("CBPeripheral.services"))
  func afterwards() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    sensor.peripheral.readValue(for: sensor.characteristic)
    bench.adapter.tell(.disconnected(sensor.handle, .link(.connectionTimeout), isReconnecting: false))
    #expect(sensor.peripheral.services == nil)
    _ = bench.app.take()
    bench.adapter.tell(.valueRead(sensor.handle, sensor.characteristicID, .success([1])))
    bench.adapter.tell(.rssiRead(sensor.handle, .success(-50)))
    bench.adapter.tell(.servicesDiscovered(sensor.handle, .success([])))
    bench.adapter.tell(.readyToWriteWithoutResponse(sensor.handle))
    #expect(bench.app.events.isEmpty)
    #expect(sensor.characteristic.value == nil)

    _ = bench.connect()
    sensor.peripheral.readValue(for: sensor.characteristic)
    _ = bench.commands
    #expect(bench.app.events == ["value [] failed"])
    #expect(bench.app.lastError?.code == .uuidNotAllowed)
  }

  @Test(
    "3.10 If the delegate has both methods, only the older one is called",
    .symbol("CBCentralManagerDelegate.centralManager(_:didDisconnectPeripheral:error:)"))
  func bothMethods() {
    let bench = CentralHarness(BothCentralApp())
    let peripheral = bench.connect()
    bench.adapter.tell(.disconnected(peripheral.handle, nil, isReconnecting: false))
    #expect(bench.app.events == ["disconnected disconnected"])
  }

  @Test(
    "3.10 The newer method is called when the older one is missing",
    .symbol("CBCentralManagerDelegate.centralManager(_:didDisconnectPeripheral:timestamp:isReconnecting:error:)"))
  func newMethod() {
    let bench = CentralHarness(NewCentralApp())
    let peripheral = bench.connect()
    bench.adapter.tell(.disconnected(peripheral.handle, .link(.connectionTimeout), isReconnecting: false))
    #expect(bench.app.events == ["new disconnected disconnected at 1234.5 reconnecting false failed"])
  }

  @Test("3.10 A delegate that forwards the older method counts as having it, even if the target lacks it")
  func forwarding() {
    let bench = CentralHarness(ForwardingCentralApp(to: NewCentralApp()))
    let peripheral = bench.connect()
    bench.adapter.tell(.disconnected(peripheral.handle, nil, isReconnecting: false))
    #expect(bench.app.events == ["forwarded"])
  }

  @Test("3.10 The older method disables reconnecting")
  func oldMethodAndReconnecting() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect(options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
    bench.adapter.tell(.disconnected(peripheral.handle, .link(.connectionTimeout), isReconnecting: true))
    #expect(bench.app.take() == ["disconnected disconnected failed"])
    #expect(peripheral.state == .disconnected)
    #expect(bench.commands == ["cancel 0"])
    bench.adapter.tell(.disconnected(peripheral.handle, nil, isReconnecting: false))
    #expect(bench.app.events.isEmpty)
  }

  @Test("3.10 An app that connects again in the older method is not cancelled")
  func connectInOldMethod() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect(options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
    bench.app.onEvent = { if $0.hasPrefix("disconnected") { bench.manager.connect(peripheral) } }
    bench.adapter.tell(.disconnected(peripheral.handle, .link(.connectionTimeout), isReconnecting: true))
    #expect(bench.commands == ["connect after 0 ms"])
    #expect(peripheral.state == .connecting)
  }

  @Test("3.11 With auto-reconnect the newer method reports it, the state is connecting, and didConnect follows")
  func reconnecting() {
    let bench = CentralHarness(NewCentralApp())
    let peripheral = bench.discover()
    bench.manager.connect(peripheral, options: [CBConnectPeripheralOptionEnableAutoReconnect: NSNumber(value: true)])
    #expect(bench.commands == ["connect after 0 ms reconnecting"])
    bench.adapter.tell(.connected(peripheral.handle, maximumWriteLength: 20))
    bench.adapter.tell(.disconnected(peripheral.handle, .link(.connectionTimeout), isReconnecting: true))
    bench.adapter.tell(.connected(peripheral.handle, maximumWriteLength: 20))
    #expect(
      bench.app.take() == [
        "connected connected", "new disconnected connecting at 1234.5 reconnecting true failed", "connected connected",
      ])
    bench.manager.cancelPeripheralConnection(peripheral)
    #expect(bench.commands == ["cancel 0"])
  }

  @Test("3.14 StartDelay is the seconds before the attempt, RequiresANCS a second request, and bridging has no effect")
  func startDelay() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.discover()
    bench.manager.connect(
      peripheral,
      options: [
        CBConnectPeripheralOptionStartDelayKey: 2.5, CBConnectPeripheralOptionRequiresANCS: true,
        CBConnectPeripheralOptionEnableTransportBridgingKey: true,
      ])
    #expect(bench.commands == ["connect after 2500 ms", "require notifications 0"])
  }

  @Test("An invalid start delay counts as none", arguments: [-1, Double.nan, -Double.infinity])
  func oddDelay(seconds: Double) {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.discover()
    bench.manager.connect(peripheral, options: [CBConnectPeripheralOptionStartDelayKey: seconds])
    #expect(bench.commands == ["connect after 0 ms"])
  }

  @Test("1.7 A peripheral's delegate is held weakly", .symbol("CBPeripheral.delegate"))
  func weakDelegate() {
    let peripheral = CentralHarness(CentralApp()).discover()
    var app: CentralApp? = CentralApp()
    peripheral.delegate = app
    #expect(peripheral.delegate === app)
    app = nil
    #expect(peripheral.delegate == nil)
  }

  @Test("Key-value coding returns a peripheral's properties", .symbol("CBPeer"))
  func keyValueCoding() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    #expect(peripheral.value(forKey: "identifier") as? UUID == peripheral.identifier)
    #expect(peripheral.value(forKey: "name") as? String == "sensor")
    #expect(peripheral.value(forKey: "state") as? Int == 2)
    #expect(peripheral.copy() as? CBPeripheral === peripheral)
  }
}
