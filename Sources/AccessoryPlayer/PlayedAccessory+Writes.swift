import BluetoothLab
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers

// The writes of the accessory to the servers of its centrals.
extension PlayedAccessory {
  /// A write to a characteristic of the server of a central.
  struct Write: Sendable {
    let octets: [UInt8]
    let path: CharacteristicPath
    let remote: RemoteCentral
    let link: HCI.ConnectionHandle
  }

  /// Performs the writes, one after the other.
  func performWrites() async throws {
    for await write in writes.stream {
      var failure: CentralWriteError?
      do throws(CentralWriteError) { try await perform(write) } catch { failure = error }
      state.withLockedValue { state in
        var context = context(state, for: write.link)
        state.accessory.centralWriteEnded(of: write.path, because: failure, in: &context)
        perform(context, &state)
      }
    }
    try Task.checkCancellation()
  }

  private func perform(_ write: Write) async throws(CentralWriteError) {
    guard let central else { throw .notSupported }
    guard peripheral.isConnected(write.remote) else { throw .disconnected }
    do {
      guard let remote = central.peripherals(withIdentifiers: [write.remote.id]).first else {
        throw CentralWriteError.disconnected
      }
      // The link exists already, so this call only begins its use, which ends with the last reference.
      try await remote.connect()
      state.withLockedValue { $0.servers[write.remote] = $0.centrals[write.remote] == nil ? nil : remote }
      let characteristic = try await characteristic(write.path, of: remote)
      if characteristic.properties.contains(.writeWithoutResponse) {
        try await characteristic.writeWithoutResponse(Data(write.octets))
      } else {
        try await characteristic.write(Data(write.octets))
      }
    } catch {
      throw Self.reason(error, isConnected: peripheral.isConnected(write.remote))
    }
  }

  /// Returns the characteristic of the server of a central. Throws `notFound` if it is missing or can't be written.
  private func characteristic(_ path: CharacteristicPath, of remote: Peripheral) async throws -> RemoteCharacteristic {
    guard let service = try await remote.discoverServices([PublishedForm.uuid(path.service)]).first else {
      throw CentralWriteError.notFound
    }
    let found = try await service.discoverCharacteristics([PublishedForm.uuid(path.characteristic)])
    guard found.indices.contains(path.instance),
      !found[path.instance].properties.isDisjoint(with: [.write, .writeWithoutResponse])
    else { throw CentralWriteError.notFound }
    return found[path.instance]
  }

  private static func reason(_ error: any Error, isConnected: Bool) -> CentralWriteError {
    switch error {
    case let error as CentralWriteError: error
    case let error as CBATTError: .rejected(ATTErrorCode(rawValue: UInt8(clamping: error.code.rawValue)))
    default: isConnected ? .noResponse : .disconnected
    }
  }
}
