#!/usr/bin/env python3
"""Records a command in a real terminal and writes what it showed as a picture.

    record.py [--output FILE] [--columns N] [--rows N] [--title TEXT] [--typed TEXT] -- COMMAND [ARGUMENT...]

The command runs on a pseudo-terminal, a terminal emulator reads its output, and each cell of the emulator's screen
becomes text in an SVG file that needs nothing else: no font, no script, no image. Lines that scrolled away are kept.
"""
import argparse
import html
import itertools
import os
import pathlib
import sys
import unicodedata

import pexpect
import pyte
from wcwidth import wcwidth

FONT_SIZE = 14
CELL = 8.43  # the width of a character in most monospace fonts at that size
LINE = 20
MARGIN = 22
TITLE_BAR = 40
CORNER = 10

WINDOW = "#0f1420"
BAR = "#171d2b"
EDGE = "#2a3347"
TITLE = "#8590a8"
TEXT = "#d5dbe8"
PROMPT = "#7fd1a8"
BUTTONS = ("#f4685f", "#f5bf4f", "#5fc454")
FONTS = "ui-monospace, 'SF Mono', Menlo, 'Cascadia Mono', Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"

# The sixteen colours in their order: black, red, green, yellow, blue, magenta, cyan, white, then the bright ones.
PALETTE = (
    "#3b4358", "#f2747c", "#7fd88f", "#ecc06c", "#6fa8fa", "#c792ea", "#5fd0d6", "#c8cfde",
    "#6b7690", "#ff8f96", "#9af0a9", "#ffd78a", "#93c0ff", "#dfb2ff", "#86e9ee", "#ffffff",
)
# The emulator knows eight of them by name, and all sixteen as the first of the 256.
NAMES = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")
COLOURS = {**dict(zip(pyte.graphics.FG_BG_256, PALETTE)), **dict(zip(NAMES, PALETTE))}


class Screen(pyte.HistoryScreen):
    """Teaches the emulator three things: bright colours as colours of their own; faint text, which takes the place of
    struck-through text, as no command here shows that; and the invisible characters that turn a sign into an emoji,
    at which it would drop the rest of the line."""

    def draw(self, data):
        for character in data:
            if wcwidth(character) == 0 and not unicodedata.combining(character):
                x = max(0, self.cursor.x - 1)
                before = self.buffer[self.cursor.y][x]
                self.buffer[self.cursor.y][x] = before._replace(data=before.data + character)
            else:
                super().draw(character)

    def select_graphic_rendition(self, *attributes, **rest):
        known, words = [], iter(attributes)
        for word in words:
            if word in (38, 48):  # a colour of the 256, or of all: the words after it are its own
                kind = next(words, 5)
                known += [word, kind, *itertools.islice(words, 3 if kind == 2 else 1)]
            elif 90 <= word <= 97 or 100 <= word <= 107:
                known += [38 if word < 100 else 48, 5, 8 + word % 10]
            else:
                known += {2: [9], 22: [22, 29]}.get(word, [word])
        super().select_graphic_rendition(*known, **rest)


def record(command, columns, rows, timeout):
    """Runs the command to its end. Returns the lines it showed, each a list of cells, and its exit code."""
    screen = Screen(columns, rows, history=10_000, ratio=0.5)
    stream = pyte.ByteStream(screen)
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8",
                   "COLUMNS": str(columns), "LINES": str(rows)}
    for name in ("NO_COLOR", "CI", "LC_ALL"):
        environment.pop(name, None)
    child = pexpect.spawn(command[0], command[1:], dimensions=(rows, columns), env=environment, timeout=timeout)
    while True:
        try:
            stream.feed(child.read_nonblocking(65536))
        except pexpect.EOF:
            break
    child.close()
    lines = [[line[x] for x in range(columns)] for line in itertools.chain(
        screen.history.top, (screen.buffer[y] for y in range(rows)))]
    while lines and not any(cell.data.strip() or cell.bg != "default" for cell in lines[-1]):
        lines.pop()
    return lines, child.exitstatus


def colour(name, default):
    if name == "default":
        return default
    return COLOURS.get(name) or f"#{name}"


def style_of(cell):
    """The background of a cell, or None, and the attributes of its text."""
    front, back = colour(cell.fg, TEXT), colour(cell.bg, None)
    if cell.reverse:
        front, back = back or WINDOW, front
    attributes = f' fill="{front}"'
    if cell.bold:
        attributes += ' font-weight="700"'
    if cell.italics:
        attributes += ' font-style="italic"'
    if cell.underscore:
        attributes += ' text-decoration="underline"'
    if cell.strikethrough:  # faint, see Screen
        attributes += ' opacity="0.6"'
    return back, attributes


def runs_of(cells):
    """Splits a line into (column, text, cells wide, background, attributes). A run has one style and no two blanks in a
    row, and a wide or joined character stands alone: so every run is placed by its column, and no font can shift what
    follows."""
    runs = []
    for x, cell in enumerate(cells):
        if cell.data == "":  # the right half of a wide character
            continue
        wide = 2 if x + 1 < len(cells) and cells[x + 1].data == "" else 1
        alone = wide == 2 or len(cell.data) > 1
        back, attributes = style_of(cell)
        last = runs[-1] if runs else None
        joins = last and not alone and not last["alone"] and (last["back"], last["style"]) == (back, attributes)
        if joins and not (cell.data == " " and last["text"].endswith(" ") and back is None):
            last["text"] += cell.data
            last["width"] += 1
        else:
            runs.append({"x": x, "text": cell.data, "width": wide, "back": back, "style": attributes, "alone": alone})
    return runs


def svg_line(cells, top):
    """The elements of one line whose cell boxes begin at `top`."""
    parts = []
    for run in runs_of(cells):
        left = MARGIN + run["x"] * CELL
        if run["back"]:
            # A hair wider than its cells, so that no seam shows between neighbours.
            parts.append(f'<rect x="{left:.2f}" y="{top}" width="{run["width"] * CELL + 0.4:.2f}" height="{LINE}" '
                         f'fill="{run["back"]}"/>')
        text = run["text"].rstrip(" ")
        if not text.strip():
            continue
        indent = len(text) - len(text.lstrip(" "))
        text, left = text[indent:], left + indent * CELL
        # A single character needs no fitting, and an emoji must not be stretched.
        fit = f' textLength="{len(text) * CELL:.2f}"' if not run["alone"] and len(text) > 1 else ""
        if run["alone"] and run["width"] == 2:
            fit, left = ' text-anchor="middle"', left + CELL
        parts.append(f'<text x="{left:.2f}" y="{top + 14.5}"{fit}{run["style"]}>{html.escape(text, quote=False)}</text>')
    return "".join(parts)


def svg(lines, columns, title, typed):
    width = round(2 * MARGIN + columns * CELL)
    first = TITLE_BAR + 14
    height = first + (len(lines) + 1) * LINE + MARGIN - 6
    buttons = "".join(f'<circle cx="{22 + 20 * i}" cy="{TITLE_BAR / 2}" r="6" fill="{fill}"/>'
                      for i, fill in enumerate(BUTTONS))
    prompt = (f'<text x="{MARGIN}" y="{first + 14.5}" fill="{PROMPT}" font-weight="700">$</text>'
              f'<text x="{MARGIN + 2 * CELL:.2f}" y="{first + 14.5}" textLength="{len(typed) * CELL:.2f}" '
              f'fill="{TEXT}" font-weight="700">{html.escape(typed, quote=False)}</text>')
    body = "\n".join(filter(None, (svg_line(line, first + (i + 1) * LINE) for i, line in enumerate(lines))))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" \
role="img" aria-label="{html.escape(typed)} in a terminal">
<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="{CORNER}" fill="{WINDOW}" stroke="{EDGE}"/>
<path d="M0.5 {TITLE_BAR}V{CORNER + 0.5}a{CORNER} {CORNER} 0 0 1 {CORNER} -{CORNER}H{width - CORNER - 0.5}\
a{CORNER} {CORNER} 0 0 1 {CORNER} {CORNER}V{TITLE_BAR}Z" fill="{BAR}" stroke="{EDGE}"/>
{buttons}
<text x="{width / 2}" y="{TITLE_BAR / 2 + 4.5}" text-anchor="middle" fill="{TITLE}" \
font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="13">{html.escape(title)}</text>
<g font-family="{FONTS}" font-size="{FONT_SIZE}" xml:space="preserve" style="white-space:pre">
{prompt}
{body}
</g>
</svg>
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("docs/demo.svg"))
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--timeout", type=int, default=120, help="seconds of silence after which it is given up")
    parser.add_argument("--title", help="what the title bar says; the command's name if not said")
    parser.add_argument("--typed", help="what the prompt line shows; the command as a person would type it if not said")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()

    name = os.path.basename(arguments.command[0])
    typed = arguments.typed or " ".join([name, *arguments.command[1:]])
    try:
        lines, status = record(arguments.command, arguments.columns, arguments.rows, arguments.timeout)
    except (pexpect.TIMEOUT, pexpect.ExceptionPexpect) as error:
        sys.exit(f"record: {' '.join(arguments.command)}: {str(error).splitlines()[0]}")
    if status != 0 or not lines:
        sys.exit(f"record: {typed} ended with {status} and showed {len(lines)} lines; no picture was written")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(svg(lines, arguments.columns, arguments.title or name, typed), encoding="utf-8")
    print(f"{arguments.output}: {len(lines)} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
