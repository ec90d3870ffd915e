"""Stops a program that shows a table at a terminal, and continues it: stop.py COMMAND…. Tells if the table is shown again
as a whole, below what a shell has written meanwhile."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

terminal, end = pty.openpty()
# A process group of its own, as a shell with job control makes it.
process = subprocess.Popen(sys.argv[1:], stdout=end, stderr=end, preexec_fn=os.setpgrp)
shown = b""


def read(pattern):
    global shown
    limit = time.monotonic() + 60
    while re.search(pattern, shown) is None and time.monotonic() < limit and process.poll() is None:
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 65536)


read(rb"(?s)Strap.* devices? in ")
process.send_signal(signal.SIGTSTP)
while os.waitpid(process.pid, os.WUNTRACED | os.WNOHANG)[0] == 0:
    time.sleep(0.02)
os.write(end, b"[stopped]\n")
process.send_signal(signal.SIGCONT)
table = rb"(?s)\[stopped\]\r\n\r\x1b\[1mRSSI.*Strap"
read(table)
print(repr(shown))
print("shown again" if re.search(table, shown) else "not shown again")
process.send_signal(signal.SIGINT)
read(rb"never")
process.wait(timeout=60)
