/// A list of fixed-size elements in a PDU, read in place: iterating over it allocates nothing. Trailing octets that
/// are shorter than an element are ignored.
package protocol ATTFixedSizeList: RandomAccessCollection, Hashable, Sendable where Index == Int {
  var data: ByteSlice { get }
  /// The length of one element in octets.
  var elementSize: Int { get }
  /// Returns the element decoded from `octets`, which must be `elementSize` long.
  func element(in octets: ByteSlice) -> Element
}

extension ATTFixedSizeList {
  package var startIndex: Int { 0 }
  package var endIndex: Int { elementSize > 0 ? data.count / elementSize : 0 }
  package subscript(index: Int) -> Element {
    element(in: data[index * elementSize..<(index + 1) * elementSize])
  }
}

extension ATT {
  /// The Information Data of a Find Information Response · Vol 3, Part F, 3.4.3.2.
  package struct InformationList: ATTFixedSizeList {
    package enum Format: UInt8, Hashable, Sendable {
      case uuid16 = 0x01
      case uuid128 = 0x02
    }

    package struct Element: Hashable, Sendable {
      package let handle: Handle
      package let type: BluetoothUUID
    }

    package let format: Format
    package let data: ByteSlice
    package init(format: Format, data: ByteSlice) {
      self.format = format
      self.data = data
    }

    package var elementSize: Int { format == .uuid16 ? 4 : 18 }
    package func element(in octets: ByteSlice) -> Element {
      Element(
        handle: octets.littleEndian16(at: 0), type: octets.uuid(at: 2, format == .uuid16 ? .bits16 : .bits128))
    }
  }

  /// The Handles Information List of a Find By Type Value Response · 3.4.3.4.
  package struct HandlesInformationList: ATTFixedSizeList {
    package struct Element: Hashable, Sendable {
      package let found: Handle
      package let groupEnd: Handle
    }

    package let data: ByteSlice
    package init(data: ByteSlice) { self.data = data }

    package var elementSize: Int { 4 }
    package func element(in octets: ByteSlice) -> Element {
      Element(found: octets.littleEndian16(at: 0), groupEnd: octets.littleEndian16(at: 2))
    }
  }

  /// The Attribute Data List of a Read By Type Response · 3.4.4.2.
  package struct AttributeDataList: ATTFixedSizeList {
    package struct Element: Hashable, Sendable {
      package let handle: Handle
      package let value: ByteSlice
    }

    /// The length of the handle and the value in octets, 2 to 255.
    package let elementSize: Int
    package let data: ByteSlice
    package init(elementSize: Int, data: ByteSlice) {
      self.elementSize = elementSize
      self.data = data
    }

    package func element(in octets: ByteSlice) -> Element {
      Element(handle: octets.littleEndian16(at: 0), value: octets.dropFirst(2))
    }
  }

  /// The Attribute Data List of a Read By Group Type Response · 3.4.4.10.
  package struct GroupDataList: ATTFixedSizeList {
    package struct Element: Hashable, Sendable {
      package let handle: Handle
      package let groupEnd: Handle
      package let value: ByteSlice
    }

    /// The length of the two handles and the value in octets, 4 to 255.
    package let elementSize: Int
    package let data: ByteSlice
    package init(elementSize: Int, data: ByteSlice) {
      self.elementSize = elementSize
      self.data = data
    }

    package func element(in octets: ByteSlice) -> Element {
      Element(
        handle: octets.littleEndian16(at: 0), groupEnd: octets.littleEndian16(at: 2), value: octets.dropFirst(4))
    }
  }

  /// The Set Of Handles of the Read Multiple requests · 3.4.4.7, 3.4.4.11.
  package struct HandleList: ATTFixedSizeList {
    package typealias Element = Handle

    package let data: ByteSlice
    package init(data: ByteSlice) { self.data = data }

    package var elementSize: Int { 2 }
    package func element(in octets: ByteSlice) -> Handle { octets.littleEndian16(at: 0) }
  }

  /// The Length Value Tuple List of a Read Multiple Variable Response · 3.4.4.12. The MTU may have truncated the last
  /// value.
  package struct LengthValueList: Hashable, Sendable, Sequence {
    package struct Element: Hashable, Sendable {
      /// The length of the complete value in octets; `value` may be truncated.
      package let length: Int
      package let value: ByteSlice
    }

    package struct Iterator: IteratorProtocol {
      var rest: ByteSlice

      package mutating func next() -> Element? {
        guard rest.count >= 2 else { return nil }
        let length = Int(rest.littleEndian16(at: 0))
        let element = Element(length: length, value: rest.dropFirst(2).prefix(length))
        rest = rest.dropFirst(2 + length)
        return element
      }
    }

    package let data: ByteSlice
    package init(data: ByteSlice) { self.data = data }
    package func makeIterator() -> Iterator { Iterator(rest: data) }
  }

  /// The Handle Length Value Tuple List of a Multiple Handle Value Notification · 3.4.7.4.
  package struct HandleLengthValueList: Hashable, Sendable, Sequence {
    package struct Element: Hashable, Sendable {
      package let handle: Handle
      package let value: ByteSlice
    }

    /// Iterates over the tuples and ends before the first incomplete one.
    package struct Iterator: IteratorProtocol {
      var rest: ByteSlice

      package mutating func next() -> Element? {
        guard rest.count >= 4 else { return nil }
        let length = Int(rest.littleEndian16(at: 2))
        guard rest.count >= 4 + length else { return nil }
        let element = Element(handle: rest.littleEndian16(at: 0), value: rest[4..<4 + length])
        rest = rest.dropFirst(4 + length)
        return element
      }
    }

    package let data: ByteSlice
    package func makeIterator() -> Iterator { Iterator(rest: data) }

    /// True if the data consists of one or more complete tuples and nothing else.
    var isWhole: Bool {
      var iterator = makeIterator()
      while iterator.next() != nil {}
      return iterator.rest.isEmpty && !data.isEmpty
    }
  }
}

extension ByteSlice {
  /// Returns the little-endian integer of two octets at `offset`. Traps if it does not lie within the slice.
  func littleEndian16(at offset: Int) -> UInt16 { UInt16(self[offset]) | UInt16(self[offset + 1]) << 8 }

  /// Returns the UUID of `width` at `offset`. Traps if it does not lie within the slice.
  func uuid(at offset: Int, _ width: BluetoothUUID.Width) -> BluetoothUUID {
    switch width {
    case .bits16: return BluetoothUUID(littleEndian16(at: offset))
    case .bits32:
      return BluetoothUUID(UInt32(littleEndian16(at: offset)) | UInt32(littleEndian16(at: offset + 2)) << 16)
    case .bits128:
      var half: (low: UInt64, high: UInt64) = (0, 0)
      for index in (0..<8).reversed() {
        half.low = half.low << 8 | UInt64(self[offset + index])
        half.high = half.high << 8 | UInt64(self[offset + 8 + index])
      }
      return BluetoothUUID(high: half.high, low: half.low)
    }
  }
}
