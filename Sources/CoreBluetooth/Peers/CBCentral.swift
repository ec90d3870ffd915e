import BluetoothDaemon
import NIOConcurrencyHelpers

/// A remote central that uses this device's services. The object is valid for one connection.
open class CBCentral: CBPeer {
  let handle: PeerHandle
  /// The manager that this central uses.
  let owner: ManagerIdentity
  private let updateLength: NIOLockedValueBox<Int>

  init(_ info: CentralInfo, identifier: UUID, of owner: ManagerIdentity) {
    handle = info.handle
    self.owner = owner
    updateLength = NIOLockedValueBox(info.maximumUpdateLength)
    super.init(identifier: identifier)
  }

  /// The maximum length in octets of a value in a notification or indication: ATT_MTU − 3.
  open var maximumUpdateValueLength: Int { updateLength.withLockedValue { $0 } }

  func setMaximumUpdateLength(_ length: Int) { updateLength.withLockedValue { $0 = length } }

  open override func value(forKey key: String) -> Any? {
    switch key {
    case "maximumUpdateValueLength": return maximumUpdateValueLength
    default: return super.value(forKey: key)
    }
  }

  open override var description: String {
    "<\(Swift.type(of: self)): \(addressText(of: self)), identifier = \(identifier), "
      + "MTU = \(maximumUpdateValueLength + 3)>"
  }
}
