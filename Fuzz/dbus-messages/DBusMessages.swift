import BluetoothDBus

/// Fuzzes the reading of D-Bus messages.
///
/// The octets are a message. Each body that libdbus accepts can be read, and what can be sent has the same signature
/// when it is read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDBusMessages(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard let body = DBusMessageBody.read(Array(UnsafeBufferPointer(start: start, count: count))) else { return 0 }
  if let again = try? DBusMessageBody.rewrite(body) {
    precondition(again.map(\.signature) == body.map(\.signature), "the signature has changed")
  }
  return 0
}
