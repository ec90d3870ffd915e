// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "bonded-lock",
  dependencies: [
    // In a copy: .package(url: "https://github.com/OWNER/swift-corebluetooth", branch: "main")
    .package(name: "swift-corebluetooth", path: "../..")
  ],
  targets: [
    .target(name: "BondedLock", dependencies: [.product(name: "CoreBluetooth", package: "swift-corebluetooth")]),
    .executableTarget(
      name: "bonded-lock-demo",
      dependencies: ["BondedLock", .product(name: "BluetoothLab", package: "swift-corebluetooth")]),
    .testTarget(
      name: "BondedLockTests",
      dependencies: ["BondedLock", .product(name: "BluetoothLab", package: "swift-corebluetooth")]),
  ]
)
