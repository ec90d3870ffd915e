import BluetoothWire
import Foundation
import NIOCore

/// Answers the messages of a page's viewers.
struct PageCommands: Sendable {
  /// The verbs of the control socket that a page may use. It may not write files, and not end the air.
  static let verbs: Set<ControlRequest.Verb> = [
    .devices, .move, .radio, .power, .speed, .step, .run, .add, .fault, .faults, .save, .stats,
  ]

  let feed: PageFeed
  /// Executes a request. May be called on the page's loop only.
  let perform: @Sendable (ControlRequest) -> EventLoopFuture<ControlAnswer>
  /// Runs a world in virtual time; nil: the page does not.
  let run: PageRun?
  /// The page's central; nil: there is no world.
  let gatt: PageGATT?
  /// The apps of a server; nil: there are none.
  let apps: PageApps?

  /// Returns the answer to a message.
  func answer(_ message: PageMessage) -> EventLoopFuture<JSONText> {
    let (loop, id) = (feed.loop, message.id)
    switch message.content {
    case .request(let request):
      if let answer = run?.answer(request, loop) { return answer.map { Self.answer(to: id, $0) } }
      if let gatt, PageGATT.verbs.contains(request.verb) { return answer(id, request, gatt) }
      guard Self.verbs.contains(request.verb) else {
        return loop.makeSucceededFuture(
          Self.answer(to: id, error: "the page can't use the verb \(request.verb.rawValue)"))
      }
      return perform(request).hop(to: loop).map { answer in Self.answer(to: id, answer) }
    case .packet(let number):
      guard let details = feed.details(ofPacket: number) else {
        return loop.makeSucceededFuture(Self.answer(to: id, error: "the packet is no longer kept"))
      }
      return loop.makeSucceededFuture(
        .object([("type", .text("answer")), ("id", .whole(id)), ("packet", details)]))
    case .app(let command):
      guard let apps else {
        return loop.makeSucceededFuture(Self.answer(to: id, error: "this program serves no apps"))
      }
      let done = loop.makePromise(of: JSONText.self)
      apps.perform(command.action, command.name) { failure in done.succeed(Self.answer(to: id, error: failure)) }
      return done.futureResult
    }
  }

  /// Returns the answer to a request to the attributes of a device.
  private func answer(_ id: Int, _ request: ControlRequest, _ gatt: PageGATT) -> EventLoopFuture<JSONText> {
    guard let name = request.device, let (radio, address) = feed.place(of: name) else {
      return feed.loop.makeSucceededFuture(
        Self.answer(to: id, error: "device: expected a device of the air with an address"))
    }
    return gatt.answer(request, of: radio, address).map { result in
      switch result {
      case .failure(let failure): return Self.answer(to: id, error: failure.reason)
      case .success(let value):
        let head: [(String, JSONText)] = [("type", .text("answer")), ("id", .whole(id))]
        if request.verb == .open { return .object(head + [("gatt", value)]) }
        guard case .object(let fields) = value else { return .object(head) }
        return .object(head + fields)
      }
    }
  }

  static func answer(to id: Int?, error: String?) -> JSONText {
    var fields = PageFields()
    fields.add("type", "answer")
    fields.add("id", id.map { .whole($0) })
    fields.add("error", error)
    return fields.object
  }

  private static func answer(to id: Int, _ answer: ControlAnswer) -> JSONText {
    var fields = PageFields()
    fields.add("type", "answer")
    fields.add("id", .whole(id))
    fields.add("error", answer.error)
    fields.add("note", answer.note)
    fields.add("warning", answer.warning)
    fields.add("time", answer.time.map { .number($0, places: 9) })
    fields.add("devices", answer.devices.map { JSONText(encoding: $0) })
    fields.add("statistics", answer.statistics.map { JSONText(encoding: $0) })
    fields.add("plan", answer.plan.map { JSONText(encoding: $0) })
    fields.add("text", answer.text)
    return fields.object
  }
}
