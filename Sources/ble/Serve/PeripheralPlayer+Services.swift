import AccessoryPlayer
import BluetoothAir
import CoreBluetooth
import CoreBluetoothExtras
import NIOConcurrencyHelpers

// The services of a played peripheral, which come and go at the times of the file.
extension PeripheralPlayer {
  /// Publishes and removes services, so that those that the file has at this time since the start are there.
  func updateServices(at age: Duration) async throws {
    let order = description.publishingOrder
    for index in order.reversed() where !description.services[index].presence.contains(age) { withdraw(index) }
    for index in order where description.services[index].presence.contains(age) { try await publish(index) }
  }

  /// Updates the services at each time at which the file adds or removes one.
  func watchPresences(after first: Duration) async throws {
    var age = first
    while let next = description.services.compactMap({ $0.presence.next(after: age) }).min() {
      let wait = next - (stage.now - start)
      if wait > .zero { try await stage.sleep(wait.seconds) }
      age = next
      try await updateServices(at: age)
    }
  }

  /// Publishes a service, unless it is published. It includes those of its included services that are published.
  private func publish(_ index: Int) async throws {
    let service = description.services[index]
    let local = state.withLockedValue { state -> LocalService? in
      guard state.published[index] == nil else { return nil }
      let local = LocalService(
        PublishedForm.serviceUUID(service.uuid), isPrimary: service.isPrimary,
        includes: service.includes.compactMap { state.published[$0] }, entries[members[index]].map(\.local),
        handle: service.handle)
      state.published[index] = local
      return local
    }
    if let local { try await peripheral.add(local, within: stage.stepLimit) }
  }

  private func withdraw(_ index: Int) {
    if let local = state.withLockedValue({ $0.published.removeValue(forKey: index) }) { peripheral.remove(local) }
  }
}
