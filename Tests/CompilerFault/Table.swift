final class Item {
  let number = 1
}

/// A structure that is large enough for the compiler to keep it in memory, with references to destroy.
struct Schedule {
  var first = Item()
  var second = Item()
  var numbers = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)

  /// Fills blocks of every size with one pattern, as any other code does that uses the heap.
  func sum() -> Int {
    var blocks: [[Int]] = []
    for count in 1...120 { blocks.append(Array(repeating: 0x4141_4141, count: count)) }
    return first.number + second.number + blocks.count
  }
}

struct Entry {
  var item = Item()
  var schedule = Schedule()
}

struct Table {
  var entries = [Entry(), Entry()]

  // In a file of its own, so that the caller does not inline the accessor.
  subscript(index: Int) -> Entry {
    _read { yield entries[index] }
    _modify { yield &entries[index] }
  }
}
