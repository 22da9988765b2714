"""Personal models for many tasks, trained jointly, so that nothing about one leaks to the others.

`MultiTaskRegressor` and `MultiTaskClassifier` are estimators of scikit-learn; `Bounds` and `Ledger`
say what is public and what may be spent; `account`, `calibrate`, `advise` and `audit` look at
promises without any data, `tune` looks for settings, and `report` shows what fits have reached.

>>> import billboard
>>> billboard.calibrate(1, tasks=2410).epsilon
1.0
"""

from . import plots, silo
from ._library import version as _version
from ._trained import Report, SharedModel
from .bounds import Bounds
from .classifier import MultiTaskClassifier
from .effects import Effects
from .errors import BillboardError, BillboardWarning, BudgetError, PrivacyWarning
from .files import DataFile, convert, write_data
from .ledger import Ledger
from .network import MultiTaskNetwork
from .prices import Advice, Audit, Price, account, advise, audit, calibrate
from .privacy import Privacy
from .registry import Method, methods
from .regressor import MultiTaskRegressor
from .runs import Experiment, Page, experiment, experiments, report
from .tuning import Tuning, tune

__version__ = _version()

__all__ = [
    "Advice", "Audit", "BillboardError", "BillboardWarning", "Bounds", "BudgetError", "DataFile",
    "Effects", "Experiment", "Ledger", "Method", "MultiTaskClassifier", "MultiTaskNetwork",
    "MultiTaskRegressor", "Page", "Price", "Privacy", "PrivacyWarning", "Report", "SharedModel",
    "Tuning", "account", "advise", "audit", "calibrate", "convert", "experiment", "experiments", "methods",
    "plots", "report", "silo", "tune", "write_data",
]
