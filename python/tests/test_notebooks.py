"""Notebooks run from the first cell to the last."""

import os

import pytest

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples")
NOTEBOOKS = sorted(name for name in os.listdir(EXAMPLES) if name.endswith(".ipynb"))


@pytest.mark.parametrize("name", NOTEBOOKS)
@pytest.mark.filterwarnings("ignore")
def test_notebook(name, monkeypatch, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    for variable in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    notebook = nbformat.read(os.path.join(EXAMPLES, name), as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells), "stored without outputs"
    ran = nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3",
                                  resources={"metadata": {"path": EXAMPLES}}).execute()
    kinds = [kind for cell in ran.cells for output in cell.get("outputs", ())
             for kind in output.get("data", ())]
    if name != "silos.ipynb":
        assert "image/png" in kinds and "text/html" in kinds
