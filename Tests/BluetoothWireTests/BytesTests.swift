import Testing

@testable import BluetoothWire

@Suite("Bytes")
struct BytesTests {
  @Test("A reader decodes little-endian fields and refuses to read past the end")
  func readerIsChecked() throws {
    var reader = ByteReader([0x34, 0x12, 0x78, 0x56, 0x34, 0x12, 0xFF])
    #expect(try reader.uint16() == 0x1234)
    #expect(try reader.uint32() == 0x1234_5678)
    #expect(throws: DecodingError.truncated) { try reader.uint16() }
    #expect(try reader.int8() == -1)
    #expect(throws: DecodingError.truncated) { try reader.uint8() }
    #expect(throws: DecodingError.truncated) { try reader.take(1) }
    try reader.end()
  }

  @Test("Octets left over are an error where a unit states its own length")
  func excess() throws {
    let reader = ByteReader([0x01])
    #expect(throws: DecodingError.excess) { try reader.end() }
  }

  @Test("A header is prepended without moving the octets")
  func headroom() {
    let pool = PacketPool()
    var writer = ByteWriter(pool)
    writer.append(UInt16(0xBEEF))
    writer.prepend(UInt16(0x0004))
    writer.prepend(UInt8(0x02))
    #expect(writer.finish() == [0x02, 0x04, 0x00, 0xEF, 0xBE])
  }

  @Test("The pool reuses a storage that has no owner, and never one that is in use")
  func poolReuse() {
    let pool = PacketPool()
    var kept: [ByteSlice] = []
    for value in UInt8(0)..<4 {
      var writer = ByteWriter(pool)
      writer.append(value)
      kept.append(writer.finish())
    }
    #expect(pool.count == 4)
    #expect(kept == [[0], [1], [2], [3]])
    for value in UInt8(0)..<100 {
      var writer = ByteWriter(pool)
      writer.append(value)
      _ = writer.finish()
    }
    #expect(pool.count == 5)
    #expect(kept == [[0], [1], [2], [3]])
  }

  @Test("The pool stops growing, however many storages are kept permanently", arguments: [8, 9, 64, 200])
  func poolWithLongKept(count: Int) {
    let pool = PacketPool()
    let kept = (0..<count).map { _ in pool.take() }
    for _ in 0..<20_000 { _ = pool.take() }
    let settled = pool.count
    for _ in 0..<20_000 { _ = pool.take() }
    #expect(pool.count == settled)
    #expect(settled <= count + count / 2 + 1)
    withExtendedLifetime(kept) {}
  }

  @Test("A slice of a slice has the right octets")
  func slices() {
    let slice: ByteSlice = [0, 1, 2, 3, 4, 5]
    #expect(slice[1..<5][1..<3] == [2, 3])
    #expect(slice.dropFirst(4) == [4, 5])
    #expect(slice.dropFirst(9).isEmpty)
    #expect(slice.prefix(2) == [0, 1])
    #expect(slice.prefix(99).count == 6)
  }
}

@Suite("Units")
struct UnitsTests {
  @Test("A generator repeats its numbers for the same seed and name, and differs for another name")
  func generator() {
    var first = RandomStream(seed: 7).split("sensor")
    var second = RandomStream(seed: 7).split("sensor")
    var third = RandomStream(seed: 7).split("phone")
    let draw = first.next()
    #expect(draw == second.next())
    #expect(draw != third.next())
  }

  @Test("The short and the long form of a UUID are equal and hash alike")
  func uuidForms() {
    let short = BluetoothUUID(0x180D)
    let long = BluetoothUUID(high: 0x0000_180D_0000_1000, low: 0x8000_0080_5F9B_34FB)
    #expect(short == long)
    #expect(Set([short, long]).count == 1)
    #expect(short.description == "180D")
    #expect(long.description == "0000180D-0000-1000-8000-00805F9B34FB")
    #expect(long.shortValue == 0x180D)
    #expect(BluetoothUUID(UInt32(0x1234_5678)).shortValue == nil)
  }

  @Test("The two high bits of a random address determine its kind")
  func addressKinds() {
    #expect(DeviceAddress(0xC0_0000_0000_01, .random).randomKind == .static)
    #expect(DeviceAddress(0x40_0000_0000_01, .random).randomKind == .resolvablePrivate)
    #expect(DeviceAddress(0x00_0000_0000_01, .random).randomKind == .nonResolvablePrivate)
    #expect(DeviceAddress(0x00_0000_0000_01, .public).randomKind == nil)
    #expect(DeviceAddress(0xC011_2233_4455, .random).description == "C0:11:22:33:44:55 (random)")
  }

  @Test("The distant future does not overflow")
  func instantOverflow() {
    #expect(Instant.distantFuture + .seconds(1) == .distantFuture)
    #expect(Instant.zero + .milliseconds(30) - .zero == .microseconds(30_000))
  }
}
