#!/usr/bin/env python3
"""Opens the pages of `billboard report` in a real browser: report.py BILLBOARD CHROMIUM.

A page works from a file without a network, has no error on the console, says the same
without its script, and its table sorts, searches and turns pages. Names of tasks that look
like HTML stay names. The tables of the other forms have the run's own figures.
"""

import csv

import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

BILLBOARD, CHROMIUM = sys.argv[1:]
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
    assert "https:" not in text and "src=" not in text and "url(" not in text
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


def several_runs():
    train("few.csv", "few2", "--method", "mp-mixed")
    billboard("report", "few", "few2", "-o", "both.html")
    page = dom("both.html")
    assert "Privacy and accuracy" in page and page.count("epsilon 2, delta 1e-05") == 2
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
    assert "ε = 10, δ = 0.0001 (adjacency replace-one" in page
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
    assert page.count("<svg") == 5 and "<h1>A &lt;b&gt;title" in page
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


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for test in (one_run, many_tasks, several_runs, budgets, seeded_runs, experiments, failures):
        test()
        print(test.__name__, "ok", flush=True)
    os.chdir("/")
