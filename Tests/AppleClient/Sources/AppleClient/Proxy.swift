@preconcurrency import CoreBluetooth
import Dispatch

/// Passes a peripheral's services between threads.
public final class Proxy: @unchecked Sendable {
  private var callback: ((Result<CBService, any Error>) -> Void)?

  public init() {}

  public func service() async throws -> CBService {
    try await withCheckedThrowingContinuation { continuation in
      self.discover { result in
        DispatchQueue.global().async { continuation.resume(with: result) }
      }
    }
  }

  private func discover(callback: @escaping (Result<CBService, any Error>) -> Void) {
    callback(.success(CBMutableService(type: CBUUID(string: "180D"), primary: true)))
  }
}
