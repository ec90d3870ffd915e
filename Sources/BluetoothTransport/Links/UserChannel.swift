import CBluetoothTransport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The HCI user channel of Linux, which gives exclusive access to the packets of an adapter.
enum UserChannel {
  /// Opens the user channel of adapter `number`, and returns its descriptor.
  static func open(_ number: Int) throws(TransportError) -> CInt {
    var step = bluetooth_user_channel_socket
    let result = bluetooth_user_channel_open(UInt16(truncatingIfNeeded: number), &step)
    guard result < 0 else { return result }
    throw refusal(-result, number, isSocket: step == bluetooth_user_channel_socket, program: program)
  }

  /// Returns an error that states why the channel can't be opened and how to fix it.
  static func refusal(_ code: CInt, _ number: Int, isSocket: Bool, program: String) -> TransportError {
    switch code {
    case EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT:
      TransportError(
        "the kernel does not support Bluetooth: run `sudo modprobe bluetooth`; a container needs the host network")
    case EPERM, EACCES:
      TransportError(
        isSocket
          ? "Bluetooth sockets are not permitted: allow AF_BLUETOOTH in the settings of the container or the service"
          : "missing CAP_NET_ADMIN: run `sudo setcap cap_net_admin+ep \(program)`, or run this program as root")
    case EBUSY, EALREADY, EUSERS:
      TransportError(
        "adapter \(number) is in use: if BlueZ uses it, run `sudo systemctl stop bluetooth` and then"
          + " `sudo hciconfig hci\(number) down`; `bluetoothctl power off` frees it for one run of a program only")
    case ENODEV, ENXIO:
      TransportError("no adapter \(number): `ls /sys/class/bluetooth` lists the adapters")
    case rfkill: TransportError("adapter \(number) is blocked: run `sudo rfkill unblock bluetooth`")
    default: TransportError("can't open adapter \(number): \(TransportError.reason(code))")
    }
  }

  /// The value of `ERFKILL` on Linux.
  private static let rfkill: CInt = 132

  /// The path of this program, for the command that grants it a capability.
  private static var program: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { return CommandLine.arguments.first ?? "PROGRAM" }
    return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
