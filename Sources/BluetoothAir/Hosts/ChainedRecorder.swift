import BluetoothRadio

/// A recorder of a world's transmissions that passes all of them on to the recorder that the world had before, so that
/// several of them can be attached and detached in any order. Confined to the world.
class ChainedRecorder: AirObserver, @unchecked Sendable {
  // Unchecked: confined to the world.
  @exclusivity(unchecked) private var next: (any AirObserver)?

  /// Puts this recorder before the world's recorders. No effect if it is one of them.
  func attach(to engine: WorldEngine) {
    engine.bound.check()
    var other = engine.recorder
    while let recorder = other {
      guard recorder !== self else { return }
      other = (recorder as? ChainedRecorder)?.next
    }
    next = engine.recorder
    engine.recorder = self
  }

  /// Takes this recorder out of the world's recorders. No effect if it is none of them.
  func detach(from engine: WorldEngine) {
    engine.bound.check()
    if engine.recorder === self {
      engine.recorder = next
    } else {
      var other = engine.recorder as? ChainedRecorder
      while let recorder = other, recorder.next !== self { other = recorder.next as? ChainedRecorder }
      other?.next = next
    }
    next = nil
  }

  func transmissionEnded(_ record: TransmissionRecord, receptions: [Reception]) {
    next?.transmissionEnded(record, receptions: receptions)
  }

  func observationEnds(during record: TransmissionRecord) { next?.observationEnds(during: record) }
}
