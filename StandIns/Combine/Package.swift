// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "combine-stand-in",
  products: [.library(name: "CombineStandIn", type: .dynamic, targets: ["Combine"])],
  dependencies: [.package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0")],
  targets: [
    .target(
      name: "Combine",
      dependencies: [
        "OpenCombine", .product(name: "OpenCombineDispatch", package: "OpenCombine"),
        .product(name: "OpenCombineFoundation", package: "OpenCombine"),
      ],
      swiftSettings: [.swiftLanguageMode(.v5)])
  ]
)
