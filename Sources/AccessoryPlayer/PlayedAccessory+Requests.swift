import BluetoothHost
import BluetoothLab
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers

// The requests of centrals.
extension PlayedAccessory {
  func answerRequests(_ begun: () -> Void) async throws {
    var requests = peripheral.requests.makeAsyncIterator()
    begun()
    while let request = await requests.next() {
      switch request {
      case .read(let read): try answer(read)
      case .write(let write): try answer(write)
      }
    }
    try Task.checkCancellation()
  }

  func index(of characteristic: LocalCharacteristic) -> Int? {
    characteristics.firstIndex { $0 === characteristic }
  }

  private func answer(_ read: ReadRequest) throws {
    met(read.central)
    let (path, octets) = state.withLockedValue { state -> (CharacteristicPath?, [UInt8]?) in
      let found = index(of: read.characteristic).flatMap {
        state.attributes.characteristic(at: AttributeHandle($0 + 1))
      }
      guard let characteristic = found else { return (nil, nil) }
      let isPermitted =
        characteristic.authorize?(state.accessory, .read, context(state, for: state.centrals[read.central])) ?? true
      return (characteristic.path, isPermitted ? characteristic.value(of: state.accessory, at: elapsed()) : nil)
    }
    guard let path, let octets else {
      read.reject(path == nil ? .attributeNotFound : .insufficientAuthorization)
      return
    }
    read.respond(with: Data(octets))
    if read.offset == 0 { try observer?(PlayedEvent(.read(octets), path, by: read.central)) }
  }

  private func answer(_ write: WriteRequest) throws {
    met(write.central)
    for index in characteristics.indices { try refreshSubscriptions(of: index) }
    var parts: [GATTWritePart] = []
    for part in write.parts {
      guard let index = index(of: part.characteristic) else {
        write.reject(.attributeNotFound)
        return
      }
      parts.append(
        GATTWritePart(handle: AttributeHandle(index + 1), offset: part.offset, value: ByteSlice(Array(part.octets))))
    }
    let (failure, paths) = state.withLockedValue { state -> (ATTErrorCode?, [CharacteristicPath]) in
      var context = self.context(state, for: state.centrals[write.central])
      var failure: ATTErrorCode?
      do throws(ATTErrorCode) {
        try AccessoryWrite(GATTWriteParts(parts)).perform(on: &state.accessory, state.attributes, in: &context)
      } catch {
        failure = error
      }
      // The answer precedes notifications and indications that the write causes.
      if let failure {
        write.reject(CBATTError.Code(rawValue: Int(failure.rawValue)) ?? .unlikelyError)
      } else {
        write.accept()
      }
      perform(context, &state)
      return (failure, parts.compactMap { state.attributes.path(at: $0.handle) })
    }
    guard let path = paths.first else { return }
    try observer?(PlayedEvent(.written(Array(write.value), failure), path, by: write.central))
  }
}
