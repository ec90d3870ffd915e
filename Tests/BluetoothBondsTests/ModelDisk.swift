import NIOConcurrencyHelpers

@testable import BluetoothBonds
@testable import BluetoothDaemon

/// A disk that loses power: after a number of operations all further ones fail, and data that was not synchronized is
/// partly or completely lost.
final class ModelDisk: FileSystem {
  /// The state after a power loss of octets that were written but not synchronized.
  enum Loss: CaseIterable { case nothing, all, half, zeros }

  private struct File {
    var contents: [UInt8] = []
    /// The octets that are certain to survive a loss of power; nil: the file is a folder.
    var durable: [UInt8] = []
    var isFolder = false
    var mode: UInt32
  }

  /// A change of a folder's entries.
  private enum Change {
    case add(String, Int)
    case remove(String)
    case rename(String, String)

    var path: String {
      switch self {
      case .add(let path, _), .remove(let path), .rename(let path, _): path
      }
    }
  }

  private struct State {
    var files: [Int: File] = [0: File(isFolder: true, mode: 0o755)]
    var entries: [String: Int] = ["/": 0]
    var durableEntries: [String: Int] = ["/": 0]
    /// The changes of folder entries that were not synchronized, in order.
    var pending: [Change] = []
    var descriptors: [Int32: Int] = [:]
    var nextNumber: Int32 = 1
    /// The number of operations that still succeed.
    var power: Int
    var operations = 0
  }

  private let state: NIOLockedValueBox<State>
  /// True if synchronizing does nothing: for a test of this model.
  private let ignoresSync: Bool

  init(power: Int = .max, ignoresSync: Bool = false) {
    state = NIOLockedValueBox(State(power: power))
    self.ignoresSync = ignoresSync
  }

  private init(_ state: State, ignoresSync: Bool) {
    self.state = NIOLockedValueBox(state)
    self.ignoresSync = ignoresSync
  }

  /// The number of operations so far.
  var operations: Int { state.withLockedValue { $0.operations } }

  func setPower(_ power: Int) { state.withLockedValue { $0.power = power } }

  /// Returns every state that the disk may have when power returns.
  func restarted() -> [ModelDisk] {
    let state = state.withLockedValue { $0 }
    return (0...state.pending.count).flatMap { count in
      Loss.allCases.map { loss in
        var new = state
        new.power = .max
        new.descriptors = [:]
        new.pending = []
        new.entries = state.durableEntries
        for change in state.pending.prefix(count) { Self.apply(change, to: &new.entries) }
        new.durableEntries = new.entries
        for (number, file) in state.files where file.contents != file.durable {
          let rest = file.contents.dropFirst(file.durable.count)
          let kept: [UInt8] =
            switch loss {
            case .nothing: Array(rest)
            case .all: []
            case .half: Array(rest.prefix(rest.count / 2))
            case .zeros: [UInt8](repeating: 0, count: rest.count)
            }
          new.files[number]?.contents = file.durable + kept
          new.files[number]?.durable = file.durable + kept
        }
        return ModelDisk(new, ignoresSync: ignoresSync)
      }
    }
  }

  private static func apply(_ change: Change, to entries: inout [String: Int]) {
    switch change {
    case .add(let path, let number): entries[path] = number
    case .remove(let path): entries[path] = nil
    case .rename(let path, let new):
      entries[new] = entries[path]
      entries[path] = nil
    }
  }

  private static func parent(_ path: String) -> String {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private func perform<T>(
    _ operation: FileError.Operation, _ path: String, _ body: (inout State) -> T?
  ) throws(FileError) -> T {
    let result = state.withLockedValue { state -> T? in
      guard state.power > 0 else { return nil }
      state.power -= 1
      state.operations += 1
      return body(&state)
    }
    guard let result else { throw FileError(operation, path, code: 5, reason: "no power, or no such file") }
    return result
  }

  // MARK: FileSystem

  func status(of path: String) throws(FileError) -> FileStatus? {
    try perform(.look, path) { state -> FileStatus?? in
      guard let file = state.entries[path].flatMap({ state.files[$0] }) else { return .some(nil) }
      return FileStatus(kind: file.isFolder ? .folder : .file, mode: file.mode, isOwn: true)
    }
  }

  private static func add(_ file: File, _ path: String, _ state: inout State) -> Int {
    let number = state.files.count
    state.files[number] = file
    let change = Change.add(path, number)
    apply(change, to: &state.entries)
    state.pending.append(change)
    return number
  }

  private static func open(_ number: Int, _ path: String, _ state: inout State) -> OpenFile {
    state.descriptors[state.nextNumber] = number
    state.nextNumber += 1
    return OpenFile(number: state.nextNumber - 1, path: path)
  }

  func makeFolder(_ path: String) throws(FileError) {
    try perform(.makeFolder, path) { state -> Void? in
      guard state.entries[Self.parent(path)] != nil else { return nil }
      if state.entries[path] == nil { _ = Self.add(File(isFolder: true, mode: 0o700), path, &state) }
      return ()
    }
  }

  func setMode(_ mode: UInt32, of path: String) throws(FileError) {
    try perform(.setMode, path) { state -> Void? in
      guard let number = state.entries[path] else { return nil }
      state.files[number]?.mode = mode
      return ()
    }
  }

  func names(in folder: String) throws(FileError) -> [String] {
    try perform(.list, folder) { state in
      state.entries.keys.filter { Self.parent($0) == folder && $0 != "/" }
        .map { String($0.dropFirst(folder.count + 1)) }
    }
  }

  func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
    try perform(.read, path) { state in state.entries[path].flatMap { state.files[$0]?.contents } }
  }

  func create(_ path: String) throws(FileError) -> OpenFile {
    try perform(.create, path) { state in
      guard state.entries[path] == nil, state.entries[Self.parent(path)] != nil else { return nil }
      return Self.open(Self.add(File(mode: 0o600), path, &state), path, &state)
    }
  }

  func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(FileError) -> Int {
    try perform(.write, file.path) { state in
      guard let number = state.descriptors[file.number] else { return nil }
      // In several parts, as a real write may be.
      let part = bytes.prefix(200)
      state.files[number]?.contents += part
      return part.count
    }
  }

  func openFolder(_ path: String) throws(FileError) -> OpenFile {
    try perform(.open, path) { state in state.entries[path].map { Self.open($0, path, &state) } }
  }

  func lock(_ folder: OpenFile, waits: Bool) throws(FileError) -> Bool {
    try perform(.lock, folder.path) { _ in true }
  }

  func sync(_ handle: OpenFile) throws(FileError) {
    try perform(.sync, handle.path) { state -> Void? in
      guard let number = state.descriptors[handle.number], let file = state.files[number] else { return nil }
      if ignoresSync { return () }
      if file.isFolder {
        for change in state.pending where Self.parent(change.path) == handle.path {
          Self.apply(change, to: &state.durableEntries)
        }
        state.pending.removeAll { Self.parent($0.path) == handle.path }
      } else {
        state.files[number]?.durable = file.contents
      }
      return ()
    }
  }

  func close(_ handle: OpenFile) {
    state.withLockedValue { if $0.power > 0 { $0.descriptors[handle.number] = nil } }
  }

  func rename(_ path: String, to new: String) throws(FileError) {
    try perform(.rename, new) { state -> Void? in
      guard state.entries[path] != nil else { return nil }
      let change = Change.rename(path, new)
      Self.apply(change, to: &state.entries)
      state.pending.append(change)
      return ()
    }
  }

  func remove(_ path: String) throws(FileError) {
    try perform(.remove, path) { state -> Void? in
      guard state.entries[path] != nil else { return () }
      let change = Change.remove(path)
      Self.apply(change, to: &state.entries)
      state.pending.append(change)
      return ()
    }
  }
}
