/// The letters of types · D-Bus Specification, "Summary of types".
private enum TypeCode {
  static let array = code("a")
  static let byte = code("y")
  static let structure = code("r")
  static let entry = code("e")
  static let variant = code("v")

  static func code(_ letter: Unicode.Scalar) -> CInt { CInt(letter.value) }
}

extension DBusValue {
  /// The deepest nesting of containers in a value that is sent; libdbus permits 32 arrays and 32 structures.
  private static let maximumDepth = 30

  // MARK: Writing

  /// Checks that libdbus can write the value, and adds its approximate size to `size`. libdbus ends the program for a
  /// value that is not valid.
  func check(_ library: LibDBus, depth: Int, size: inout Int) throws(DBusError) {
    func refuse(_ reason: String) -> DBusError { DBusError(DBusError.Name.invalidArguments, reason) }
    func isSignature(_ text: String) -> Bool {
      !text.utf8.contains(0) && text.withCString { library.validateSignature($0, nil) } != 0
    }
    guard depth <= Self.maximumDepth else { throw refuse("the value has more than \(Self.maximumDepth) levels") }
    size += 8
    switch self {
    case .byte, .bool, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double: break
    case .string(let text):
      size += text.utf8.count
      guard !text.utf8.contains(0) else { throw refuse("a text contains a zero") }
    case .path(let path):
      size += path.utf8.count
      guard !path.utf8.contains(0), path.withCString({ library.validatePath($0, nil) }) != 0 else {
        throw refuse("invalid object path \"\(path)\"")
      }
    case .signature(let text):
      guard isSignature(text) else { throw refuse("invalid signature \"\(text)\"") }
    case .fileDescriptor(let descriptor):
      guard descriptor.withDescriptor({ _ in true }) == true else { throw refuse("the file descriptor was given away") }
    case .bytes(let octets): size += octets.count
    case .array(let elements, let element):
      guard isSignature("a" + element) else { throw refuse("invalid signature \"\(element)\"") }
      for value in elements {
        guard value.signature == element else { throw refuse("\(value.signature) in an array of \(element)") }
        try value.check(library, depth: depth + 1, size: &size)
      }
    case .dictionary(let entries, let key, let value):
      guard isSignature(signature) else { throw refuse("invalid signature \"\(signature)\"") }
      for entry in entries {
        guard entry.key.signature == key, entry.value.signature == value else {
          throw refuse("{\(entry.key.signature)\(entry.value.signature)} in a dictionary \(signature)")
        }
        try entry.key.check(library, depth: depth + 1, size: &size)
        try entry.value.check(library, depth: depth + 1, size: &size)
      }
    case .structure(let fields):
      guard !fields.isEmpty else { throw refuse("a structure without fields") }
      guard isSignature(signature) else { throw refuse("invalid signature \"\(signature)\"") }
      for field in fields { try field.check(library, depth: depth + 1, size: &size) }
    case .variant(let value): try value.check(library, depth: depth + 1, size: &size)
    }
  }

  /// Appends a checked value to a message. Returns false if libdbus has no memory.
  func append(to iterator: LibDBus.Iterator, _ library: LibDBus) -> Bool {
    func basic(_ letter: Unicode.Scalar, _ value: some BitwiseCopyable) -> Bool {
      withUnsafeBytes(of: value) { library.appendBasic(iterator, TypeCode.code(letter), $0.baseAddress!) } != 0
    }
    func text(_ letter: Unicode.Scalar, _ text: String) -> Bool { text.withCString { basic(letter, $0) } }
    func container(_ type: CInt, _ signature: String?, _ body: (LibDBus.Iterator) -> Bool) -> Bool {
      withIterator { inner in
        let isOpen =
          signature.map { $0.withCString { library.openContainer(iterator, type, $0, inner) } }
          ?? library.openContainer(iterator, type, nil, inner)
        guard isOpen != 0 else { return false }
        let isComplete = body(inner)
        return library.closeContainer(iterator, inner) != 0 && isComplete
      }
    }
    switch self {
    case .byte(let number): return basic("y", number)
    case .bool(let flag): return basic("b", UInt32(flag ? 1 : 0))
    case .int16(let number): return basic("n", number)
    case .uint16(let number): return basic("q", number)
    case .int32(let number): return basic("i", number)
    case .uint32(let number): return basic("u", number)
    case .int64(let number): return basic("x", number)
    case .uint64(let number): return basic("t", number)
    case .double(let number): return basic("d", number)
    case .string(let string): return text("s", string)
    case .path(let path): return text("o", path)
    case .signature(let signature): return text("g", signature)
    case .fileDescriptor(let descriptor): return descriptor.withDescriptor { basic("h", $0) } ?? false
    case .bytes(let octets):
      return container(TypeCode.array, "y") { inner in
        octets.withUnsafeBufferPointer { buffer in
          guard var start = buffer.baseAddress else { return true }
          return library.appendFixedArray(inner, TypeCode.byte, &start, CInt(buffer.count)) != 0
        }
      }
    case .array(let elements, let element):
      return container(TypeCode.array, element) { inner in elements.allSatisfy { $0.append(to: inner, library) } }
    case .dictionary(let entries, let key, let value):
      return container(TypeCode.array, "{\(key)\(value)}") { array in
        Self.inOrder(entries).allSatisfy { entry in
          withIterator { inner in
            guard library.openContainer(array, TypeCode.entry, nil, inner) != 0 else { return false }
            let isComplete = entry.key.append(to: inner, library) && entry.value.append(to: inner, library)
            return library.closeContainer(array, inner) != 0 && isComplete
          }
        }
      }
    case .structure(let fields):
      return container(TypeCode.structure, nil) { inner in fields.allSatisfy { $0.append(to: inner, library) } }
    case .variant(let value):
      return container(TypeCode.variant, value.signature) { value.append(to: $0, library) }
    }
  }

  /// Returns the entries of a dictionary in the order in which they are sent: that of texts and numbers. bluetoothctl
  /// crashes if an object's other interfaces come before `Adapter1`.
  static func inOrder(_ entries: [DBusValue: DBusValue]) -> [(key: DBusValue, value: DBusValue)] {
    entries.sorted { left, right in
      if let left = left.key.string ?? left.key.path, let right = right.key.string ?? right.key.path {
        return left < right
      }
      if let left = left.key.integer, let right = right.key.integer { return left < right }
      return false
    }
  }

  // MARK: Reading. libdbus has checked the message, with its nesting.

  /// Reads the values at an iterator up to its end.
  static func readAll(_ iterator: LibDBus.Iterator, _ library: LibDBus) -> [DBusValue] {
    var result: [DBusValue] = []
    while let value = DBusValue(iterator, library) {
      result.append(value)
      guard library.next(iterator) != 0 else { break }
    }
    return result
  }

  /// Reads the value at an iterator; nil: there is none.
  private init?(_ iterator: LibDBus.Iterator, _ library: LibDBus) {
    func basic<Value: BitwiseCopyable>(_ initial: Value) -> Value {
      var value = initial
      library.getBasic(iterator, &value)
      return value
    }
    func text() -> String { basic(LibDBus.Text?.none).map { String(cString: $0) } ?? "" }
    func inner() -> [DBusValue] {
      withIterator { inner in
        library.recurse(iterator, inner)
        return Self.readAll(inner, library)
      }
    }
    guard let letter = Unicode.Scalar(UInt32(bitPattern: library.argumentType(iterator))) else { return nil }
    switch letter {
    case "y": self = .byte(basic(0))
    case "b": self = .bool(basic(UInt32(0)) != 0)
    case "n": self = .int16(basic(0))
    case "q": self = .uint16(basic(0))
    case "i": self = .int32(basic(0))
    case "u": self = .uint32(basic(0))
    case "x": self = .int64(basic(0))
    case "t": self = .uint64(basic(0))
    case "d": self = .double(basic(0))
    case "s": self = .string(text())
    case "o": self = .path(text())
    case "g": self = .signature(text())
    case "h":
      let descriptor = basic(CInt(-1))
      guard descriptor >= 0 else { return nil }
      self = .fileDescriptor(DBusFileDescriptor(owning: descriptor))
    case "r": self = .structure(inner())
    case "v":
      guard let value = inner().first else { return nil }
      self = .variant(value)
    case "a":
      switch library.elementType(iterator) {
      case TypeCode.byte: self = .bytes(Self.octets(iterator, library))
      case TypeCode.entry:
        let signature = Self.elementSignature(iterator, library)
        let key = String(signature.dropFirst().prefix(1))
        self = .dictionary(
          Self.entries(iterator, library), key: key, value: String(signature.dropFirst(2).dropLast()))
      default: self = .array(inner(), of: Self.elementSignature(iterator, library))
      }
    default: return nil
    }
  }

  private static func octets(_ iterator: LibDBus.Iterator, _ library: LibDBus) -> [UInt8] {
    withIterator { inner in
      library.recurse(iterator, inner)
      var (start, count): (UnsafePointer<UInt8>?, CInt) = (nil, 0)
      library.getFixedArray(inner, &start, &count)
      return Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }
  }

  /// Reads the entries of a dictionary. Of entries with the same key, the last one counts.
  private static func entries(_ iterator: LibDBus.Iterator, _ library: LibDBus) -> [DBusValue: DBusValue] {
    withIterator { array in
      var result: [DBusValue: DBusValue] = [:]
      library.recurse(iterator, array)
      while library.argumentType(array) == TypeCode.entry {
        let pair = withIterator { inner in
          library.recurse(array, inner)
          return readAll(inner, library)
        }
        if pair.count == 2 { result[pair[0]] = pair[1] }
        guard library.next(array) != 0 else { break }
      }
      return result
    }
  }

  /// The signature of an array's elements.
  private static func elementSignature(_ iterator: LibDBus.Iterator, _ library: LibDBus) -> String {
    guard let text = library.iteratorSignature(iterator) else { return "" }
    defer { library.free(text) }
    return String(cString: text + 1)
  }
}
