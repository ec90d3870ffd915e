import BluetoothHost
import BluetoothWire
import FuzzSupport

/// Fuzzes a peer's signalling packets while the owner of the channels acts at random.
///
/// The first octet selects the role. Each step that follows begins with an octet whose low three bits select the
/// action: 0 to 2 a packet with code, identifier, a length and that number of octets; 3 one with a wrong length; 4 the
/// controller completes its packets; 5 an action of the owner; 6 time passes; 7 an arbitrary frame on any channel. No
/// identifier or CID is used twice at the same time, memory is bounded, and a read is answered afterwards.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzL2CAPSignalling(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var input = FuzzInput(start, count: count)
  var bench = FuzzChannelHost(input.octet() & 1 == 0 ? .peripheral : .central, 1)
  let settings = ChannelSettings(mtu: 100, mps: 64, credits: 4)
  _ = bench.perform { host, _ in host.publishChannel(settings) }
  while !input.isEmpty {
    let step = input.octet()
    let more = step >> 3
    switch step & 7 {
    case 0...3:
      let (code, identifier) = (input.octet(), input.octet())
      let content = input.slice(Int(more))
      var writer = ByteWriter(bench.pool)
      writer.append(code)
      writer.append(identifier)
      writer.append(UInt16(step & 7 == 3 ? UInt16(input.octet()) : UInt16(content.count)))
      writer.append(content)
      bench.receive(writer.finishFrame(on: .signalling))
    case 4: for _ in 0...more { _ = bench.complete() }
    case 5: want(&bench, more, settings)
    case 6: bench.pass(.seconds(Int64(more)))
    default: bench.receive(input.slice(Int(more) + 8), on: L2CAP.ChannelID(rawValue: UInt16(input.octet())))
    }
  }
  bench.expectSound()
  bench.acknowledgeAll()
  bench.pass(.seconds(400))
  return 0
}

private func want(_ bench: inout FuzzChannelHost, _ number: UInt8, _ settings: ChannelSettings) {
  let handle = bench.handle
  let open = bench.open
  let some = open.isEmpty ? L2CAP.ChannelID(rawValue: 0x40) : open[Int(number) % open.count]
  bench.perform { host, now in
    switch number & 7 {
    case 0, 1:
      host.openChannels(
        spsm: 0x0081, count: Int(number >> 2), isEnhanced: number & 1 == 0, settings,
        token: ChannelToken(rawValue: 1), on: handle, at: now)
    case 2: host.closeChannel(some, on: handle, at: now)
    case 3: host.reconfigure([some], mtu: 100 + UInt16(number), mps: 64, on: handle, at: now)
    case 4: host.reconfigure(Array(open.prefix(5)), mtu: 200, mps: 100, on: handle, at: now)
    case 5: _ = host.sendOnChannel([1, 2, 3], some, on: handle, at: now)
    case 6:
      host.updateConnection(
        handle,
        LinkParameters(minimumInterval: 24, maximumInterval: 40, latency: 0, supervisionTimeout: 42), at: now)
    default: host.acknowledge(some, on: handle, at: now)
    }
  }
}
