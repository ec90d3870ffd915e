import BluetoothTypes
import CBluetoothTransport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The sockets of Linux for LE credit-based channels. They need no right beyond that to use AF_BLUETOOTH.
package enum L2CAPSocket {
  /// An `errno` of the kernel.
  package struct Failure: Error, Hashable, Sendable {
    package let code: CInt
    package init(code: CInt) { self.code = code }
    /// The peer has refused the channel for lack of resources, or it has no such PSM.
    package var isRefusal: Bool { code == ECONNREFUSED }
    /// The link is not as secure as the channel needs.
    package var isSecurity: Bool { code == EACCES || code == EPERM || code == ENOKEY }
    package var isTimeout: Bool { code == ETIMEDOUT }
    /// The link has ended.
    package var isLoss: Bool { [EHOSTDOWN, EHOSTUNREACH, ECONNRESET, ENOTCONN, ECONNABORTED].contains(code) }
    /// The kernel has no Bluetooth, or does not know the adapter: it is that of another BlueZ.
    package var isMissing: Bool {
      [EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT, EADDRNOTAVAIL, ENODEV].contains(code)
    }
    /// The text of the C library.
    package var reason: String { TransportError.reason(code) }
  }

  /// The longest packet that this side takes.
  private static let mtu: UInt16 = 2_048

  /// Begins to open a channel. The descriptor becomes writable when the attempt has ended; see `result(of:)`.
  package static func connect(
    from own: DeviceAddress, to peer: DeviceAddress, psm: UInt16
  ) throws(Failure) -> CInt {
    try descriptor(
      bluetooth_l2cap_connect(
        own.value, own.kind == .random, peer.value, peer.kind == .random, psm, mtu))
  }

  /// Returns why an attempt to open a channel has failed; nil: the channel is open.
  package static func result(of descriptor: CInt) -> Failure? {
    var code: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { return Failure(code: errno) }
    return code == 0 ? nil : Failure(code: code)
  }

  /// Listens for channels at a free dynamic PSM.
  package static func listen(
    at own: DeviceAddress, isEncrypted: Bool
  ) throws(Failure) -> (descriptor: CInt, psm: UInt16) {
    var psm: UInt16 = 0
    let result = try descriptor(
      bluetooth_l2cap_listen(own.value, own.kind == .random, isEncrypted, mtu, &psm))
    return (result, psm)
  }

  /// Accepts a channel; nil: none waits.
  package static func accept(_ listener: CInt) -> (descriptor: CInt, peer: DeviceAddress)? {
    var address: UInt64 = 0
    var isRandom = false
    let result = bluetooth_l2cap_accept(listener, &address, &isRandom)
    guard result >= 0 else { return nil }
    return (result, DeviceAddress(address, isRandom ? .random : .public))
  }

  /// The longest packet that can be sent on an open channel.
  package static func maximumLength(_ descriptor: CInt) -> Int { Int(bluetooth_l2cap_send_mtu(descriptor)) }

  private static func descriptor(_ result: CInt) throws(Failure) -> CInt {
    guard result < 0 else { return result }
    throw Failure(code: -result)
  }
}

/// Creates a pair of sockets with packet boundaries that do not block; nil: there is no descriptor left, or the system
/// has no such sockets.
package func makePacketSocketPair() -> (CInt, CInt)? {
  #if canImport(Glibc)
    let type = CInt(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
  #elseif canImport(Musl)
    let type = SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC
  #else
    let type = SOCK_SEQPACKET
  #endif
  var pair: [CInt] = [-1, -1]
  return socketpair(AF_UNIX, type, 0, &pair) == 0 ? (pair[0], pair[1]) : nil
}

/// Closes a descriptor.
package func closeDescriptor(_ descriptor: CInt) { _ = close(descriptor) }
