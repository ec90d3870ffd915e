import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Testing

/// Links to centrals: their properties, and a peripheral's requests for connection parameters.
@Suite struct CentralLinkTests {
  /// A meeting in which the phone has subscribed to the device's value.
  private struct Scene {
    let meeting = LocalMeeting()
    let characteristic: LocalCharacteristic
    let central: RemoteCentral
    let remote: RemoteCharacteristic
    private let subscription: AppTask<Void>

    init() throws {
      let characteristic = LocalCharacteristic(LocalMeeting.value, [.read, .notify]) { _ in Data([1]) }
      self.characteristic = characteristic
      _ = try meeting.publish(characteristic)
      let remote = try meeting.find()
      self.remote = remote
      subscription = meeting.stage.start { for try await _ in remote.notifications {} }
      meeting.stage.run(until: { !characteristic.subscribers.isEmpty })
      central = try #require(characteristic.subscribers.first)
    }
  }

  @Test("A peripheral's request for parameters is answered by the central, which then uses them")
  func request() throws {
    let scene = try Scene()
    let (stage, local, world) = (scene.meeting.stage, scene.meeting.local, scene.meeting.world)
    let central = scene.central
    #expect(local.linkProperties(of: central)?.connectionParameters.interval == .milliseconds(30))
    let seen = Box<[LinkProperties]>([])
    let watch = stage.start { for await link in local.linkChanges(of: central) { seen.append(link) } }
    stage.run(for: .milliseconds(1))
    #expect(seen.value.count == 1)
    let start = world.now
    try stage.perform {
      try await local.requestConnectionParameters(
        of: central, interval: .milliseconds(60)...(.milliseconds(60)), latency: 2, supervisionTimeout: .seconds(4))
    }
    // The request waits until the link is 5 s old.
    #expect(world.now - start < .seconds(10))
    stage.run(for: .seconds(2))
    let parameters = try #require(local.linkProperties(of: central)).connectionParameters
    #expect(parameters.interval == .milliseconds(60) && parameters.latency == 2)
    #expect(parameters.supervisionTimeout == .seconds(4))
    #expect(seen.value.last?.connectionParameters == parameters)
    #expect(scene.remote.service.peripheral.connectionParameters == parameters)
    #expect(watch.result == nil)
    try stage.perform { [remote = scene.remote] in try await remote.service.peripheral.disconnect() }
    stage.run(for: .seconds(1))
    // The iteration ends with the link.
    #expect(outcome { try stage.value(of: watch) } == .success)
    #expect(local.linkProperties(of: central) == nil)
    #expect(
      outcome {
        try stage.perform {
          try await local.requestConnectionParameters(of: central, interval: .milliseconds(60)...(.milliseconds(60)))
        }
      } == .core(.notConnected))
  }

  @Test("Invalid parameters are refused at once; a link that ends, and a power cut, end a pending request")
  func ends() throws {
    let scene = try Scene()
    let (stage, local, central) = (scene.meeting.stage, scene.meeting.local, scene.central)
    #expect(throws: LinkRequestError.invalidParameters) {
      try stage.perform {
        try await local.requestConnectionParameters(of: central, interval: .milliseconds(5)...(.milliseconds(6)))
      }
    }
    let pending = stage.start {
      try await local.requestConnectionParameters(of: central, interval: .milliseconds(60)...(.milliseconds(60)))
    }
    stage.run(for: .milliseconds(100))
    #expect(pending.result == nil && local.pendingCount == 2)
    try stage.perform { [remote = scene.remote] in try await remote.service.peripheral.disconnect() }
    #expect(outcome { try stage.value(of: pending) } == .core(.notConnected))
    let again = try Scene()
    let (local2, central2) = (again.meeting.local, again.central)
    let cut = again.meeting.stage.start {
      try await local2.requestConnectionParameters(of: central2, interval: .milliseconds(60)...(.milliseconds(60)))
    }
    again.meeting.stage.run(for: .milliseconds(100))
    again.meeting.device.setPower(false)
    #expect(outcome { try again.meeting.stage.value(of: cut) } == .core(.operationCancelled))
    #expect(local2.pendingCount == 0)
  }

  @Test("A cancelled task ends the links to all centrals, and does not wait for their ends")
  func cancelledDisconnection() throws {
    let scene = try Scene()
    let (stage, local, world) = (scene.meeting.stage, scene.meeting.local, scene.meeting.world)
    let peripheral = scene.remote.service.peripheral
    let start = world.now
    let call = stage.start { () -> Outcome in
      withUnsafeCurrentTask { $0?.cancel() }
      return await asyncOutcome { try await local.disconnectCentrals() }
    }
    #expect(try stage.value(of: call) == .cancelled)
    // The call that advertises.
    #expect(world.now == start && peripheral.state == .connected && local.pendingCount == 1)
    #expect(stage.run(until: { peripheral.state == .disconnected }, limit: .seconds(1)))
    #expect(peripheral.lastDisconnection?.reason == .remoteUserTerminatedConnection)
    stage.run(for: .seconds(1))
    #expect(!local.isConnected(scene.central))
  }

  @Test("In the callback about a subscriber whose link has ended, a request for parameters throws notConnected")
  func requestAtTheEnd() throws {
    let scene = try Scene()
    let (stage, local, central) = (scene.meeting.stage, scene.meeting.local, scene.central)
    let (outcomes, seen) = (Box<[Outcome]>([]), Box<[LinkProperties]>([]))
    let watch = Task(executorPreference: ImmediateExecutor()) { [characteristic = scene.characteristic] in
      // The body runs within the callback that reports the end of the subscription.
      for await subscribers in characteristic.subscriptions where subscribers.isEmpty {
        outcomes.append(
          await asyncOutcome {
            try await local.requestConnectionParameters(of: central, interval: .milliseconds(60)...(.milliseconds(60)))
          })
        for await link in local.linkChanges(of: central) { seen.append(link) }
        outcomes.append(.success)
      }
    }
    try stage.perform { [remote = scene.remote] in try await remote.service.peripheral.disconnect() }
    stage.run(for: .seconds(1))
    #expect(outcomes.value == [.core(.notConnected), .success] && seen.value.isEmpty)
    // The call that advertises.
    #expect(local.pendingCount == 1)
    watch.cancel()
  }
}
