import BluetoothDaemon
import NIOConcurrencyHelpers

/// A protocol/service multiplexer, in the range 0x0080 to 0x00FF for the channels of apps.
public typealias CBL2CAPPSM = UInt16

/// An L2CAP channel to a peer: a stream of octets in each direction. The app must retain it: the channel closes when
/// its last reference is released, or when both streams are closed. Octets written before are still sent.
///
/// The streams are not open at first. An app can schedule them in a run loop and get their events as their delegate:
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
/// Alternatively, an app can open the streams without scheduling them and poll `hasBytesAvailable`,
/// `hasSpaceAvailable` and `streamStatus` from any thread. Reads and writes never block: they transfer as many octets
/// as possible, which may be none. A result of 0 therefore does not mean the end of the stream; `streamStatus`
/// reports that.
///
/// When a channel has been closed by either side, both streams end (`endEncountered`) after earlier data has been
/// read. When the link has been lost, they fail (`errorOccurred`) with the same `CBError` as the disconnection.
open class CBL2CAPChannel: NSObject {
  private struct Parts {
    /// The open channel; releasing this reference closes it.
    let channel: OpenChannel
    let peer: CBPeer?
    let input: ChannelInputStream
    let output: ChannelOutputStream
    let streams: ChannelStreams
  }

  private let parts: Parts?

  /// Creates a channel that is not connected: its peer and its streams are nil.
  public override init() {
    parts = nil
    super.init()
  }

  init(_ channel: OpenChannel, peer: CBPeer?, isInVirtualTime: Bool) {
    let streams = ChannelStreams(channel.pipe, isInVirtualTime: isInVirtualTime)
    parts = Parts(
      channel: channel, peer: peer, input: ChannelInputStream(streams), output: ChannelOutputStream(streams),
      streams: streams)
    super.init()
  }

  /// The device at the other end: a `CBPeripheral` for a central, a `CBCentral` for a peripheral.
  open var peer: CBPeer! { parts?.peer }

  /// The stream of octets from the peer.
  open var inputStream: InputStream! { parts?.input }

  /// The stream of octets to the peer.
  open var outputStream: OutputStream! { parts?.output }

  /// The number of octets that can be read from the input stream.
  package var availableCount: Int { parts?.streams.pipe.available ?? 0 }

  /// Sets a function that is called after each change: octets have arrived, there is room again, or the channel has
  /// ended. The adapter's executor calls it. It replaces an earlier one, and works without a run loop.
  package func setObserver(_ observer: (@Sendable () -> Void)?) {
    parts?.streams.observer.withLockedValue { $0 = observer }
  }

  /// The end of a channel that the app has closed: success if the peer has all octets written before, a failure if the
  /// channel ended earlier. Nil: the channel has not ended.
  package var closeResult: Result<Void, any Error>? {
    guard let parts else { return .success(()) }
    switch parts.channel.pipe.finalEnd {
    case nil: return nil
    case .closed?: return .success(())
    case .lost(let error)?: return .failure(error.appError())
    }
  }

  /// The PSM of the channel; 0 if it is not connected.
  open var psm: CBL2CAPPSM { parts?.channel.psm ?? 0 }
}
