import BluetoothWire
import Testing

@testable import BluetoothRadio

@Suite("Timer queue")
struct TimerQueueTests {
  @Test("Slots that are due together come in the order of their ranks, then of their numbers")
  func order() {
    var queue = TimerQueue()
    let late = queue.addSlot(rank: 1)
    let first = queue.addSlot(rank: 0)
    let second = queue.addSlot(rank: 0)
    for slot in [late, second, first] { queue.set(slot, to: Instant(nanoseconds: 5)) }
    #expect(queue.drain() == [first, second, late])
  }

  @Test("Setting a slot again moves it")
  func move() {
    var queue = TimerQueue()
    let a = queue.addSlot(rank: 0)
    let b = queue.addSlot(rank: 0)
    queue.set(a, to: Instant(nanoseconds: 10))
    queue.set(b, to: Instant(nanoseconds: 20))
    queue.set(a, to: Instant(nanoseconds: 30))
    #expect(queue.drain() == [b, a])
    queue.set(a, to: Instant(nanoseconds: 1))
    queue.set(a, to: nil)
    let earliest = queue.earliest
    #expect(earliest == nil)
  }

  @Test("The earliest entry agrees with a plain list after any sequence of sets and clears")
  func agreesWithAList() {
    var generator = RandomStream(seed: 3)
    var queue = TimerQueue()
    var model: [Instant?] = []
    for _ in 0..<50 {
      _ = queue.addSlot(rank: 0)
      model.append(nil)
    }
    for _ in 0..<5_000 {
      let slot = Int.random(in: 0..<50, using: &generator)
      let instant =
        Int.random(in: 0..<4, using: &generator) == 0
        ? nil : Instant(nanoseconds: Int64.random(in: 0..<1_000, using: &generator))
      queue.set(slot, to: instant)
      model[slot] = instant
      // Usually several slots are set and cleared before the next look at the earliest.
      guard Int.random(in: 0..<3, using: &generator) == 0 else { continue }
      let earliest = queue.earliest
      expect(earliest, isLeastOf: model)
    }
  }
}

@Suite("Timer queue, near and far")
struct FarTimerTests {
  @Test("Timers due within milliseconds move up as time passes, and the earliest agrees with a plain list")
  func agreesWithAList() {
    var generator = RandomStream(seed: 4)
    var queue = TimerQueue()
    var model: [Instant?] = []
    for _ in 0..<30 {
      _ = queue.addSlot(rank: 0)
      model.append(nil)
    }
    var now = Instant.zero
    for _ in 0..<10_000 {
      let slot = Int.random(in: 0..<30, using: &generator)
      let instant =
        Int.random(in: 0..<5, using: &generator) == 0
        ? nil : now + TimeSpan(nanoseconds: Int64.random(in: 0..<10_000_000, using: &generator))
      queue.set(slot, to: instant)
      model[slot] = instant
      guard Int.random(in: 0..<3, using: &generator) == 0 else { continue }
      let earliest = queue.earliest
      expect(earliest, isLeastOf: model)
      // The timer fires.
      guard let earliest else { continue }
      now = max(now, earliest.instant)
      queue.set(earliest.slot, to: nil)
      model[earliest.slot] = nil
    }
    #expect(now > .zero + .seconds(1))
  }
}

/// Checks that `earliest` is the least of a plain list of each slot's due instant.
private func expect(_ earliest: TimerQueue.Entry?, isLeastOf model: [Instant?]) {
  let least = model.enumerated().compactMap { index, instant in instant.map { ($0, index) } }.min { $0 < $1 }
  #expect(earliest?.instant == least?.0)
  #expect(earliest?.slot == least?.1)
}

extension TimerQueue {
  fileprivate mutating func drain() -> [Int] {
    var slots: [Int] = []
    while let next = earliest {
      slots.append(next.slot)
      set(next.slot, to: nil)
    }
    return slots
  }
}
