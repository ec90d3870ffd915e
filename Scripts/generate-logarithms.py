#!/usr/bin/env python3
"""Writes Sources/BluetoothRadio/Levels/LogarithmTables.swift: log2 and 2^x between two powers of two.

Levels are sums and products of what these give, so the tables are committed: no machine's floating point decides a
reception.
"""
import math

STEPS = 1024


def rows(values):
    lines = []
    for start in range(0, len(values), 9):
        lines.append("    " + ", ".join(f"{value:_}" for value in values[start:start + 9]) + ",")
    return "\n".join(lines)


logarithms = [round(math.log2(1 + step / STEPS) * 2**24) for step in range(STEPS + 1)]
powers = [round(2 ** (step / STEPS) * 2**30) for step in range(STEPS + 1)]

print(f"""// Written by Scripts/generate-logarithms.py.

/// Logarithms and powers between two powers of two; between two rows a straight line is right to 2·10⁻⁷.
enum LogarithmTables {{
  /// log₂ (1 + row/{STEPS}), in units of 2⁻²⁴.
  static let logarithms: [UInt32] = [
{rows(logarithms)}
  ]

  /// 2 to the power of row/{STEPS}, in units of 2⁻³⁰.
  static let powers: [UInt32] = [
{rows(powers)}
  ]
}}""")
