import CAppTime

/// A reference to a libdispatch object or to other memory that C code owns. Unchecked, because any thread may use these
/// objects.
struct Handle: @unchecked Sendable, Hashable {
  let pointer: UnsafeMutableRawPointer

  init(_ pointer: UnsafeMutableRawPointer) {
    self.pointer = pointer
  }

  static let mainQueue = Handle(app_time_main_queue())

  var label: String {
    String(cString: app_time_queue_label(pointer))
  }
}

/// A call on a queue. The call retains its queue until it has run. Unchecked, because the context belongs to the one
/// thread that runs the call.
struct QueueCall: @unchecked Sendable {
  let queue: Handle
  let function: app_time_function
  let context: UnsafeMutableRawPointer?
  let isBarrier: Bool

  init(
    queue: Handle, function: @escaping app_time_function, context: UnsafeMutableRawPointer?, isBarrier: Bool = false
  ) {
    self.queue = queue
    self.function = function
    self.context = context
    self.isBarrier = isBarrier
    app_time_retain(queue.pointer)
  }

  /// Runs the call on the calling thread.
  func run() {
    function(context)
    app_time_release(queue.pointer)
  }

  /// Passes the call to the real queue.
  func passOn() {
    app_time_real_async(queue.pointer, context, function, isBarrier)
    app_time_release(queue.pointer)
  }
}

/// One unit of the app's work.
enum Work: Sendable {
  /// A job of the Swift runtime.
  case job(UnownedJob)
  /// An asynchronous call on a queue.
  case call(QueueCall)
  /// An asynchronous call on a queue that earlier work had blocked. The number is the identifier of the occupant that
  /// keeps the queue for the call.
  case admitted(QueueCall, Int)
  /// A call on the main queue. Its caller is parked until the call has returned.
  case synchronousCall(QueueCall, caller: Participant)
  /// The continuation of a thread that blocked in a semaphore, a sleep or a synchronous call.
  case resume(Participant)
  /// The start of a synchronous call on a queue that earlier work had blocked. Its caller is parked until then.
  case turn(Waiter, QueueUse)
  /// The expiry of a run loop's timer descriptor.
  case runLoopTimer(Int32)
  /// A block of the main run loop.
  case runLoopBlock

  var isAdmitted: Bool {
    if case .admitted = self { true } else { false }
  }

  var description: String {
    switch self {
    case .job: "a Swift task"
    case .call(let call), .admitted(let call, _): "a block on queue \"\(call.queue.label)\""
    case .synchronousCall(let call, _): "a synchronous block on queue \"\(call.queue.label)\""
    case .resume(let participant): "a thread that continues after \(participant.reason)"
    case .turn(_, let use): "a synchronous block on queue \"\(use.queue.label)\""
    case .runLoopTimer: "a run loop timer"
    case .runLoopBlock: "a block of the main run loop"
    }
  }
}

/// A first-in, first-out queue.
struct Fifo<Element> {
  private var elements: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }

  var first: Element? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Element) {
    elements.append(element)
  }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    let element = elements[head].take()
    head += 1
    if head == elements.count {
      elements.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 1024, head * 2 >= elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }

  /// Inserts elements in front of the others.
  mutating func prepend(_ new: [Element]) {
    if new.count <= head {
      elements.replaceSubrange(head - new.count..<head, with: new)
      head -= new.count
    } else {
      elements.replaceSubrange(0..<head, with: new)
      head = 0
    }
  }

  /// Removes and returns the first element that satisfies the predicate.
  mutating func popFirst(where predicate: (Element) -> Bool) -> Element? {
    guard let index = elements[head...].firstIndex(where: { $0.map(predicate) ?? false }) else { return nil }
    return elements.remove(at: index)
  }

  mutating func removeAll() -> [Element] {
    defer { self = Fifo() }
    return all
  }

  var all: [Element] { elements[head...].compactMap { $0 } }
}

/// The effect of a timer.
enum TimerAction: Sendable {
  case push(Work, isMain: Bool)
  case source(TimerSource, arming: Int)
  case descriptor(Int32, arming: Int)
  case expire(Waiter)
}

/// The pending timers, ordered by deadline and then by creation.
struct AppTimerHeap {
  struct Entry {
    let deadline: Int64
    let sequence: UInt64
    let action: TimerAction

    func precedes(_ other: Entry) -> Bool {
      (deadline, sequence) < (other.deadline, other.sequence)
    }
  }

  private var entries: [Entry] = []
  private var nextSequence: UInt64 = 0

  var first: Entry? { entries.first }

  mutating func insert(deadline: Int64, action: TimerAction) {
    entries.append(Entry(deadline: deadline, sequence: nextSequence, action: action))
    nextSequence += 1
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].precedes(entries[parent]) else { break }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  mutating func removeFirst() -> Entry? {
    guard let first = entries.first else { return nil }
    let last = entries.removeLast()
    guard !entries.isEmpty else { return first }
    entries[0] = last
    var parent = 0
    while true {
      var smallest = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < entries.count && entries[child].precedes(entries[smallest]) {
        smallest = child
      }
      guard smallest != parent else { return first }
      entries.swapAt(parent, smallest)
      parent = smallest
    }
  }

  mutating func removeAll() -> [Entry] {
    defer { entries = [] }
    return entries.sorted { $0.precedes($1) }
  }
}
