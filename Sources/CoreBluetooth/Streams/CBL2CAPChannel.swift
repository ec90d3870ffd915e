/// A protocol/service multiplexer: in the range 0x0080 to 0x00FF for channels of apps.
public typealias CBL2CAPPSM = UInt16

/// An L2CAP channel to a peer. The app keeps it for as long as it is used, and opens and schedules its streams.
///
/// This version opens no channels yet: one that an app creates itself has no peer and no streams.
open class CBL2CAPChannel: NSObject {
  /// The device at the other end: a `CBPeripheral` for a central, a `CBCentral` for a peripheral.
  open var peer: CBPeer! { nil }

  /// What the peer sends.
  open var inputStream: InputStream! { nil }

  /// What is sent to the peer.
  open var outputStream: OutputStream! { nil }

  /// The channel's number.
  open var psm: CBL2CAPPSM { 0 }
}
