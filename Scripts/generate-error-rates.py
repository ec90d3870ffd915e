#!/usr/bin/env python3
"""Writes Sources/BluetoothRadio/Levels/ErrorRates.swift: what a bit costs at each ratio of signal to noise.

The bit error rate of GFSK, received without coherence, is 1/2 exp(-r/2) at a signal to noise-and-interference ratio r.
A packet of n bits arrives with probability (1 - rate)^n = 2^-(n c), where c = -log2(1 - rate) is the cost that the table
holds, in units of 2^-40. The table is committed, so that no machine's floating point decides a reception.
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

/// What each bit of a packet costs at a ratio of signal to noise and interference: −log2 of the probability that it
/// arrives, in units of 2⁻⁴⁰, at steps of 1/{PER_DECIBEL} dB.
enum ErrorRates {{
  /// The ratio of the first row, dB. Below it a bit is a coin that is tossed.
  static let first = {FIRST}
  /// The ratio of the last row, dB. Above it no bit is ever lost.
  static let last = {LAST}
  static let rowsPerDecibel = {PER_DECIBEL}

  static let costs: [UInt64] = [""")
print("\n".join(lines))
print("  ]\n}")
