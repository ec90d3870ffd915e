import ArgumentParser

/// The seeds of a sweep: `1..100`, `1,5,9..12`.
struct SeedList: ExpressibleByArgument, Hashable, Sendable {
  /// The largest number of seeds in a sweep.
  static let maximumCount = 1_000_000

  let seeds: [UInt64]

  init(_ seeds: [UInt64]) { self.seeds = seeds }

  init?(argument: String) {
    var seeds: [UInt64] = []
    for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.components(at: "..")
      guard let first = UInt64(ends[0]), let last = ends.count == 1 ? first : UInt64(ends[1]), first <= last,
        last - first < UInt64(Self.maximumCount), seeds.count < Self.maximumCount
      else { return nil }
      seeds += first...last
    }
    guard seeds.count <= Self.maximumCount, Set(seeds).count == seeds.count else { return nil }
    self.seeds = seeds
  }

  /// Reads the argument of an option.
  ///
  /// - Throws: an error with the expected form.
  init(checked argument: String) throws {
    guard let list = SeedList(argument: argument) else {
      throw ValidationError("expected numbers and ranges without repetitions, such as 1..100 or 1,5,9..12")
    }
    self = list
  }

  /// The seeds as an argument, with ranges for successive seeds.
  var argument: String {
    var ranges: [ClosedRange<UInt64>] = []
    for seed in seeds {
      if let last = ranges.last, last.upperBound < .max, last.upperBound + 1 == seed {
        ranges[ranges.count - 1] = last.lowerBound...seed
      } else {
        ranges.append(seed...seed)
      }
    }
    return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)..\($0.upperBound)" }
      .joined(separator: ",")
  }

  /// The seeds of a shard: every `count`-th seed.
  func shard(_ shard: Shard) -> SeedList {
    SeedList(seeds.enumerated().filter { $0.offset % shard.count == shard.number - 1 }.map(\.element))
  }
}

extension Substring {
  /// The parts before and after the first separator, or the whole.
  fileprivate func components(at separator: String) -> [Substring] {
    guard let start = indices.first(where: { self[$0...].hasPrefix(separator) }) else { return [self] }
    return [self[..<start], self[index(start, offsetBy: separator.count)...]]
  }
}

/// A part of a sweep: `2/8` is the second of eight.
struct Shard: ExpressibleByArgument, Hashable, Sendable {
  /// The number of the part, from 1.
  let number: Int
  let count: Int

  init(number: Int, count: Int) { (self.number, self.count) = (number, count) }

  /// The shard as an argument.
  var argument: String { "\(number)/\(count)" }

  init?(argument: String) {
    let parts = argument.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let number = parts[0], let count = parts[1], 1...1_000_000 ~= count, 1...count ~= number
    else { return nil }
    (self.number, self.count) = (number, count)
  }

  /// Reads the argument of an option.
  ///
  /// - Throws: an error with the expected form.
  init(checked argument: String) throws {
    guard let shard = Shard(argument: argument) else {
      throw ValidationError("expected a part and the number of parts, such as 1/8 to 8/8")
    }
    self = shard
  }
}
