import Synchronization

/// An object that is created when it is needed, and lives as long as its owner. Any thread may use it.
///
/// `AtomicLazyReference` of the standard library does the same, but is not specialized in Swift 6.3: a load costs 640
/// instructions.
struct LazyObject<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  /// The retained object as a pointer; 0: none.
  private let pointer = Atomic<UInt>(0)

  @inline(__always)
  var value: Object? { Self.object(at: pointer.load(ordering: .acquiring)) }

  @inline(__always)
  private static func object(at pointer: UInt) -> Object? {
    UnsafeRawPointer(bitPattern: pointer).map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Creates the object, unless another thread has created it meanwhile. Returns the object.
  func make(_ create: () -> Object) -> Object {
    let new = Unmanaged.passRetained(create())
    let (isFirst, present) = pointer.compareExchange(
      expected: 0, desired: UInt(bitPattern: new.toOpaque()), ordering: .acquiringAndReleasing)
    guard !isFirst, let object = Self.object(at: present) else { return new.takeUnretainedValue() }
    new.release()
    return object
  }

  deinit {
    if let address = UnsafeRawPointer(bitPattern: pointer.load(ordering: .acquiring)) {
      Unmanaged<Object>.fromOpaque(address).release()
    }
  }
}
