// swift-tools-version: 6.2
import PackageDescription

/// A product of swift-corebluetooth, on Linux only. Builds for Apple's systems import Apple's framework and see nothing
/// of that package.
func linux(_ product: String) -> Target.Dependency {
  .product(name: product, package: "swift-corebluetooth", condition: .when(platforms: [.linux]))
}

let package = Package(
  name: "cross-platform",
  platforms: [.iOS(.v16), .macOS(.v13)],
  products: [.library(name: "SensorScanner", targets: ["SensorScanner"])],
  dependencies: [
    // In a copy: .package(url: "https://github.com/OWNER/swift-corebluetooth", branch: "main")
    .package(name: "swift-corebluetooth", path: "../..")
  ],
  targets: [
    .target(name: "SensorScanner", dependencies: [linux("CoreBluetooth")]),
    .executableTarget(name: "sensor-scan", dependencies: ["SensorScanner", linux("CoreBluetooth")]),
    // Only tests depend on the lab.
    .testTarget(
      name: "SensorScannerTests", dependencies: ["SensorScanner", linux("CoreBluetooth"), linux("BluetoothLab")]),
  ],
  swiftLanguageModes: [.v6]
)
