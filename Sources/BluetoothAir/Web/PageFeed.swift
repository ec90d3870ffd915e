import BluetoothDissection
import BluetoothLab
import BluetoothRadio
import BluetoothWire
import NIOCore

/// Sends the changes of a world to the viewers of its page: one message per tick for all of them. Confined to the
/// page's event loop.
///
/// The world's thread only records and collects; what takes time happens on the page's thread. Without a viewer, the
/// world has no recorder.
final class PageFeed: @unchecked Sendable {
  // Unchecked: confined to the loop, apart from `recorder` and `collector`, which are confined to the world.

  /// The time between two ticks.
  static let interval = TimeAmount.milliseconds(50)
  /// The maximum number of viewers.
  static let maximumViewers = 20
  /// The ticks between two collections of what changes slowly.
  private static let (linkTicks, statisticsTicks) = (5, 20)

  let gate: PageGate
  private var loop: any EventLoop { gate.loop }
  /// The world; nil: the page shows the apps of a server without simulated adapters.
  private let world: World?
  private let apps: PageApps?
  private let run: PageRun?
  private let recorder = AirRecorder()
  private let collector: AirCollector?
  private let hello: JSONText
  private var viewers: [ViewerHandler] = []
  private var model = PageModel()
  private var timer: RepeatedTask?
  private var ticks = 0
  /// True while the world collects its state.
  private var isWaiting = false
  /// Counts the times at which recording has begun, so that a late answer of the world is recognized.
  private var generation = 0
  /// The latest state of the apps, and its text.
  private var appState: (value: JSONText, line: String)?
  private var appsHaveChanged = false
  private var isReadingApps = false

  init(_ world: World?, _ apps: PageApps?, _ run: PageRun?, hello: JSONText, gate: PageGate) {
    (self.world, self.apps, self.run, self.hello, self.gate) = (world, apps, run, hello, gate)
    collector = world.map { AirCollector($0) }
  }

  // MARK: Viewers

  var viewerCount: Int { viewers.count }

  /// Adds a viewer. Returns false if there are too many.
  func add(_ viewer: ViewerHandler) -> Bool {
    loop.preconditionInEventLoop()
    guard viewers.count < Self.maximumViewers else { return false }
    viewers.append(viewer)
    viewer.send(hello)
    if viewers.count == 1 { begin() }
    return true
  }

  func remove(_ viewer: ViewerHandler) {
    loop.preconditionInEventLoop()
    let count = viewers.count
    viewers.removeAll { $0 === viewer }
    if viewers.isEmpty, count > 0 { end() }
  }

  /// Sends a last message to all viewers, and closes their connections.
  func close(_ reason: String) {
    loop.preconditionInEventLoop()
    for viewer in viewers { viewer.close(reason) }
  }

  private func begin() {
    generation += 1
    ticks = 0
    isWaiting = false
    model = PageModel()
    timer = loop.scheduleRepeatedTask(initialDelay: .zero, delay: Self.interval) { [weak self] _ in self?.tick() }
  }

  private func end() {
    timer?.cancel()
    timer = nil
    let recorder = recorder
    world?.requestQueue.perform { recorder.detach(from: $0) }
  }

  // MARK: Ticks

  private func tick() {
    if ticks.isMultiple(of: Self.statisticsTicks) { readApps() }
    guard !isWaiting else { return }
    guard let world, let collector else {
      ticks += 1
      return publishApps()
    }
    isWaiting = true
    var wanted: AirCollector.Parts = []
    if ticks == 0 {
      wanted = .all
    } else {
      if ticks.isMultiple(of: Self.linkTicks) { wanted.formUnion([.links, .devices]) }
      if ticks.isMultiple(of: Self.statisticsTicks) { wanted.formUnion([.statistics, .surroundings]) }
    }
    ticks += 1
    let (recorder, gate, generation, parts) = (recorder, gate, generation, wanted)
    world.requestQueue.perform { [weak self] engine in
      recorder.attach(to: engine)
      let state = collector.collect(parts, engine)
      let batch = recorder.take()
      gate.execute { [weak self] in self?.publish(state, batch, generation) }
    }
  }

  private func publish(_ state: AirState, _ batch: AirRecorder.Batch, _ generation: Int) {
    guard generation == self.generation, !viewers.isEmpty, let world else { return }
    isWaiting = false
    let count = world.faultEventCount
    let hasStrikes = count != model.strikeCount
    var state = state
    if let run { state.speed = run.speed }
    let tick = model.tick(
      state, batch, faults: world.faultPlan, strikes: hasStrikes ? world.faultEvents : [], count: count)
    send(withApps(tick))
  }

  /// Sends a tick to the viewers, and the whole world to new ones.
  private func send(_ tick: JSONText?) {
    // Every viewer gets the same octets.
    let message = tick.map { ByteBuffer(string: $0.line) }
    lazy var whole = ByteBuffer(string: model.world(apps: appState?.value).line)
    for viewer in viewers {
      if viewer.knowsWorld {
        if let message { viewer.send(message) }
      } else {
        viewer.knowsWorld = true
        viewer.send(whole)
      }
    }
  }

  // MARK: Apps

  /// Asks for the apps: now and then, and after each command for one.
  func readApps() {
    guard let apps, !isReadingApps else { return }
    isReadingApps = true
    let gate = gate
    apps.read { [weak self] state in gate.execute { [weak self] in self?.take(apps: state) } }
  }

  private func take(apps state: JSONText) {
    isReadingApps = false
    let line = state.line
    guard line != appState?.line else { return }
    appState = (state, line)
    appsHaveChanged = true
  }

  /// Returns a tick with the apps, if they have changed.
  private func withApps(_ tick: JSONText?) -> JSONText? {
    guard appsHaveChanged, let appState else { return tick }
    appsHaveChanged = false
    if case .object(let fields)? = tick { return .object(fields + [("apps", appState.value)]) }
    return .object([("type", .text("tick")), ("time", .time(model.time)), ("apps", appState.value)])
  }

  private func publishApps() { send(withApps(nil)) }

  // MARK: Questions

  /// Returns the details of a packet; nil: it is not kept.
  func details(ofPacket number: UInt64) -> JSONText? {
    loop.preconditionInEventLoop()
    guard let (packet, batch, description) = model.log.find(number) else { return nil }
    var fields = batch.fields(of: packet, description, name: model.name(of:))
    let tree = PacketFields(batch.airPacket(packet, isPlain: true))
    fields.add("octets", .hexadecimal(tree.octets))
    fields.add("fields", .list(tree.fields.map { PageFields($0).object }))
    return fields.object
  }

  /// Returns a device and the address at which others reach it; nil: there is no such device, or it has none.
  func place(of name: String) -> (radio: RadioID, address: DeviceAddress)? { model.place(of: name) }

  /// The packets that are kept, as a pcapng file.
  var capture: [UInt8] {
    loop.preconditionInEventLoop()
    return model.log.capture(name: model.name(of:))
  }
}
