import BluetoothWire
import Testing

@Suite("Slot maps")
struct SlotMapTests {
  @Test("A key identifies its value until the value is removed")
  func keys() {
    var map = SlotMap<String>()
    let first = map.insert("first")
    let second = map.insert("second")
    #expect(map[first] == "first")
    #expect(map[second] == "second")
    #expect(map.count == 2)
    #expect(map.remove(first) == "first")
    #expect(map.remove(first) == nil)
    #expect(map[first] == nil)
    #expect(map[second] == "second")
    #expect(map.count == 1)
    #expect(!map.isEmpty)
  }

  @Test("The key of a removed value does not identify the next value in its slot")
  func generations() {
    var map = SlotMap<Int>()
    let old = map.insert(1)
    _ = map.remove(old)
    let new = map.insert(2)
    #expect(new.index == old.index)
    #expect(new != old)
    #expect(map[old] == nil)
    #expect(map.remove(old) == nil)
    #expect(map.update(old) { $0 += 1 } == nil)
    #expect(map[new] == 2)
  }

  @Test("The lowest vacant slot is used first")
  func lowestFirst() {
    var map = SlotMap<Int>()
    let keys = (0..<200).map { map.insert($0) }
    for index in [130, 7, 64, 199, 63] { _ = map.remove(keys[index]) }
    #expect((0..<6).map { map.insert($0).index } == [7, 63, 64, 130, 199, 200])
  }

  @Test("Values change in place")
  func updates() {
    var map = SlotMap<[Int]>()
    let key = map.insert([1])
    let count = map.update(key) { value in
      value.append(2)
      return value.count
    }
    #expect(count == 2)
    #expect(map[key] == [1, 2])
  }

  @Test("After the removal of all values, their keys are invalid and their slots are used again")
  func removesAll() {
    var map = SlotMap<Int>()
    let keys = (0..<70).map { map.insert($0) }
    map.removeAll()
    #expect(map.isEmpty)
    #expect(keys.allSatisfy { map[$0] == nil })
    #expect(map.insert(1).index == 0)
    #expect(map.values.count == 70)
  }

  @Test("A key of another table that is larger identifies nothing")
  func foreignKeys() {
    let map = SlotMap<Int>()
    #expect(map[SlotKey(index: 3, generation: 0)] == nil)
  }

  @Test("A table that follows another one finds its values by the other one's keys")
  func follows() {
    var leader = SlotMap<Int>()
    var follower = SlotMap<String>()
    let keys = (0..<3).map { leader.insert($0) }
    follower.place("c", at: keys[2])
    #expect(follower[keys[2]] == "c")
    #expect(follower[keys[0]] == nil)
    #expect(follower.key(at: 0) == nil)
    #expect(follower.key(at: 2) == keys[2])
    _ = leader.remove(keys[2])
    let next = leader.insert(3)
    #expect(follower.remove(keys[2]) == "c")
    follower.place("d", at: next)
    #expect(follower[keys[2]] == nil)
    #expect(follower[next] == "d")
    #expect(follower.count == 1)
    #expect(follower.insert("a").index == 0)
  }

  @Test("A key is equal to the key made of its number")
  func numbers() {
    let key = SlotKey(index: 0xFFFF_FFFE, generation: 0x1234_5678)
    #expect(SlotKey(rawValue: key.rawValue) == key)
    #expect(key.rawValue == 0x1234_5678_FFFF_FFFE)
  }

  @Test("A random sequence of calls agrees with a dictionary")
  func model() {
    var generator = RandomStream(seed: 1)
    var map = SlotMap<UInt64>()
    var model: [SlotKey: UInt64] = [:]
    var removed: Set<SlotKey> = []
    for _ in 0..<5_000 {
      if generator.next() % 5 < 3 {
        let value = generator.next()
        let key = map.insert(value)
        #expect(!removed.contains(key))
        #expect(model.updateValue(value, forKey: key) == nil)
      } else if let key = model.keys.sorted(by: { $0.index < $1.index }).randomElement(using: &generator) {
        #expect(map.remove(key) == model.removeValue(forKey: key))
        removed.insert(key)
      }
    }
    #expect(map.count == model.count)
    for (key, value) in model { #expect(map[key] == value) }
    #expect(removed.allSatisfy { map[$0] == nil })
  }
}
