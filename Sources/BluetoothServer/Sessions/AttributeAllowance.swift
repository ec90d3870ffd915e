import BluetoothDaemon
import BluetoothHost
import NIOConcurrencyHelpers

/// The attributes that a client has published: a client that publishes more than its share gets an error, so that the
/// handles suffice for all clients.
final class AttributeAllowance: Sendable {
  private struct Service: Hashable {
    let session: UInt32
    let id: LocalAttributeID
  }

  private struct State {
    var counts: [Service: Int] = [:]
    var total = 0
  }

  private let limit: Int
  private let state = NIOLockedValueBox(State())

  init(limit: Int) { self.limit = limit }

  /// Counts a service. Returns false, and counts nothing, if the client has too many attributes.
  func add(_ service: LocalService, of session: UInt32) -> Bool {
    let key = Service(session: session, id: service.id)
    let count = service.attributeCount
    return state.withLockedValue { state in
      guard state.total + count <= limit else { return false }
      state.total += count - (state.counts.updateValue(count, forKey: key) ?? 0)
      return true
    }
  }

  /// Counts a service that the client has already, because it was restored.
  func addRestored(_ service: LocalService, of session: UInt32) {
    let key = Service(session: session, id: service.id)
    state.withLockedValue { state in
      state.total += service.attributeCount - (state.counts.updateValue(service.attributeCount, forKey: key) ?? 0)
    }
  }

  func remove(_ id: LocalAttributeID, of session: UInt32) {
    state.withLockedValue { $0.total -= $0.counts.removeValue(forKey: Service(session: session, id: id)) ?? 0 }
  }

  /// Forgets all services of a session.
  func removeAll(of session: UInt32) {
    state.withLockedValue { state in
      state.counts = state.counts.filter { $0.key.session != session }
      state.total = state.counts.values.reduce(0, +)
    }
  }
}

extension LocalService {
  /// The number of attributes: the declarations, the values, and a configuration for each characteristic.
  fileprivate var attributeCount: Int {
    characteristics.reduce(1 + includes.count) { $0 + 3 + $1.definition.descriptors.count }
  }
}
