#!/usr/bin/env python3
"""Writes Sources/BluetoothRadio/Levels/ErrorRates.swift: the cost of a bit by the ratio of signal to noise.

Usage: Scripts/generate-error-rates.py >Sources/BluetoothRadio/Levels/ErrorRates.swift

The bit error rate of GFSK with a noncoherent receiver is 1/2 exp(-r/2) at a ratio r of signal to noise and
interference. A packet of n bits is correct with probability (1 - rate)^n = 2^-(n c). The table holds the cost of a bit,
c = -log2(1 - rate), in units of 2^-40. The table is committed, so that receptions do not depend on a machine's
floating-point arithmetic.
"""
import math

FIRST, LAST, PER_DECIBEL = -20, 18, 8

rows = []
for step in range((LAST - FIRST) * PER_DECIBEL + 1):
    ratio = 10 ** ((FIRST + step / PER_DECIBEL) / 10)
    rate = 0.5 * math.exp(-ratio / 2)
    rows.append(round(-math.log1p(-rate) / math.log(2) * 2**40))

lines = []
for start in range(0, len(rows), 6):
    lines.append("    " + ", ".join(f"{value:_}" for value in rows[start:start + 6]) + ",")

print(f"""// Written by Scripts/generate-error-rates.py.

/// The cost of one bit by the ratio of signal to noise and interference: −log₂ of the probability that the bit is
/// correct, in units of 2⁻⁴⁰, in steps of 1/{PER_DECIBEL} dB.
enum ErrorRates {{
  /// The ratio of the first row, dB. It also applies to lower ratios: the bit error rate is nearly ½.
  static let first = {FIRST}
  /// The ratio of the last row, dB. At higher ratios no bit error occurs.
  static let last = {LAST}
  static let rowsPerDecibel = {PER_DECIBEL}

  static let costs: [UInt64] = [""")
print("\n".join(lines))
print("  ]\n}")
