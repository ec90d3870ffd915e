import BluetoothRadio
import BluetoothWire
import Foundation

/// The directions in which an antenna is weaker than in its strongest direction, for transmitting and receiving.
///
/// The pattern is the same all around an axis, which keeps its direction in space while the device moves. Turn it with
/// `RadioDevice.setAntennaPattern`.
///
/// ```swift
/// var options = DeviceOptions(position: Position(x: 0))
/// options.antennaGain = 6
/// options.antennaPattern = .directional(towards: Position(x: 1), beamwidth: 80)
/// ```
public struct AntennaPattern: Hashable, Sendable, Codable {
  /// The axis: the direction from the origin to this point, whose distance does not matter. The origin itself stands
  /// for the direction of the first axis.
  public var axis: Position
  /// The attenuation relative to the strongest direction in dB, at angles to the axis in equal steps from 0° to 180°.
  /// Between two angles it is interpolated. Negative values and NaN count as 0. Fewer than two values mean the same
  /// attenuation in all directions.
  public var attenuations: [Double]

  /// Creates a pattern from measured values.
  ///
  /// - Parameters:
  ///   - axis: the direction of the axis from the origin.
  ///   - attenuations: the attenuation in dB at equal steps of the angle, the first along the axis, the last in the
  ///     opposite direction.
  public init(axis: Position, attenuations: [Double]) {
    self.axis = axis
    self.attenuations = attenuations
  }

  /// An antenna that is equally strong in all directions.
  public static let omnidirectional = AntennaPattern(axis: Position(x: 1), attenuations: [])

  /// Returns the pattern of a patch or a panel: strongest in one direction, and 3 dB weaker half the beamwidth beside
  /// it.
  ///
  /// The attenuation rises with the square of the angle, up to the front-to-back ratio: the pattern that 3GPP TR
  /// 36.814, table A.2.1.1-2, uses for the antennas of base stations.
  ///
  /// - Parameters:
  ///   - axis: the strongest direction, from the origin.
  ///   - beamwidth: the angle between the two directions of half power, 1 to 360 degrees; other values are clamped.
  ///   - frontToBackRatio: the attenuation in the opposite direction in dB, 0 to 100; other values are clamped.
  public static func directional(
    towards axis: Position, beamwidth: Double = 65, frontToBackRatio: Double = 20
  ) -> AntennaPattern {
    let width = beamwidth.isNaN ? 65 : min(max(beamwidth, 1), 360)
    let most = frontToBackRatio.isNaN ? 20 : min(max(frontToBackRatio, 0), 100)
    return AntennaPattern(
      axis: axis, attenuations: (0...180).map { min(12 * (Double($0) / width) * (Double($0) / width), most) })
  }

  /// Returns the pattern of a half-wave dipole: strongest all around its wire, and weak along it. The usual gain of
  /// this antenna is 2.15 dBi.
  ///
  /// - Parameters:
  ///   - axis: the direction of the wire from the origin.
  ///   - deepest: the attenuation along the wire in dB, 0 to 100; other values are clamped. It would be infinite without
  ///     the reflections of a real place.
  public static func dipole(along axis: Position, deepest: Double = 30) -> AntennaPattern {
    let most = deepest.isNaN ? 30 : min(max(deepest, 0), 100)
    return AntennaPattern(
      axis: axis,
      attenuations: (0...180).map { degrees in
        let angle = Double(degrees) * .pi / 180
        let field = degrees % 180 == 0 ? 0 : abs(cos(.pi / 2 * cos(angle)) / sin(angle))
        return min(field > 0 ? -20 * log10(field) : .infinity, most)
      })
  }

  /// The pattern for the medium; nil if it is the same in all directions without attenuation.
  var directionalLoss: DirectionalLoss? {
    guard attenuations.contains(where: { $0 > 0 }) else { return nil }
    return DirectionalLoss(
      axis: (axis.x, axis.y, axis.z), losses: attenuations.map { Decibel(rounding: min($0, 1_000)) })
  }
}
