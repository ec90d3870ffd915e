import BluetoothDaemon

/// A protocol/service multiplexer: in the range 0x0080 to 0x00FF for channels of apps.
public typealias CBL2CAPPSM = UInt16

/// An L2CAP channel to a peer: a stream of octets in each direction. The app keeps it for as long as it is used: with the
/// last reference to it, or when both streams are closed, the channel closes. What was written before is still sent.
///
/// The streams come unopened. Either they are scheduled in a run loop, and their delegate is told what happens:
///
/// ```swift
/// func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
///   guard let channel else { return }
///   self.channel = channel
///   for stream: Stream in [channel.inputStream, channel.outputStream] {
///     stream.delegate = self
///     stream.schedule(in: .main, forMode: .default)
///     stream.open()
///   }
/// }
///
/// func stream(_ stream: Stream, handle event: Stream.Event) {
///   switch event {
///   case .hasBytesAvailable: take()    // inputStream.read(_:maxLength:)
///   case .hasSpaceAvailable: give()    // outputStream.write(_:maxLength:)
///   case .endEncountered, .errorOccurred: channel = nil
///   default: break
///   }
/// }
/// ```
///
/// Or they are only opened, and asked from any thread: `hasBytesAvailable`, `hasSpaceAvailable`, `streamStatus`. Reading and
/// writing never wait: they take what there is, or what there is room for, which may be nothing. So 0 is not the end:
/// `streamStatus` tells that.
///
/// A channel that somebody has closed ends both streams (`endEncountered`), after what came before was read; if the link was
/// lost, they fail (`errorOccurred`) with the same `CBError` that a disconnection has.
open class CBL2CAPChannel: NSObject {
  private struct Parts {
    /// With it the channel closes.
    let channel: OpenChannel
    let peer: CBPeer?
    let input: ChannelInputStream
    let output: ChannelOutputStream
  }

  private let parts: Parts?

  /// A channel that an app makes itself leads nowhere.
  public override init() {
    parts = nil
    super.init()
  }

  init(_ channel: OpenChannel, peer: CBPeer?, isInVirtualTime: Bool) {
    let streams = ChannelStreams(channel.pipe, isInVirtualTime: isInVirtualTime)
    parts = Parts(
      channel: channel, peer: peer, input: ChannelInputStream(streams), output: ChannelOutputStream(streams))
    super.init()
  }

  /// The device at the other end: a `CBPeripheral` for a central, a `CBCentral` for a peripheral.
  open var peer: CBPeer! { parts?.peer }

  /// What the peer sends.
  open var inputStream: InputStream! { parts?.input }

  /// What is sent to the peer.
  open var outputStream: OutputStream! { parts?.output }

  /// The channel's number.
  open var psm: CBL2CAPPSM { parts?.channel.psm ?? 0 }
}
