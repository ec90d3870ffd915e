#!/usr/bin/env python3
"""Writes Sources/BluetoothRadio/Levels/LogarithmTables.swift: tables of log2 from 1 to 2 and of 2^x from 0 to 1.

Usage: Scripts/generate-logarithms.py >Sources/BluetoothRadio/Levels/LogarithmTables.swift

All levels in the simulation are computed from these tables. The tables are committed, so that receptions do not depend
on a machine's floating-point arithmetic.
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

/// Tables of log₂ from 1 to 2 and of 2ˣ from 0 to 1. Linear interpolation between two rows has an error of at most
/// 2·10⁻⁷.
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
