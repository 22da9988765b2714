"""What docstrings of estimators say alike."""

PARAMETERS = """
    Parameters
    ----------
    method : str, default="auto"
        How to learn: see `billboard.methods`. "auto" takes what the program takes where nobody
        names a method; without `epsilon`, "stl": every task alone, since nothing can be shared.
    epsilon : float, optional
        The privacy budget of the fit. Without it nothing is private, and nothing is shared
        unless a non-private method such as "mtl-trace" is named.
    delta : float, optional
        The default is min(1e-5, 1 / (10 tasks)).
    adjacency : {"replace-one", "add-remove"}, default="replace-one"
        Which populations the promise is about.
    bounds : Bounds, dict or path, optional
        Public ranges of the columns, which help where tasks have few rows.
    standardize : {"auto", "none", "unit-rows", "task", "magnitude"}, default="auto"
        How rows are prepared. "auto" takes "magnitude" for private linear models without bounds
        (of more than two classes, for "mp-centre"): columns and target in each task's own powers
        of ten.
    ledger : Ledger or path, optional
        The budget that all fits on this population share.
    sampling : str, optional
        Who takes part in a round: "all", "poisson:0.1" or "fixed:20".
    rounds : int, optional
        The default is the method's.
    fit_intercept : bool, default=True
        Whether models have an intercept.
    method_params : dict, optional
        Options of the method, such as ``{"lambda": 0.1}``.
    options : dict, optional
        Further options of ``billboard train``, such as ``{"finetune": "mean"}``.
    group_column : str or int, optional
        The column of X that holds the groups, in place of the argument `groups`: for scorers,
        pipelines and searches, which hand on X alone.
    unknown_groups : {"error", "shared"}, default="error"
        What to say of rows of groups that were not there: nothing, or what the model says that
        all share, where the method has one.
    random_state : int or RandomState, optional
        Makes the fit reproducible, and NOT private: whoever knows it can take the noise away.
    n_jobs : int, default=1
        Threads; -1: as many as the data keep busy. Results do not depend on it.
    progress : bool or callable, default=False
        A bar, or a function that is told ``(what, done, all)``.
"""

ATTRIBUTES = """
    Attributes
    ----------
    groups_ : array of shape (n_groups,)
        The groups, in the order of the models.
    coef_ : array of shape (n_groups, n_features), or (n_groups, n_classes, n_features)
        Every group's own weights; a group's model is for that group alone.
    intercept_ : array of shape (n_groups,), or (n_groups, n_classes)
    shared_ : SharedModel or None
        The model that all share, which is public, where the method has one.
    privacy_ : Privacy
        What is promised: print it.
    report_ : Report
        All that was found: print it. It tells about private data.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had names.
"""

NOTES = """
    Notes
    -----
    Privacy cost of a fit: none without `epsilon`; else its (ε, δ), which protects each whole
    group: all its rows and every model computed from them. It is charged to the ledger before
    anything is computed. Not covered: publishing the personal models, parameters that were
    chosen by looking at results (a grid search fits many times, and every fit costs), and
    earlier steps of a pipeline that looked at all rows, as StandardScaler does: use `bounds`.

    A pickle of a fitted estimator has the models of all groups in it: it is private data.
"""

CLASSES = """    classes : sequence, optional
        The classes that there can be, which is public. A private fit needs them, unless they
        are 0 and 1 or -1 and 1: which classes occur tells about the rows. Of labels: what y's
        columns are, if not 0, 1, …
"""
