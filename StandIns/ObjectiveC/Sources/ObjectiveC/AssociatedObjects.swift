// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized

@_exported import Foundation

// Associated objects. Linux tells nobody of the end of an object, so the value of an object that has ended is released
// when the table grows.

/// The relation of an object to an associated value. All values are retained here, except with `OBJC_ASSOCIATION_ASSIGN`.
public enum objc_AssociationPolicy: UInt, Sendable {
  case OBJC_ASSOCIATION_ASSIGN = 0
  case OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1
  case OBJC_ASSOCIATION_COPY_NONATOMIC = 3
  case OBJC_ASSOCIATION_RETAIN = 769
  case OBJC_ASSOCIATION_COPY = 771
}

public func objc_getAssociatedObject(_ object: Any, _ key: UnsafeRawPointer) -> Any? {
  associations.value(of: object as AnyObject, key)
}

public func objc_setAssociatedObject(
  _ object: Any, _ key: UnsafeRawPointer, _ value: Any?, _ policy: objc_AssociationPolicy
) {
  associations.set(value, policy, of: object as AnyObject, key)
}

public func objc_removeAssociatedObjects(_ object: Any) { associations.removeAll(of: object as AnyObject) }

private let associations = Associations()

/// Unchecked Sendable: the lock guards the table.
private final class Associations: @unchecked Sendable {
  private struct Key: Hashable {
    let object: ObjectIdentifier
    let key: UnsafeRawPointer
  }

  private struct Entry {
    weak var object: AnyObject?
    weak var assigned: AnyObject?
    var retained: Any?
  }

  private let lock = NSLock()
  private var entries: [Key: Entry] = [:]
  private var limit = 64

  func value(of object: AnyObject, _ key: UnsafeRawPointer) -> Any? {
    lock.withLock {
      // Another object may have had the same address.
      guard let entry = entries[Key(object: ObjectIdentifier(object), key: key)], entry.object === object else {
        return nil
      }
      return entry.retained ?? entry.assigned
    }
  }

  func set(_ value: Any?, _ policy: objc_AssociationPolicy, of object: AnyObject, _ key: UnsafeRawPointer) {
    let entry = value.map { value in
      policy == .OBJC_ASSOCIATION_ASSIGN
        ? Entry(object: object, assigned: value as AnyObject) : Entry(object: object, retained: value)
    }
    // The old values are released after the lock, because their deinitializers may use associated objects.
    let old: [Entry] = lock.withLock {
      var old: [Entry] = []
      let key = Key(object: ObjectIdentifier(object), key: key)
      if let former = entries.removeValue(forKey: key) { old.append(former) }
      entries[key] = entry
      guard entries.count > limit else { return old }
      old += entries.values.filter { $0.object == nil }
      entries = entries.filter { $0.value.object != nil }
      limit = max(64, 2 * entries.count)
      return old
    }
    withExtendedLifetime(old) {}
  }

  func removeAll(of object: AnyObject) {
    let old = lock.withLock {
      let old = entries.filter { $0.key.object == ObjectIdentifier(object) }
      for key in old.keys { entries[key] = nil }
      return old
    }
    withExtendedLifetime(old) {}
  }
}
