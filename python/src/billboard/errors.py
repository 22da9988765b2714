"""What is raised, and what is warned of."""

__all__ = ["BillboardError", "BillboardWarning", "BudgetError", "PrivacyWarning"]


class BillboardError(ValueError):
    """What was asked for makes no sense, or data are malformed; the message says what, where,
    and what was expected.

    Examples
    --------
    >>> import billboard
    >>> try:
    ...     billboard.Bounds({"gcse": (8, 0)})
    ... except billboard.BillboardError as error:
    ...     print(error)
    bounds: column 'gcse': expected finite low < high, found (8, 0)
    """


class BudgetError(BillboardError):
    """The privacy budget does not allow it. Nothing was computed, and nothing published.

    Examples
    --------
    >>> import billboard
    >>> try:
    ...     billboard.account(epsilon=1, delta=1e-5, rounds=5, step="2,0")
    ... except billboard.BudgetError as error:
    ...     print("refused")
    refused
    """


class BillboardWarning(UserWarning):
    """Something about a fit that should be known, for whoever holds the data.

    Examples
    --------
    >>> import billboard, warnings
    >>> warnings.simplefilter("ignore", billboard.BillboardWarning)
    """


class PrivacyWarning(BillboardWarning):
    """Something about a promise that should be known before it is relied on. As an error it ends a
    fit before anything is charged; that fits without a ledger add up is said when the models are
    there.

    Examples
    --------
    >>> import billboard, warnings
    >>> warnings.simplefilter("error", billboard.PrivacyWarning)  # doubts end a fit
    """
