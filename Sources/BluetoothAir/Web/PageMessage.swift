import BluetoothWire
import Foundation
import NIOCore

/// A message of a viewer: a request of the control socket, a question of the page, or a command for an app.
struct PageMessage {
  enum Content {
    case request(ControlRequest)
    /// A question about a packet.
    case packet(UInt64)
    case app(AppCommand)
  }

  /// A change of an app by the user of a server.
  struct AppCommand: Decodable, Hashable {
    let name: String
    let action: PageApps.Action

    private enum CodingKeys: String, CodingKey {
      case name
      case action = "do"
    }
  }

  /// A message that can't be read.
  struct Problem: Error {
    let id: Int?
    let reason: String
  }

  let id: Int
  let content: Content

  /// The form of a message in JSON.
  private struct Form: Decodable {
    var id: Int
    var request: ControlRequest?
    var ask: String?
    var number: UInt64?
    var app: AppCommand?
  }

  private struct Identifier: Decodable { var id: Int }

  init(_ octets: ByteBuffer) throws(Problem) {
    let data = Data(octets.readableBytesView)
    let id = (try? JSONDecoder().decode(Identifier.self, from: data))?.id
    do {
      let form = try JSONDecoder().decode(Form.self, from: data)
      if let name = JSONMembers.duplicate(in: data) {
        throw Problem(id: id, reason: "invalid message: duplicate field \"\(name.printable)\"")
      }
      self.id = form.id
      switch (form.request, form.ask, form.app) {
      case (let request?, nil, nil): content = .request(request)
      case (nil, "packet", nil):
        guard let number = form.number else { throw Problem(id: id, reason: "number: missing field") }
        content = .packet(number)
      case (nil, nil, let app?): content = .app(app)
      default: throw Problem(id: id, reason: "invalid message: expected one of request, ask and app")
      }
    } catch let error as Problem {
      throw error
    } catch {
      throw Problem(id: id, reason: "invalid message: \(ControlRequest.reason(error))")
    }
  }
}
