// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "file-transfer",
  dependencies: [
    // In a copy: .package(url: "https://github.com/OWNER/swift-corebluetooth", branch: "main")
    .package(name: "swift-corebluetooth", path: "../..")
  ],
  targets: [
    .target(
      name: "FileTransfer", dependencies: [.product(name: "CoreBluetooth", package: "swift-corebluetooth")]),
    .executableTarget(
      name: "file-transfer",
      dependencies: ["FileTransfer", .product(name: "BluetoothLab", package: "swift-corebluetooth")]),
    .testTarget(
      name: "FileTransferTests",
      dependencies: ["FileTransfer", .product(name: "BluetoothLab", package: "swift-corebluetooth")]),
  ]
)
