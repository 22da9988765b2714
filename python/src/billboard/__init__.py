"""Personal models for many tasks, trained jointly, so that nothing about one leaks to the others.

`MultiTaskRegressor` and `MultiTaskClassifier` are estimators of scikit-learn; `Bounds` and `Ledger`
say what is public and what may be spent; `account`, `calibrate`, `advise` and `audit` look at
promises without any data, and `report` shows what fits have reached.
"""

from . import plots, silo
from ._library import BillboardError, BillboardWarning, BudgetError, PrivacyWarning
from ._library import version as _version
from .estimators import (Method, MultiTaskClassifier, MultiTaskNetwork, MultiTaskRegressor,
                         Report, SharedModel, methods)
from .prices import Advice, Audit, Price, account, advise, audit, calibrate
from .privacy import Bounds, Ledger, Privacy
from .runs import Experiment, Page, experiment, experiments, report

__version__ = _version()

__all__ = [
    "Advice", "Audit", "BillboardError", "BillboardWarning", "Bounds", "BudgetError",
    "Experiment", "Ledger", "Method", "MultiTaskClassifier", "MultiTaskNetwork",
    "MultiTaskRegressor", "Page", "Price", "Privacy", "PrivacyWarning", "Report", "SharedModel",
    "account", "advise", "audit", "calibrate", "experiment", "experiments", "methods", "plots",
    "report", "silo",
]
