import BluetoothWire
import Foundation
import NIOCore

/// Answers the messages of a page's viewers.
struct PageCommands: Sendable {
  /// The verbs of the control socket that a page may use. It may not write files, and not end the air.
  static let verbs: Set<ControlRequest.Verb> = [
    .devices, .move, .radio, .power, .speed, .step, .run, .add, .remove, .fault, .faults, .save, .stats,
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

  /// Carries out a message, and calls `done` with the answer on any thread, unless the page ends before.
  func carryOut(_ message: PageMessage, _ done: @escaping @Sendable (JSONText) -> Void) {
    let id = message.id
    switch message.content {
    case .request(let request):
      if let run, run.take(request, { done(Self.answer(to: id, $0)) }) { return }
      if let gatt, PageGATT.verbs.contains(request.verb) { return carryOut(request, gatt, id, done) }
      guard Self.verbs.contains(request.verb) else {
        return done(Self.answer(to: id, error: "the page can't use the verb \(request.verb.rawValue)"))
      }
      perform(request).whenSuccess { done(Self.answer(to: id, $0)) }
    case .packet(let number):
      guard let details = feed.details(ofPacket: number) else {
        return done(Self.answer(to: id, error: "the packet is no longer kept"))
      }
      done(.object([("type", .text("answer")), ("id", .whole(id)), ("packet", details)]))
    case .app(let command):
      guard let apps else { return done(Self.answer(to: id, error: "this program serves no apps")) }
      apps.perform(command.action, command.name) { [feed] failure in
        done(Self.answer(to: id, error: failure))
        feed.gate.execute { feed.readApps() }
      }
    }
  }

  /// Carries out a request to the attributes of a device.
  private func carryOut(
    _ request: ControlRequest, _ gatt: PageGATT, _ id: Int, _ done: @escaping @Sendable (JSONText) -> Void
  ) {
    guard let name = request.device, let (radio, address) = feed.place(of: name) else {
      return done(Self.answer(to: id, error: "device: expected a device of the air with an address"))
    }
    gatt.carryOut(request, of: radio, address) { result in
      switch result {
      case .failure(let failure): done(Self.answer(to: id, error: failure.reason))
      case .success(let value):
        let head: [(String, JSONText)] = [("type", .text("answer")), ("id", .whole(id))]
        if request.verb == .open {
          done(.object(head + [("gatt", value)]))
        } else if case .object(let fields) = value {
          done(.object(head + fields))
        } else {
          done(.object(head))
        }
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
