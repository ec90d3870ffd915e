@_exported import OpenCombine
@_exported import OpenCombineDispatch
@_exported import OpenCombineFoundation

// Operators of Combine that OpenCombine lacks.

extension Publisher {
  /// Publishes the values of both publishers as they come.
  public func merge<Other: Publisher>(with other: Other) -> Publishers.MergeMany<AnyPublisher<Output, Failure>>
  where Other.Output == Output, Other.Failure == Failure {
    Publishers.MergeMany([eraseToAnyPublisher(), other.eraseToAnyPublisher()])
  }

  /// Publishes the latest values of both publishers, as soon as each has one, for each new value.
  public func combineLatest<Other: Publisher>(_ other: Other) -> Publishers.CombineLatest<Self, Other>
  where Other.Failure == Failure {
    Publishers.CombineLatest(self, other)
  }

  /// Transforms the latest values of both publishers.
  public func combineLatest<Other: Publisher, Value>(
    _ other: Other, _ transform: @escaping (Output, Other.Output) -> Value
  ) -> Publishers.Map<Publishers.CombineLatest<Self, Other>, Value> where Other.Failure == Failure {
    combineLatest(other).map(transform)
  }
}

extension Publishers {
  /// Publishes the values of several publishers as they come.
  public struct MergeMany<Upstream: Publisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure
    public let publishers: [Upstream]

    public init(_ upstream: Upstream...) { publishers = upstream }
    public init(_ upstream: some Swift.Sequence<Upstream>) { publishers = Array(upstream) }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      publishers.publisher.setFailureType(to: Failure.self).flatMap { $0 }.receive(subscriber: subscriber)
    }
  }

  /// Publishes the latest values of two publishers.
  public struct CombineLatest<A: Publisher, B: Publisher>: Publisher where A.Failure == B.Failure {
    public typealias Output = (A.Output, B.Output)
    public typealias Failure = A.Failure
    public let a: A
    public let b: B

    public init(_ a: A, _ b: B) { (self.a, self.b) = (a, b) }

    private typealias Change = (inout (a: A.Output?, b: B.Output?)) -> Void

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let changesOfA = a.map { value -> Change in { $0.a = value } }
      let changesOfB = b.map { value -> Change in { $0.b = value } }
      changesOfA.merge(with: changesOfB)
        .scan((a: A.Output?.none, b: B.Output?.none)) { latest, change in
          var latest = latest
          change(&latest)
          return latest
        }
        .compactMap { latest in latest.a.flatMap { a in latest.b.map { (a, $0) } } }
        .receive(subscriber: subscriber)
    }
  }
}
