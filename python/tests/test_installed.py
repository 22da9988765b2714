"""What an installed wheel brings along: all that it needs but libc."""

import os
import subprocess
import sys

import pytest

import billboard

FOLDER = os.path.dirname(os.path.abspath(billboard.__file__))

pytestmark = pytest.mark.skipif(
    not os.path.isdir(os.path.join(FOLDER, "..", "billboard.libs")), reason="not a wheel")

# what every Linux has (PEP 600), and OpenMP and its kin of other packages
SYSTEM = ("libc.", "libm.", "libdl.", "libpthread.", "librt.", "ld-linux", "libgcc_s", "libz.")

CODE = """
import billboard, numpy
billboard.MultiTaskRegressor("stl").fit(numpy.eye(8), numpy.arange(8), groups=[0, 1] * 4)
print(*sorted({line.split(None, 5)[5].strip() for line in open("/proc/self/maps")
               if ".so" in line}), sep="\\n")
"""


def test_nothing_of_this_system_is_loaded():
    code = "import numpy, sklearn.metrics, scipy.sparse\n" + CODE
    plain = CODE.replace("import billboard, numpy\n", "import numpy, sklearn.metrics, scipy.sparse\n")
    plain = "\n".join(line for line in plain.split("\n") if "MultiTask" not in line)
    loaded, before = ({os.path.basename(path) for path in subprocess.run(
        [sys.executable, "-c", text], check=True, capture_output=True, text=True).stdout.split()
        if "/site-packages/" not in path} for text in (code, plain))
    strange = {name for name in loaded - before if name.startswith("lib")
               and not name.startswith(SYSTEM)}
    assert not strange


def test_it_is_the_size_of_a_wheel():
    size = sum(os.path.getsize(os.path.join(where, name)) for folder in
               (FOLDER, FOLDER + ".libs") for where, _, names in os.walk(folder) for name in names)
    assert size < 50e6


def test_networks_say_what_they_need(pop):
    """Networks are a part that is loaded on first use: they work, or say what is missing."""
    model = billboard.MultiTaskNetwork("dense8,dense3", "fedavg", rounds=1,
                                       options={"mechanism": "none"}, random_state=1)
    try:
        model.fit(pop.X, pop.classes, pop.groups)
    except billboard.BillboardError as error:
        assert "libdnnl" in str(error)
    else:
        assert model.predict(pop.X, pop.groups).shape == pop.y.shape
