#!/usr/bin/env python3
"""Runs what the pages say: every command of README.md and docs/, page by page, each page in
a folder of its own: pages.py BILLBOARD SOURCE [PAGE...].

A block of commands is a fenced or indented block with a line that begins with a program's
name, `$ ` or not; programs of others (`cc`, `./NAME`) find the library installed. Blocks with `$ `
show output, too: its text must occur in what the command
says, in this order, spaces and line ends aside; `…` stands for anything.

A command ends with exit code 0, or with the N of a comment `# … exit code N` behind it.
The line before a block may be a marker that readers do not see:
    <!-- test: file NAME -->       the block is the file NAME of the commands that follow
    <!-- test: input NAME -->      NAME is written as INPUTS below has it
    <!-- test: exit N -->          the block's commands end with this code
    <!-- test: figures vary -->    output is compared with every number left out
    <!-- test: with: ARGS -->      ARGS are added to each command, which takes too long else,
                                   or says something else each time
    <!-- test: not run: REASON -->
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

PROGRAMS = r"(billboard|cc|make|cmake|ctest|python3?|pip|build/|bench/|scripts/|examples/|sudo|apt)"
COMMAND = re.compile(r"^(\$ )?" + PROGRAMS + r"(?![\w.:])|^(\$ )?(\.|build|bench|scripts)/")
MARKER = re.compile(r"^<!-- test: (.*?) -->$")


def pupils(rows):
    """Schools whose pupils' scores follow a line of the school's own."""
    lines = ["school,score,gcse,girl"]
    for school in range(1, 61):
        for k in range(rows):
            draw = (school * 7919 + k * 104729 + rows * 31) % 1000
            gcse, girl = 4 + draw % 37 / 10, draw // 37 % 2
            score = min(10, max(0, round(gcse + school % 5 - 3 + draw % 3)))
            lines.append(f"{school},{score},{gcse:.1f},{girl}")
    return "\n".join(lines) + "\n"


def table(logistic=False, region=False, tasks=range(40)):
    """40 tasks of 12 rows and 3 features in [-1, 1]."""
    lines = ["task,y,x1,x2,x3" + (",region" if region else "")]
    for task in tasks:
        for row in range(12):
            x = [(task * 131 + row * 17 + k * 53 + row * row * 7 * (k + 1)) % 201 / 100 - 1
                 for k in range(3)]
            y = x[0] + 0.5 * x[1] - 0.2 * x[2] + 0.01 * (task % 9)
            target = f"{int(y > 0)}" if logistic else f"{y:.4f}"
            line = f"t{task},{target}," + ",".join(f"{v:.2f}" for v in x)
            lines.append(line + (f",{task % 9}" if region else ""))
    return "\n".join(lines) + "\n"


INPUTS = {
    "pupils.csv": lambda: pupils(12),
    "new-pupils.csv": lambda: pupils(3),
    "DATA.csv": table,
    "DATA.csv with classes": lambda: table(logistic=True),
    "DATA.csv with regions": lambda: table(region=True),
    "north.csv": lambda: table(tasks=range(0, 40, 2)),
    "south.csv": lambda: table(tasks=range(1, 40, 2)),
    "relations.json": lambda: "[" + ", ".join(
        f'["t{k}", "t{k + 1}", 1]' for k in range(39)) + "]\n",
    "ranges.json": lambda: '{"target": [-2, 2], "others": [-1, 1]}\n',
}


class Block:
    def __init__(self, line):
        self.line, self.text, self.markers = line, [], []

    def commands(self):
        """The block's commands, each with the output that is shown below it."""
        found, shown, k = [], any(t.startswith("$ ") for t in self.text), 0
        while k < len(self.text):
            text, line = self.text[k], self.line + k
            k += 1
            if not (text.startswith("$ ") if shown else COMMAND.match(text)):
                if shown and found:
                    found[-1][2].append(text)
                continue
            while text.endswith("\\"):
                text = text[:-1] + " " + self.text[k].strip()
                k += 1
            found.append((line, text[2:] if shown else text, []))
        return found


def blocks_of(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    found, block, markers, fence, before = [], None, [], False, ""
    for number, line in enumerate(lines, 1):
        opens = line.startswith("```")
        if block is None:
            indented = line.startswith("    ") and not before.strip().startswith(("-", "*"))
            if opens or (indented and (not before.strip() or MARKER.match(before))):
                block, fence = Block(number + 1 if opens else number), opens
                block.markers, markers = markers, []
                if not opens:
                    block.text.append(line[4:])
            elif MARKER.match(line):
                markers.append(MARKER.match(line)[1])
            elif line.strip():
                if markers:
                    raise SystemExit(f"{path}:{number}: a marker belongs before a block")
        elif fence and not opens:
            block.text.append(line)
        elif not fence and (line.startswith("    ") or not line.strip()):
            block.text.append(line[4:])
        else:
            found.append(block)
            block = None
        before = line
    return found + ([block] if block is not None else [])


def plain(text, numbers):
    text = " ".join(text.split())
    if numbers:
        text = re.sub(r"[-+]?\d[\d.,]*(e[-+]?\d+)?|[-+]?\.\d+", "#", text)
    return text


def missing(shown, said, vary):
    """The first part of what is shown that was not said; None."""
    rest = plain(said, vary)
    for part in "\n".join(shown).split("…"):
        part = plain(part, vary)
        at = rest.find(part)
        if at < 0:
            return part
        rest = rest[at + len(part):]
    return None


def installed(build, prefix):
    """Where a compiler, pkg-config and the loader look for what was installed."""
    if not os.path.exists(prefix):
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
    found = {}
    for where, _, names in os.walk(prefix):
        if "billboard.pc" in names:
            found["PKG_CONFIG_PATH"] = where
        if "libbillboard.so" in names:
            found["LD_LIBRARY_PATH"] = where
    return found


class Runner:
    prefix = None  # where the library is installed for all pages

    def __init__(self, billboard, source, page, folder):
        self.build = os.path.dirname(billboard)
        self.page, self.folder, self.faults, self.ran, self.not_run = page, folder, [], 0, 0
        self.environment = dict(os.environ, PATH=os.path.dirname(billboard) + os.pathsep +
                                os.environ["PATH"], LC_ALL="C.UTF-8")
        for name in ("examples", "docs"):
            os.symlink(os.path.join(source, name), os.path.join(folder, name))

    def fault(self, line, text):
        self.faults.append(f"{self.page}:{line}: {text}")

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, line, command, shown, say):
        code = say.get("exit", 0)
        comment = re.search(r"\s#.*exit code (\d+)", command)
        if comment:
            code = int(comment[1])
        command = re.sub(r"\s+#.*$", "", command)
        if "with" in say:
            command += " " + say["with"]
        for name in INPUTS:
            if name in shlex.split(command) and not os.path.exists(f"{self.folder}/{name}"):
                self.write(name, INPUTS[name]())
        before = time.monotonic()
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, text=True,
                              env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.ran += 1
        print(f"{self.page}:{line}: {time.monotonic() - before:.1f} s: {command}")
        if done.returncode != code:
            self.fault(line, f"exit code {done.returncode}, not {code}: {command}\n"
                       + done.stdout[-2000:])
            return
        part = missing(shown, done.stdout, "figures vary" in say)
        if part is not None:
            self.fault(line, f"{command}\n  does not say: {part}\n  it says: "
                       + plain(done.stdout, "figures vary" in say)[:2000])

    def block(self, block):
        say = {}
        for marker in block.markers:
            word, _, value = marker.partition(": ")
            kind, _, name = marker.partition(" ")
            if kind == "file" and name:
                self.write(name, "\n".join(block.text) + "\n")
                return
            if kind == "input" and name in INPUTS:
                self.write(name.split()[0], INPUTS[name]())
            elif kind == "exit" and name.isdigit():
                say["exit"] = int(name)
            elif marker == "figures vary":
                say[marker] = True
            elif word in ("with", "not run") and value:
                say[word] = value
            else:
                self.fault(block.line, f"unknown marker: {marker}")
        commands = block.commands()
        if "not run" in say:
            self.not_run += len(commands)
            print(f"{self.page}:{block.line}: not run: {say['not run']}")
            return
        for line, command, shown in commands:
            if command.startswith(("cc ", "./")):
                self.environment.update(installed(self.build, self.prefix))
            if command.startswith(("billboard ", "cc ", "./")):
                self.run(line, command, shown, say)
            else:
                self.fault(line, f"neither run nor marked as not run: {command}")


def main():
    billboard, source = (os.path.abspath(path) for path in sys.argv[1:3])
    pages = sys.argv[3:] or ["README.md"] + sorted(
        os.path.relpath(os.path.join(where, name), source)
        for where, _, names in os.walk(os.path.join(source, "docs"))
        for name in names if name.endswith(".md"))
    faults, ran, not_run = [], 0, 0
    shared = tempfile.TemporaryDirectory(prefix="billboard-prefix-")
    Runner.prefix = os.path.join(shared.name, "prefix")
    for page in pages:
        # what a page left in the background may still be removing its files
        with tempfile.TemporaryDirectory(prefix="billboard-pages-",
                                         ignore_cleanup_errors=True) as folder:
            runner = Runner(billboard, source, page, folder)
            for block in blocks_of(os.path.join(source, page)):
                runner.block(block)
            faults, ran, not_run = faults + runner.faults, ran + runner.ran, not_run + runner.not_run
    shared.cleanup()
    print("\n".join(faults))
    print(f"{ran} commands of {len(pages)} pages were run, {not_run} were not, "
          f"{len(faults)} are wrong")
    return 1 if faults or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
