"""Promises without any data: what a plan costs, what can be hoped for, attempts to refute it.

Every function takes the options of the program's command of that name, with underscores, and
has its results. None of them looks at anybody's data, and none costs privacy.
"""

from typing import Any, Dict, List, Optional

from ._answers import Answer, asked, asked_long, counted, frame, options, promise
from ._library import own_words

__all__ = ["Advice", "Audit", "Price", "account", "advise", "audit", "calibrate"]


class Price(Answer):
    """What a plan costs, or the noise that a budget asks for; every number is on the safe side.

    Names of `billboard account --json`, also as attributes: found, epsilon, delta,
    noise_multiplier, rounds, tasks, adjacency, sampling_text, accountant, statement, …

    Examples
    --------
    >>> import billboard
    >>> price = billboard.account(rounds=10, tasks=1000, epsilon=1)
    >>> price.adjacency, price["rounds"]
    ('replace-one', 10)
    """

    def __str__(self) -> str:
        noise = self["noise_multiplier"]
        noise = ", ".join(f"{z:.6g}" for z in (noise if isinstance(noise, list) else [noise])
                          if z is not None)
        said = promise({**self, "sampling": self["sampling_text"]})
        return (f"noise multiplier {noise or '-'}, {counted(self['rounds'], 'round')}: {said}\n"
                f"{self['statement']}")

    def __repr__(self) -> str:
        return str(self)

    def curve_frame(self) -> Any:
        """The curve that ``curve=`` asked for: a ``pandas.DataFrame``, or a list of dicts.

        Examples
        --------
        >>> import billboard
        >>> price = billboard.account(rounds=3, tasks=1000, epsilon=1, curve="rounds")
        >>> len(price.curve_frame())
        3
        """
        return frame(list(self.get("curve") or []))


def account(*, progress: Any = None, **plan: Any) -> Price:
    """Prices a plan: finds the one of epsilon, delta, noise and rounds that is not given.

    Parameters
    ----------
    **plan
        The options of ``billboard account``, with underscores: rounds, tasks, epsilon, delta,
        noise_multiplier, sampling ("all", "poisson:0.01", "fixed:20"), adjacency, schedule,
        accountant, curve ("epsilon", "delta" or "rounds"), …
    progress : callable, optional
        Told ``(what, done, all)``.

    Returns
    -------
    Price

    Notes
    -----
    Privacy cost: none; nothing is looked at but the plan.

    Examples
    --------
    >>> import billboard
    >>> price = billboard.account(rounds=1000, tasks=100_000, noise_multiplier=40)
    >>> print(str(price).splitlines()[0])
    noise multiplier 40, 1000 rounds: ε = 8.30623 at δ = 1e-06, replace-one, sampling all
    """
    return Price(asked_long("billboard_account", plan, progress))


def calibrate(epsilon: float, *, tasks: int, rounds: int = 1, delta: Optional[float] = None,
              **plan: Any) -> Price:
    """The noise with which so many rounds stay within a budget.

    Parameters
    ----------
    epsilon : float
        The budget of all rounds together.
    tasks : int
        How many there are; public.
    rounds : int, default=1
        How often every task shows something.
    delta : float, optional
        The default is min(1e-5, 1 / (10 tasks)).
    **plan
        Further options of `account`.

    Returns
    -------
    Price
        Its ``noise_multiplier`` is the noise's standard deviation over the clip.

    Examples
    --------
    >>> import billboard
    >>> round(billboard.calibrate(1, tasks=2410, rounds=100).noise_multiplier, 1)
    74.6
    """
    return account(epsilon=epsilon, tasks=tasks, rounds=rounds, delta=delta, **plan)


class Advice(Answer):
    """What can be hoped for: hope (reach, least, tasks, epsilon, alone_is_enough), recommended
    (method, command, text), theory (algorithms, mean_regularised), and the sizes asked about.

    Examples
    --------
    >>> import billboard
    >>> billboard.advise(tasks=2410, features=5, epsilon=1).recommended["method"]
    'mp-mixed'
    """

    def __str__(self) -> str:
        rows = "" if self["rows"] is None else f", {counted(self['rows'], 'row')} each"
        doors = ", two doors" if self["doors"] > 1 else ""
        return (f"{counted(self['tasks'], 'task')}, {counted(self['features'], 'feature')}{rows}, "
                f"{self['loss']} loss: {promise(self)}{doors}\n{own_words(self['recommended']['text'])}\n"
                f"Begin with: billboard.{self._estimator()}")

    def _estimator(self) -> str:
        """What the recommended command does, here."""
        is_number = self["loss"] == "squared"
        given = [f"epsilon={self['epsilon']:g}"]
        if self["hope"]["alone_is_enough"]:
            given = ['"stl"']
        else:
            if self["delta"] != min(1e-5, 1 / (10 * self["tasks"])):
                given += [f"delta={self['delta']:g}"]
            if self["adjacency"] != "replace-one":
                given += [f'adjacency="{self["adjacency"]}"']
            given += ["bounds=billboard.Bounds(…)"] if is_number else []
            given += [f"options={{'doors': {self['doors']}}}"] if self["doors"] > 1 else []
        return f"MultiTask{'Regressor' if is_number else 'Classifier'}({', '.join(given)})"

    def __repr__(self) -> str:
        return str(self)

    def theory_frame(self) -> Any:
        """What the theorems of the published algorithms advise, a row for each: a
        ``pandas.DataFrame``, or a list of dicts. They know one door, whose noise it is also where
        ``doors=2``.

        Examples
        --------
        >>> import billboard
        >>> advice = billboard.advise(tasks=2410, features=5, epsilon=1)
        >>> len(advice.theory_frame()) == len(advice.theory["algorithms"])
        True
        """
        found: List[Dict[str, Any]] = self["theory"]["algorithms"]
        return frame(found)


def advise(*, tasks: int, features: int, epsilon: float, rows: Optional[float] = None,
           **options_: Any) -> Advice:
    """Says beforehand whether learning together can help, and what it would take.

    Parameters
    ----------
    tasks, features : int
        How many there are; public.
    epsilon : float
        The budget.
    rows : float, optional
        About how many each task has.
    **options_
        Further options of ``billboard advise``: delta, adjacency, loss, doors, rank, smooth, …

    Returns
    -------
    Advice

    Examples
    --------
    >>> import billboard
    >>> print(billboard.advise(tasks=139, features=27, epsilon=0.1).hope["tasks"])
    326.0
    """
    given = {"tasks": tasks, "features": features, "epsilon": epsilon, "rows": rows, **options_}
    return Advice(asked("billboard_advise", *options(given)))


class Audit(Answer):
    """What attacks on a claim of privacy have found: violated, epsilon (claimed),
    epsilon_lower (that the runs have at least, with this confidence), delta, …

    Examples
    --------
    >>> import billboard
    >>> verdict = billboard.audit(rounds=2, trials=2000, seed=1)
    >>> verdict.epsilon_lower <= verdict.epsilon
    True
    """

    def __str__(self) -> str:
        verdict = "REFUTED" if self["violated"] else "consistent"
        return (f"claimed {promise(self)}\n"
                f"found ε of at least {self['epsilon_lower']:.4g} at δ = {self['delta']:.6g}, "
                f"{self['adjacency']}, sampling {self['sampling']}, confidence "
                f"{self['confidence']:g}\nverdict: {verdict}")

    def __repr__(self) -> str:
        return str(self)


def audit(*, progress: Any = None, **options: Any) -> Audit:
    """Tries to refute what Billboard promises, on populations that it makes up.

    Parameters
    ----------
    **options
        The options of ``billboard audit``, with underscores: epsilon, delta, rounds, trials,
        form, seed, …; with ``method=`` whole runs of a method are attacked.
    progress : callable, optional
        Told ``(what, done, all)``.

    Returns
    -------
    Audit

    Notes
    -----
    Privacy cost: none; no data of anybody are looked at.

    Examples
    --------
    >>> import billboard
    >>> billboard.audit(rounds=2, trials=2000, seed=1).violated
    False
    """
    return Audit(asked_long("billboard_audit", options, progress))
