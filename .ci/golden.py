"""Golden files of ble, and the records that it prints with --json. .ci/check-ble uses this module.

Other checks run it as a program: golden.py FILE… reads the outputs of ble in files (-: the standard input), and
checks each record in them against the table of Documentation/Ble.md.
"""
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "Documentation", "Ble.md")
GOLDEN = os.path.join(ROOT, "Tests", "BleGolden")

# MARK: Text that differs from run to run

# What a golden file has in place of a text that differs from run to run: the verbs, a pattern, and the replacement. A
# verb that no line names prints the same text in each run. The part `column` of a pattern is a cell of a table whose
# width does not depend on its text: the replacement gets the same width.
SUBSTITUTIONS = [
    # The adapters of the machine's kernel.
    (["doctor"], r'(?<=other adapters  ).*|(?<="subject":"other adapters","state":"ok","text":")[^"]*', "<adapters>"),
    # A random UUID of version 4.
    (["uuid"], r"\b[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}\b", "<uuid>"),
    # The programming of a shell, which the package ArgumentParser writes: lines without the names of verbs and options.
    (["completions bash"], r"(?m)(?:^(?!_ble|.*(?:options|flags)=\((?!\")|.*compgen -W '[^$']*').*\n)+", "[…]\n"),
    (["completions zsh"], r"(?m)(?:^(?!#compdef|_ble|            '[a-z]).*\n)+", "[…]\n"),
    (["completions fish"], r"(?m)(?:^(?! *case '|.*parse_subcommand (?:-r )?\d).*\n)+", "[…]\n"),
    # The time of a transfer in real time.
    (["send", "receive"], r'(?<= in )[\d.]+ s, [\d.]+ \w*B/s', "<time>"),
    (["send", "receive", "alerts"], r'(?<="time":)[\d.]+', "<time>"),
    # The time of real requests, and the identifier of a central without a bond.
    (["serve --adapter"], r'(?m)(?<="time":)[\d.]+|^\d+\.\d{3}(?=  )', "<time>"),
    (["serve --adapter"], r'(?<="central":")[^"]*', "<central>"),
    # The time of an air, and the place of a packet in its capture.
    (["air stats"], r"^[\d.]+ s(?= of radio time)", "<time> s"),
    (["air stats"], r'(?<="time":)[\d.]+', "<time>"),
    (["monitor"], r"(?m)^\d+\t\d+\.\d+(?=\t)", "<number>\t<time>"),
    (["monitor"], r'"number":\d+,"time":[\d.]+', '"number":<number>,"time":<time>'),
    # The time of a day.
    (["alerts"], r"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<time>"),
    # The user that runs the check, whose number has four digits at most.
    (["clients"], r"(?<=<pid>  )(?: *)(?P<column>\d+ *)(?=  )", "<id>"),
    (["clients"], r'(?<="user":)\d+', "<id>"),
    # The random address of an adapter of a server, whose bonds are new.
    (["why"], r"[0-9A-F]{2}(?::[0-9A-F]{2}){5}", "<address>"),
]


def normalized(verb, text, known):
    """Returns the text of a verb with the same words in each run.

    - known: what the check knows to differ, such as the identifiers of processes: a dictionary with their names.
    """

    def replace(text, pattern, name):
        def replacement(match):
            column = match.groupdict().get("column")
            return name if column is None else match.group(0).replace(column, name.ljust(len(column)))

        return re.sub(pattern, replacement, text)

    for value, name in known.items():
        # In a table, other cells follow after two spaces at least.
        pattern = rf"(?<![\w.])(?:(?P<column>{re.escape(value)} *)(?=  \S)|{re.escape(value)}(?!\w))"
        text = replace(text, pattern, name)
    for verbs, pattern, name in SUBSTITUTIONS:
        if any((verb + " ").startswith(one + " ") for one in verbs):
            text = replace(text, pattern, name)
    return text


def messages(errors):
    """The messages of ble on the standard error, without lines of the log."""
    lines = errors.decode().splitlines()
    return [line for line in lines if not re.match(r"\d{4}-\d\d-\d\dT", line)]


def transcript(arguments, status, output, errors, known={}):
    """What a terminal shows when ble runs with the arguments, and the exit status.

    - known: see `normalized`.
    """
    output = output.decode()
    if output and not output.endswith("\n"):
        output += "\n"
    text = output + "".join(line + "\n" for line in messages(errors))
    text = normalized(arguments, text, known)
    return f"$ ble {arguments}\n{text}" + (f"[exit status {status}]\n" if status else "")


# MARK: Records


class Records:
    """The records that Documentation/Ble.md describes, and those that were seen."""

    VERSION = 1
    # The fields of a value.
    VALUE = {"value", "text", "decoded", "fields", "problem"}

    def __init__(self):
        with open(PAGE) as file:
            page = file.read()
        self.fields = {}
        self.verbs = {}
        self.nulls = set()
        for kind, verbs, cell in re.findall(r"^\| `(\w+)` \| (`[^|]*) \| (.*) \|$", page, re.M):
            self.verbs[kind] = re.findall(r"`([^`]*)`", verbs)
            # Words in parentheses are values and explanations.
            names = re.sub(r"\([^()]*\)", "", cell)
            self.fields[kind] = set(re.findall(r"`(\w+)`", names))
            if re.search(r"\ba value\b", names):
                self.fields[kind] |= self.VALUE
            if "null" in cell:
                self.nulls.add(kind)
        self.seen = set()

    def problems(self, output, is_json=False):
        """The breaches of the table in the records among the lines of an output.

        - is_json: true if each line must be a record.
        """
        text = output.decode(errors="replace") if isinstance(output, bytes) else output
        problems = []
        for line in text.splitlines():
            if is_json or line.startswith('{"version":'):
                problem = self.problem(line)
                if problem:
                    problems.append(f"{problem}: {line}")
        return problems

    def problem(self, line):
        try:
            record = json.loads(line)
        except ValueError as error:
            return f"no JSON ({error})"
        if not isinstance(record, dict) or list(record)[:2] != ["version", "record"]:
            return "no record"
        if record["version"] != self.VERSION:
            return f"another version than {self.VERSION}"
        kind = record["record"]
        if kind not in self.fields:
            return f"the kind {kind} is not documented"
        self.seen.add(kind)
        unknown = set(record) - self.fields[kind] - {"version", "record"}
        if unknown:
            return f"the fields {sorted(unknown)} are not documented"
        nulls = [name for name, value in record.items() if value is None]
        if nulls and kind not in self.nulls:
            return f"the fields {nulls} are null, and not absent"
        return None


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    records = Records()
    failed = False
    for name in sys.argv[1:]:
        with open(0 if name == "-" else name, "rb") as file:
            for problem in records.problems(file.read()):
                print(f"FAILED: {problem}")
                failed = True
    if not records.seen and not failed:
        print("FAILED: no records")
        failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
