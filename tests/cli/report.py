#!/usr/bin/env python3
"""Opens the pages of `billboard report` in a real browser: report.py BILLBOARD CHROMIUM CHARTS.

A page works from a file without a network, has no error on the console, says the same
without its script, and its table sorts, searches and turns pages. Charts answer to a pointer, to
keys and to their legend, if CHARTS is `answer` (the build has d3). Names of tasks that look
like HTML stay names. The tables of the other forms have the run's own figures.
"""

import csv
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

BILLBOARD, CHROMIUM, CHARTS = sys.argv[1:]
NASTY = "</script><script>document.title='broken'</script>"
BROWSER = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
           "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND",
           "--virtual-time-budget=5000", "--dump-dom"]


def billboard(*arguments, code=0):
    done = subprocess.run([BILLBOARD, *arguments], capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done.stdout + done.stderr


def dom(path, script=""):
    """What the page is after its own script, and `script`, have run."""
    text = open(path).read()
    asked = path + ".asked.html"
    with open(asked, "w") as file:
        file.write(text.replace("</body>", f"<script>{script}</script></body>"))
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(BROWSER + [f"--user-data-dir={profile}", "file://" + os.path.abspath(asked)],
                              capture_output=True, text=True, timeout=120)
    errors = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert done.returncode == 0 and not errors, (done.returncode, errors)
    return done.stdout


# What a reader does with charts: `out` is what he sees.
READER = """
    const out = [], said = () => document.getElementById("tip").innerText;
    const chart = (label) => [...document.querySelectorAll("figure > svg")]
      .find((svg) => svg.getAttribute("aria-label").startsWith(label));
    const press = (svg, ...keys) => keys.forEach((key) =>
      svg.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })));
    const point = (svg, type, x, y) => {
      const at = svg.getBoundingClientRect();
      svg.dispatchEvent(new PointerEvent(type, { clientX: at.x + x * at.width, bubbles: true,
        clientY: at.y + y * at.height, pointerType: "mouse", button: 0 }));
    };
    const shown = (nodes) => [...nodes].filter((n) => getComputedStyle(n).display !== "none").length;
"""


def seen(path, script):
    page = dom(path, f"{READER}{script}; document.body.dataset.out = JSON.stringify(out);")
    return json.loads(html.unescape(re.search('data-out="(.*?)"', page).group(1)))


def out_of_a_phone(path):
    """By how many pixels the page is wider than a window of 390."""
    text = json.dumps(open(path).read()).replace("</", "<\\/")
    with open("phone.html", "w") as file:
        file.write("<title></title><iframe id=phone width=390 frameborder=0></iframe></body>")
    page = dom("phone.html", "phone.onload = () => { const e = phone.contentDocument"
               ".documentElement; document.title = e.scrollWidth - e.clientWidth; };"
               f"phone.srcdoc = {text};")
    return int(re.search("<title>(.*?)</title>", page).group(1))


def rows(page):
    body = page.split('id="tasks"')[1].split("<tbody>")[1].split("</tbody>")[0]
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in body.split("</tr>")
            if "<t" in line]


def make_data(path, tasks, name="t{}"):
    with open(path, "w") as file:
        out = csv.writer(file)
        out.writerow(["task", "y", "x1", "x2"])
        for task in range(tasks):
            for row in range(6):
                x = [((task * 37 + row * 53 + k * 91) % 101 - 50) / 50 for k in range(2)]
                y = x[0] + 0.5 * x[1] + (task % 7 - 3) / 10 + (row % 3 - 1) / 9
                out.writerow([name.format(task), f"{y:.4f}", *x])


def train(data, run, *more):
    with open("ranges.json", "w") as file:
        json.dump({"target": [-2, 2], "columns": {"x1": [-1, 1], "x2": [-1, 1]}}, file)
    billboard("train", data, "--epsilon", "2", "--scale", "ranges.json", "--train-fraction",
              "0.5", "--compare", "stl", "-o", run, *more)


def one_run():
    make_data("few.csv", 80, NASTY + " {}")
    train("few.csv", "few", "--method", "mp-prior")
    billboard("report", "few", "-o", "few.html")
    text = open("few.html").read()
    library = re.search(r"<script>/\*\n.*?</script>", text, re.DOTALL)
    assert (library is not None) == (CHARTS == "answer")
    if library:  # its notices are behind it
        assert "BSD-3-Clause" in library[0] and "GPL" not in library[0]
        text = text.replace(library[0], "")
    assert "https:" not in text and "src=" not in text
    assert set(re.findall(r"url\(.", text)) <= {"url(#"}  # what the page has itself
    assert text.count("<script") == text.count("</script") and "default-src 'none'" in text
    page = dom("few.html")
    assert "<title>few</title>" in page, page[:200]
    assert page.index("What is promised") < page.index("What came of it")
    assert "ε = 2" in page and "δ = 1e-05" in page and "replace-one" in page
    assert "sampling all" in page and "Do not publish it" in page
    figures = json.load(open("few/operator/run.json"))
    assert f"{figures['test']['nmse']:.4g}" in page
    assert page.count("<svg") >= 3
    assert len(rows(page)) == 20 and "1–20 of 80" in page
    # without a script: the same figures, those that lose and gain most
    plain = rows(text)
    assert len(plain) == 50 and plain[0][0].startswith("&lt;/script&gt;")
    # where only the public half was handed on
    os.rename("few/operator", "few.operator")
    billboard("report", "few", "-o", "public.html")
    public = open("public.html").read()
    assert "Do not publish" not in public and "nMSE" not in public and "ε = 2" in public
    os.rename("few.operator", "few/operator")


def many_tasks():
    make_data("many.csv", 10000)
    train("many.csv", "many")
    billboard("report", "many", "-o", "many.html")
    page = dom("many.html")
    assert "1–20 of 10000" in page and len(rows(page)) == 20
    assert page.count("<circle") + page.count("<path") + page.count("<rect") < 500
    click = "document.querySelectorAll('#tasks th button')[0].click();"
    first = rows(dom("many.html", click))
    assert [r[0] for r in first[:3]] == ["t0", "t1", "t2"], first[:3]
    last = rows(dom("many.html", click + click))
    assert last[0][0] == "t9999", last[0]
    turned = dom("many.html", click + "document.getElementById('on').click();")
    assert rows(turned)[0][0] == "t20" and "21–40 of 10000" in turned
    found = dom("many.html", "const f = document.getElementById('find'); f.value = 'T777';"
                "f.dispatchEvent(new Event('input'));")
    assert "1–11 of 11" in found and all("t777" in r[0] for r in rows(found))


def charts_answer():
    """Keys and pointer find every task; a part can be looked at, and all again."""
    plain = [[html.unescape(c) for c in row] for row in rows(open("few.html").read())]
    first, last, hovered, after, left, names, kept = seen("few.html", """
      const strip = chart("Who gains"), map = chart("Where the models");
      strip.focus();
      press(strip, "ArrowRight");
      out.push(said());
      press(strip, "End");
      out.push(said());
      point(strip, "pointermove", 0.14, 0.5);
      out.push(said());
      press(strip, "ArrowRight");
      out.push(said());
      press(strip, "Escape");
      out.push([said(), document.activeElement.tagName]);
      const names = [];
      press(map, "Home");
      for (let k = 0; k < 80; k++, press(map, "ArrowRight"))
        names.push(document.querySelector("#tip strong").textContent);
      out.push(names, document.querySelectorAll("#tip script").length);""")
    for text, row, place in ((first, plain[0], 1), (last, plain[-1], 80), (hovered, plain[0], 1),
                             (after, plain[1], 2)):
        assert row[0] in text and f"{place} of 80" in text, (text, row)
        assert any(abs(float(n) - float(row[-1])) < 1e-3 for n in re.findall(r"^[-.\d]+$", text, re.M))
    assert left == ["", "BODY"] and kept == 0
    assert sorted(names) == sorted(f"{NASTY} {k}" for k in range(80))
    nearby, ticks, part, stay, all_of_it, drawn, again = seen("many.html", """
      const strip = chart("Who gains"), back = strip.parentNode.querySelector(".back");
      const ticks = () => [...strip.querySelectorAll(".live .x text")].map((t) => +t.textContent);
      const state = () => [strip.matches(".part"), shown(strip.querySelectorAll(":scope > .series")),
        shown([back]), ticks().length];
      point(strip, "pointermove", 0.5, 0.5);
      const before = said();
      press(strip, ..."++++++++");
      out.push([before, said()], ticks(), state());
      press(strip, "PageDown", "ArrowLeft");
      out.push([said(), ticks()]);
      press(strip, "0");
      out.push(state());
      point(strip, "pointerdown", 0.3, 0.5);
      point(strip, "pointermove", 0.4, 0.5);
      point(strip, "pointerup", 0.5, 0.5);
      out.push([...state(), ...ticks()]);
      strip.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
      out.push(state());""")
    assert nearby[0] == nearby[1] and part[:3] == [True, 0, 1]
    assert len(ticks) > 3 and max(ticks) - min(ticks) < 0.005
    assert re.search(r"(\d+) of 10000", stay[0]) and min(stay[1]) > max(ticks)
    assert all_of_it[:3] == [False, 1, 0] and again[:3] == all_of_it[:3]
    assert drawn[:3] == [True, 0, 1] and 0.15 < drawn[4] and drawn[-1] < 0.5, drawn


def legends():
    """A line is there or not by its button, and its numbers are the run's own; without a script,
    and in print, the picture has its own legend."""
    with open("still.html", "w") as file:
        file.write(re.sub("<script>.*?</script>", "", open("both.html").read(), flags=re.DOTALL))
    assert seen("still.html", """out.push(shown(document.querySelectorAll("svg .series")),
      shown(document.querySelectorAll("svg .legend")), document.querySelectorAll("button").length,
      document.querySelectorAll("circle > title").length)""") == [2, 1, 0, 2]
    both, hidden, one, at, back, lit = seen("both.html", """
      const curves = chart("Privacy and accuracy"), lines = curves.querySelectorAll(".series");
      const [button, other] = document.querySelectorAll(".tools button");
      const state = () => [button.getAttribute("aria-pressed"), shown(lines), shown(curves.querySelectorAll(".legend"))];
      press(curves, "Home");
      out.push(said());
      button.click();
      out.push(state());
      const found = ["Home", "ArrowUp"].map((key) => {
        press(curves, key);
        return Math.abs(curves.querySelector(".ring").getAttribute("cy")
          - lines[1].querySelector("circle").getAttribute("cy"));
      });
      out.push(said(), found);
      button.click();
      out.push(state());
      other.focus();
      out.push([...lines].map((line) => +getComputedStyle(line).opacity < 1));""")
    value = {run: f"{json.load(open(f'{run}/operator/run.json'))['test']['nmse']:.4g}" for run in ("few", "few2")}
    assert "2" in both.split("\n")[0] and all(v in both for v in value.values()), (both, value)
    assert hidden == ["false", 1, 0] and back == ["true", 2, 0] and lit == [True, False]
    assert value["few"] in one and value["few2"] not in one, (one, value)  # mp-mixed is hidden
    assert max(at) < 0.01, at


def several_runs():
    train("few.csv", "few2", "--method", "mp-mixed")
    billboard("report", "few", "few2", "-o", "both.html")
    page = dom("both.html")
    assert "Privacy and accuracy" in page and page.count("epsilon 2, delta 1e-05") == 2
    assert ">ε of a whole task (δ = 1e-05, replace-one, sampling all)</text>" in page
    train("few.csv", "few3", "--method", "mp-mixed", "--delta", "1e-6")
    billboard("report", "few2", "few3", "-o", "terms.html")
    assert "δ, adjacency and sampling differ: see the table" in open("terms.html").read()
    billboard("report", "--csv", "few", "few2", "-o", "both.csv")
    table = list(csv.DictReader(open("both.csv")))
    assert [r["run"] for r in table] == ["few", "few2"]
    for line in table:
        figures = json.load(open(f"{line['run']}/operator/run.json"))
        assert abs(float(line["test"]) - figures["test"]["nmse"]) < 1e-7
        assert abs(float(line["alone"]) - figures["compare"]["stl"]["test"]["nmse"]) < 1e-7
        assert line["epsilon"] == "2" and line["sampling"] == "all"
    for form, mark in (("--markdown", "| --- |"), ("--latex", "\\begin{tabular}")):
        billboard("report", form, "few", "-o", "table")
        assert mark in open("table").read()


def budgets():
    """What a population's ledger says is on the page of its runs, as long as it is there."""
    for run in ("first", "second"):
        train("few.csv", run, "--method", "mp-prior", "--ledger", "L", "--population", "p",
              "--budget-epsilon", "10", "--budget-delta", "1e-4")
    billboard("report", "first", "-o", "first.html")
    page = dom("first.html")
    assert "ε = 10, δ = 0.0001 (adjacency replace-one, sampling: each run's own, all" in page
    assert "spent: ε = 4, δ = 2e-05; left: ε = 6, δ = 8e-05" in page
    billboard("report", "first", "second", "-o", "pair.html")
    assert open("pair.html").read().count("Budget of the population p") == 1
    os.remove("L")
    billboard("report", "first", "-o", "first.html")
    assert "could not be read" in open("first.html").read()


def seeded_runs():
    train("few.csv", "seeded", "--method", "mp-prior", "--seed", "1", "--trace")
    billboard("report", "seeded", "-o", "seeded.html")
    page = dom("seeded.html")
    assert "ε = 2" in page and "does not have it</strong>: its noise is seeded" in page
    assert "if this run had what it claims" in page
    assert out_of_a_phone("seeded.html") == 0
    billboard("report", "seeded", "seeded", "-o", "twice.html")
    assert "No run here keeps an ε" in open("twice.html").read()


def experiments():
    with open("tiny.json", "w") as file:
        json.dump({"title": "A <b>title</b>", "seeds": 2,
                   "options": {"standardize": "unit-rows", "no-intercept": True},
                   "data": {"w": {"world": "low-rank", "tasks": 20, "samples": 8, "features": 3}},
                   "methods": {"alone": {"method": "stl", "without": ["epsilon", "noise"]},
                               "prior": {"method": "mp-prior", "without": ["noise"]},
                               "sums": {"method": "mp-lowrank", "rounds": 2}},
                   "sweep": {"noise": {"valid": {"mechanism": "gaussian"},
                                       "none": {"mechanism": "gaussian", "delta": 1e-9}},
                             "epsilon": [1, 10]},
                   "figures": [{"title": "F1", "x": "epsilon", "y": "test", "line": "method"},
                               {"title": "F2", "x": "method", "y": "train",
                                "only": {"epsilon": [10]}},
                               {"title": "F3", "x": "noise", "y": "test", "line": "epsilon",
                                "only": {"method": ["sums"]}}]}, file)
    billboard("experiment", "tiny.json", "-o", "tiny")
    billboard("report", "tiny", "-o", "tiny.html")
    page = dom("tiny.html")
    # F1 for both kinds of noise, F2 too, F3: dots are means
    assert open("tiny.html").read().count("<svg") == 5 and "<h1>A &lt;b&gt;title" in page
    assert page.count("noise: valid") == 2 and page.count("noise: none") == 2
    assert "nMSE on test rows" in page and "promise" in page
    assert ">ε = 1</text>" in page and ">ε = 10</text>" in page  # lines that are numbers
    means = list(csv.DictReader(open("tiny/means.csv")))
    assert len(means) == 2 * (1 + 2 + 4)
    for line in means:
        assert f"{float(line['mean']):.4g}" in page, line
        assert (line["promise"] == "") == (line["method"] == "alone")
    billboard("report", "tiny", "--svg", "-o", "tiny.svg")
    picture = xml.etree.ElementTree.parse("tiny.svg").getroot()
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    titles = [e.text for e in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert any("sums" in t and "epsilon 10" in t.replace("ε of a whole task", "epsilon")
               for t in titles), titles
    billboard("report", "tiny", "--csv", "-o", "tiny.csv")
    table = list(csv.DictReader(open("tiny.csv")))
    assert [float(r["mean"]) for r in table] == [float(r["mean"]) for r in means]
    for form, mark in (("--markdown", "| --- |"), ("--latex", "\\begin{tabular}")):
        billboard("report", form, "tiny", "-o", "table")
        assert mark in open("table").read()
    os.remove("tiny/results.json")
    assert "not complete" in billboard("report", "tiny", "-o", "x", code=1)
    assert "give its folder" in billboard("report", "few", "--svg", "-o", "x", code=2)


def failures():
    for arguments, code, words in (
            (["few"], 2, "--output"),
            (["-o", "x"], 2, "which RUN"),
            (["nothing", "-o", "x"], 1, "nothing"),
            (["few", "-o", "no/folder"], 1, "no/folder")):
        said = billboard("report", *arguments, code=code)
        assert words in said, said
        assert not os.path.exists("x")
    with open("few2/operator/tasks.csv", "a") as file:
        file.write("torn\n")
    assert "tasks.csv" in billboard("report", "few2", "-o", "x", code=1)
    assert not os.path.exists("x")


answering = (charts_answer, legends) if CHARTS == "answer" else ()
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for test in (one_run, many_tasks, several_runs, *answering, budgets, seeded_runs, experiments, failures):
        test()
        print(test.__name__, "ok", flush=True)
    os.chdir("/")
