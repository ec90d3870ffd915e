import BluetoothWire
import FuzzSupport

/// Fuzzes octets from a serial line, in arbitrary portions.
///
/// The first octet selects the reader and the length of the portions. The decoded packets must not depend on the
/// portions, and each must survive encoding and decoding again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzH4Framing(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 1 else { return 0 }
  let octets = Array(UnsafeBufferPointer(start: start, count: count))
  let side: H4Decoder.Side = octets[0] & 1 == 0 ? .host : .controller
  let stream = ByteSlice(octets.dropFirst())
  let whole = outputs(stream, in: stream.count, for: side)
  precondition(whole == outputs(stream, in: 1 + Int(octets[0] >> 1) % 40, for: side), "it depends on the portions")
  let pool = PacketPool()
  for case .packet(let packet) in whole {
    let written = packet.h4(in: pool)
    var decoder = H4Decoder(for: side, maximumACLLength: maximumLength, pool: pool)
    var rest = written
    precondition(decoder.next(&rest) == .packet(packet) && rest.isEmpty, "what is written is not read")
  }
  return 0
}

private let maximumLength = 512

private func outputs(_ stream: ByteSlice, in portion: Int, for side: H4Decoder.Side) -> [H4Decoder.Output] {
  var decoder = H4Decoder(for: side, maximumACLLength: maximumLength, pool: PacketPool())
  var result: [H4Decoder.Output] = []
  var rest = stream
  while !rest.isEmpty {
    var octets = rest.prefix(portion)
    rest = rest.dropFirst(portion)
    while let output = decoder.next(&octets) { result.append(output) }
    precondition(octets.isEmpty, "octets are left")
    precondition(decoder.keptCount < maximumLength + 5, "more than a packet is kept")
  }
  return result
}
