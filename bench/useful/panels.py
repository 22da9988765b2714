"""Eleven panels of R's package plm, from Debian's r-cran-plm: the installed one, or one that
apt-get fetches and nobody installs. A unit is a task.

A panel says its file, the column of units (or how many rows follow each other), the target and the
features: names of columns, "log NAME", "NAME=LEVEL" (1 or 0).
"""
import csv
import functools
import glob
import math
import os
import subprocess
import tempfile

import rdata

INSTALLED = "/usr/lib/R/site-library/plm/data"
PACKAGE = "r-cran-plm"
PANELS = {
    "sumhes": ("SumHes", "country", "log gdp", "year", "log pop", "sr"),
    "gasoline": ("Gasoline", "country", "lgaspcar", "year", "lincomep", "lrpmg", "lcarpcap"),
    "cigar": ("Cigar", "state", "sales", "price", "cpi", "ndi", "pimin"),
    "produc": ("Produc", "state", "log gsp", "log pcap", "log pc", "log emp", "unemp"),
    "wages": ("Wages", 7, "lwage", "exp", "wks", "bluecol=yes", "ind=1", "south=yes", "smsa=yes",
              "married=yes", "sex=female", "union=yes", "ed", "black=yes"),
    "males": ("Males", "nr", "wage", "year", "school", "exper", "union=yes", "ethn=black",
              "ethn=hisp", "married=yes", "health=yes"),
    "crime": ("Crime", "county", "lcrmrte", "year", "lprbarr", "lprbconv", "lprbpris", "lavgsen",
              "lpolpc"),
    "laborsupply": ("LaborSupply", "id", "lnhr", "lnwg", "kids", "age", "disab"),
    "empluk": ("EmplUK", "firm", "log emp", "year", "log wage", "log capital", "log output"),
    "snmesp": ("Snmesp", "firm", "n", "year", "w", "y", "k"),
    "ricefarms": ("RiceFarms", "id", "goutput", "size", "seed", "urea", "phosphate", "totlabor",
                  "wage"),
}


@functools.lru_cache
def fetch(kept):
    """The folder of the files; None: no way to have them."""
    if os.path.isdir(INSTALLED):
        return INSTALLED
    found = f"{kept}/plm"
    if os.path.isdir(found):
        return found
    with tempfile.TemporaryDirectory(dir=kept) as room:
        try:
            subprocess.run(["apt-get", "download", PACKAGE], cwd=room, check=True,
                           capture_output=True)
            package, = glob.glob(f"{room}/{PACKAGE}_*.deb")
            subprocess.run(["dpkg-deb", "-x", package, room], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        os.rename(room + INSTALLED, found)
    return found


def column(frame, name):
    if name.startswith("log "):
        return [v if v is None else math.log(v) for v in frame[name[4:]]]
    if "=" in name:
        name, level = name.split("=")
        return [v if v is None else int(str(v) == level) for v in frame[name]]
    return [float(v) for v in frame[name]]


def write(folder, name, path):
    """The panel as a table: task, target, features; rows that lack a number are left out."""
    file, unit, *names = PANELS[name]
    frame = rdata.frame(f"{folder}/{file}.rda")
    columns = [column(frame, n) for n in names]
    units = [k // unit for k in range(len(columns[0]))] if isinstance(unit, int) else frame[unit]
    with open(path, "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["task", "y"] + [f"x{k}" for k in range(1, len(names))])
        for row in zip(units, *columns):
            if all(v == v and v is not None for v in row):
                table.writerow(row)
