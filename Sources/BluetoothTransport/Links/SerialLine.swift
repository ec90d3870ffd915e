import CBluetoothTransport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Opens serial lines: 8 data bits, 1 stop bit.
enum SerialLine {
  /// The maximum deviation of the actual baud rate from the requested one, in thousandths.
  private static let toleratedDeviation = 30

  static func open(_ device: String, baud: Int, _ framing: SerialFraming) throws(TransportError) -> CInt {
    let descriptor = systemOpen(device, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw TransportError(opening: device, code: errno) }
    var actual: UInt32 = 0
    let code = bluetooth_serial_line_prepare(
      descriptor, UInt32(truncatingIfNeeded: baud), framing.hasFlowControl, framing.hasEvenParity, &actual)
    guard code == 0 else {
      close(descriptor)
      throw TransportError(preparing: device, baud: baud, code: code)
    }
    guard abs(Int(actual) - baud) * 1_000 <= baud * toleratedDeviation else {
      close(descriptor)
      throw TransportError("\(device) does not support \(baud) baud; the nearest supported rate is \(actual)")
    }
    return descriptor
  }

  static func close(_ descriptor: CInt) { _ = systemClose(descriptor) }
}

extension TransportError {
  /// The error for a serial line that could not be opened.
  init(opening device: String, code: CInt) {
    switch code {
    case ENOENT, ENXIO, ENODEV: self.init("no such device: \(device)")
    case EACCES, EPERM:
      self.init(
        "permission denied for \(device): join its group, often dialout, with `sudo usermod -aG dialout $USER`, then"
          + " log in again")
    case EBUSY: self.init("\(device) is in use by another program")
    default: self.init("can't open \(device): \(Self.reason(code))")
    }
  }

  fileprivate init(preparing device: String, baud: Int, code: CInt) {
    switch code {
    case ENOTTY: self.init("\(device) is not a serial port")
    case EINVAL: self.init("\(device) does not support \(baud) baud")
    default: self.init("can't set \(device) to \(baud) baud: \(Self.reason(code))")
    }
  }
}

private func systemOpen(_ path: String, _ flags: CInt) -> CInt { open(path, flags) }
private func systemClose(_ descriptor: CInt) -> CInt { close(descriptor) }
