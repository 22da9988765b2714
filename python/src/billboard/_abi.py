"""What billboard.h declares, for ctypes. Made by scripts/python-abi: change the
header, not this."""

import ctypes as c
from typing import Any, Dict, Tuple

ABI = 0

OK = 0
FAILED = 1
USAGE = 2
BUDGET = 3
INTERRUPTED = 130

FLOAT64 = 0
FLOAT32 = 1

EXPERIMENTAL_WAITS = 0
EXPERIMENTAL_WORK = 1
EXPERIMENTAL_COMPLETE = 2
EXPERIMENTAL_PUBLISHED = 3
EXPERIMENTAL_DONE = 4
EXPERIMENTAL_FAILED = 5


class billboard_watch(c.Structure):
    struct_size: Any
    self: Any
    progress: Any
    warn: Any
    stop: Any

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("self", c.c_void_p),
        ("progress", c.CFUNCTYPE(None, c.c_void_p, c.c_char_p, c.c_uint32, c.c_uint32)),
        ("warn", c.CFUNCTYPE(None, c.c_void_p, c.c_char_p)),
        ("stop", c.POINTER(c.c_int)),
    ]


class billboard_option(c.Structure):
    name: Any
    value: Any

    _fields_ = [
        ("name", c.c_char_p),
        ("value", c.c_char_p),
    ]


class billboard_arrays(c.Structure):
    struct_size: Any
    rows: Any
    features: Any
    task_name: Any
    task_number: Any
    x: Any
    x_type: Any
    columns_first: Any
    row_start: Any
    column: Any
    value: Any
    y: Any
    y_type: Any
    label_start: Any
    label: Any
    feature_name: Any
    target_name: Any

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("rows", c.c_size_t),
        ("features", c.c_size_t),
        ("task_name", c.POINTER(c.c_char_p)),
        ("task_number", c.POINTER(c.c_int64)),
        ("x", c.c_void_p),
        ("x_type", c.c_int),
        ("columns_first", c.c_int),
        ("row_start", c.POINTER(c.c_int64)),
        ("column", c.POINTER(c.c_int32)),
        ("value", c.c_void_p),
        ("y", c.c_void_p),
        ("y_type", c.c_int),
        ("label_start", c.POINTER(c.c_int64)),
        ("label", c.POINTER(c.c_int32)),
        ("feature_name", c.POINTER(c.c_char_p)),
        ("target_name", c.c_char_p),
    ]


class billboard_privacy(c.Structure):
    struct_size: Any
    is_private: Any
    epsilon: Any
    delta: Any
    unit: Any
    adjacency: Any
    sampling: Any
    mechanism: Any
    noise_multiplier: Any
    statement: Any

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("is_private", c.c_int),
        ("epsilon", c.c_double),
        ("delta", c.c_double),
        ("unit", c.c_char_p),
        ("adjacency", c.c_char_p),
        ("sampling", c.c_char_p),
        ("mechanism", c.c_char_p),
        ("noise_multiplier", c.c_double),
        ("statement", c.c_char_p),
    ]


class billboard_model(c.Structure):
    struct_size: Any
    features: Any
    outputs: Any
    feature_name: Any
    weight: Any
    intercept: Any
    parameter: Any
    parameters: Any

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("features", c.c_size_t),
        ("outputs", c.c_size_t),
        ("feature_name", c.POINTER(c.c_char_p)),
        ("weight", c.POINTER(c.c_double)),
        ("intercept", c.c_double),
        ("parameter", c.POINTER(c.c_float)),
        ("parameters", c.c_size_t),
    ]


class billboard_models(c.Structure):
    struct_size: Any
    tasks: Any
    features: Any
    outputs: Any
    task_name: Any
    feature_name: Any
    weight: Any
    intercept: Any
    parameter: Any
    parameters: Any

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("tasks", c.c_size_t),
        ("features", c.c_size_t),
        ("outputs", c.c_size_t),
        ("task_name", c.POINTER(c.c_char_p)),
        ("feature_name", c.POINTER(c.c_char_p)),
        ("weight", c.POINTER(c.c_double)),
        ("intercept", c.POINTER(c.c_double)),
        ("parameter", c.POINTER(c.c_float)),
        ("parameters", c.c_size_t),
    ]


class billboard_values(c.Structure):
    struct_size: Any
    rows: Any
    value: Any
    classes: Any
    label_start: Any
    label: Any
    skipped: Any
    shared: Any
    with_missing: Any
    outputs: Any
    output: Any
    half_width: Any
    note: Any

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("rows", c.c_size_t),
        ("value", c.POINTER(c.c_double)),
        ("classes", c.POINTER(c.c_int64)),
        ("label_start", c.POINTER(c.c_int64)),
        ("label", c.POINTER(c.c_int32)),
        ("skipped", c.c_size_t),
        ("shared", c.c_size_t),
        ("with_missing", c.c_size_t),
        ("outputs", c.c_size_t),
        ("output", c.POINTER(c.c_double)),
        ("half_width", c.POINTER(c.c_double)),
        ("note", c.c_char_p),
    ]


class billboard_experimental_roster(c.Structure):
    struct_size: Any
    tasks: Any
    task_name: Any
    task_number: Any
    cluster: Any
    features: Any
    feature_name: Any
    silos: Any
    fewest_silos: Any
    identity: Any
    silo_name: Any
    target_name: Any

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("tasks", c.c_size_t),
        ("task_name", c.POINTER(c.c_char_p)),
        ("task_number", c.POINTER(c.c_int64)),
        ("cluster", c.POINTER(c.c_uint32)),
        ("features", c.c_size_t),
        ("feature_name", c.POINTER(c.c_char_p)),
        ("silos", c.c_uint32),
        ("fewest_silos", c.c_uint32),
        ("identity", c.c_void_p),
        ("silo_name", c.POINTER(c.c_char_p)),
        ("target_name", c.c_char_p),
    ]


class billboard_experimental_policy(c.Structure):
    struct_size: Any
    most_epsilon: Any
    most_delta: Any
    fewest_tasks: Any
    fewest_silos: Any
    methods: Any
    allow_open: Any
    adjacencies: Any
    curators: Any
    helpers: Any

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("most_epsilon", c.c_double),
        ("most_delta", c.c_double),
        ("fewest_tasks", c.c_size_t),
        ("fewest_silos", c.c_uint32),
        ("methods", c.c_char_p),
        ("allow_open", c.c_int),
        ("adjacencies", c.c_char_p),
        ("curators", c.c_char_p),
        ("helpers", c.c_char_p),
    ]


#: What C says that the structs have.
SIZES: Dict[Any, int] = {
    billboard_watch: 40,
    billboard_option: 16,
    billboard_arrays: 128,
    billboard_privacy: 80,
    billboard_model: 64,
    billboard_models: 80,
    billboard_values: 104,
    billboard_experimental_roster: 88,
    billboard_experimental_policy: 80,
}

#: What functions return, and take.
FUNCTIONS: Dict[str, Tuple[Any, Tuple[Any, ...]]] = {
    "billboard_version": (c.c_char_p, ()),
    "billboard_abi": (c.c_int, ()),
    "billboard_error": (c.c_char_p, ()),
    "billboard_own_process": (c.c_int, ()),
    "billboard_answer_json": (c.c_char_p, (c.c_void_p,)),
    "billboard_answer_number": (c.c_double, (c.c_void_p, c.c_char_p)),
    "billboard_answer_text": (c.c_char_p, (c.c_void_p, c.c_char_p)),
    "billboard_answer_count": (c.c_size_t, (c.c_void_p, c.c_char_p)),
    "billboard_answer_free": (None, (c.c_void_p,)),
    "billboard_account": (c.c_int, (
        c.POINTER(billboard_option),
        c.c_size_t,
        c.POINTER(billboard_watch),
        c.POINTER(c.c_void_p))),
    "billboard_advise": (c.c_int, (
        c.POINTER(billboard_option),
        c.c_size_t,
        c.POINTER(c.c_void_p))),
    "billboard_methods": (c.c_int, (c.c_char_p, c.POINTER(c.c_void_p))),
    "billboard_options": (c.c_int, (c.c_char_p, c.POINTER(c.c_void_p))),
    "billboard_data_from_arrays": (c.c_int, (c.POINTER(billboard_arrays), c.POINTER(c.c_void_p))),
    "billboard_data_from_file": (c.c_int, (c.c_char_p, c.POINTER(c.c_void_p))),
    "billboard_data_free": (None, (c.c_void_p,)),
    "billboard_info": (c.c_int, (
        c.c_void_p,
        c.POINTER(billboard_option),
        c.c_size_t,
        c.POINTER(c.c_void_p))),
    "billboard_convert": (c.c_int, (
        c.POINTER(c.c_void_p),
        c.c_size_t,
        c.POINTER(billboard_option),
        c.c_size_t,
        c.POINTER(c.c_void_p))),
    "billboard_synth": (c.c_int, (
        c.c_char_p,
        c.POINTER(billboard_option),
        c.c_size_t,
        c.POINTER(c.c_void_p))),
    "billboard_job_new": (c.c_int, (c.POINTER(c.c_void_p),)),
    "billboard_job_set": (c.c_int, (c.c_void_p, c.c_char_p, c.c_char_p)),
    "billboard_job_options": (c.c_int, (c.c_void_p, c.POINTER(c.c_void_p))),
    "billboard_job_run": (c.c_int, (
        c.c_void_p,
        c.c_void_p,
        c.c_void_p,
        c.POINTER(billboard_watch),
        c.POINTER(c.c_void_p))),
    "billboard_tune": (c.c_int, (
        c.c_void_p,
        c.c_void_p,
        c.POINTER(billboard_option),
        c.c_size_t,
        c.POINTER(billboard_watch),
        c.POINTER(c.c_void_p))),
    "billboard_job_free": (None, (c.c_void_p,)),
    "billboard_result_load": (c.c_int, (c.c_char_p, c.POINTER(c.c_void_p))),
    "billboard_result_save": (c.c_int, (c.c_void_p, c.c_char_p, c.c_int)),
    "billboard_result_free": (None, (c.c_void_p,)),
    "billboard_result_answer": (c.c_void_p, (c.c_void_p,)),
    "billboard_result_text": (c.c_char_p, (c.c_void_p,)),
    "billboard_result_privacy": (c.c_int, (c.c_void_p, c.POINTER(billboard_privacy))),
    "billboard_result_tasks": (c.c_size_t, (c.c_void_p,)),
    "billboard_result_task": (c.c_char_p, (c.c_void_p, c.c_size_t)),
    "billboard_result_model": (c.c_int, (c.c_void_p, c.c_char_p, c.POINTER(billboard_model))),
    "billboard_result_models": (c.c_int, (c.c_void_p, c.POINTER(billboard_models))),
    "billboard_export": (c.c_int, (c.c_char_p, c.c_char_p, c.c_char_p)),
    "billboard_predict": (c.c_int, (
        c.c_void_p,
        c.c_void_p,
        c.POINTER(billboard_option),
        c.c_size_t,
        c.POINTER(c.c_void_p))),
    "billboard_predictions_values": (c.c_int, (c.c_void_p, c.POINTER(billboard_values))),
    "billboard_predictions_csv": (c.c_int, (c.c_void_p, c.POINTER(c.c_char_p))),
    "billboard_predictions_write": (c.c_int, (c.c_void_p, c.c_char_p)),
    "billboard_predictions_free": (None, (c.c_void_p,)),
    "billboard_evaluate": (c.c_int, (
        c.c_void_p,
        c.c_void_p,
        c.POINTER(billboard_option),
        c.c_size_t,
        c.POINTER(c.c_void_p))),
    "billboard_ledger": (c.c_int, (c.c_char_p, c.POINTER(billboard_watch), c.POINTER(c.c_void_p))),
    "billboard_ledger_tasks": (c.c_int, (c.c_char_p, c.c_size_t, c.POINTER(billboard_watch))),
    "billboard_ledger_not_tasks": (c.c_int, (c.c_char_p, c.c_size_t, c.POINTER(billboard_watch))),
    "billboard_audit": (c.c_int, (
        c.POINTER(billboard_option),
        c.c_size_t,
        c.POINTER(billboard_watch),
        c.POINTER(c.c_void_p))),
    "billboard_experiment": (c.c_int, (
        c.c_char_p,
        c.POINTER(billboard_option),
        c.c_size_t,
        c.POINTER(billboard_watch),
        c.POINTER(c.c_void_p))),
    "billboard_experiments": (c.c_int, (c.c_char_p, c.POINTER(c.c_void_p))),
    "billboard_report": (c.c_int, (c.POINTER(c.c_char_p), c.c_size_t, c.c_char_p, c.c_char_p)),
    "billboard_account_draw": (c.c_int, (c.c_void_p, c.c_char_p, c.c_char_p)),
    "billboard_ranks_started": (c.c_uint32, ()),
    "billboard_ranks_number": (c.c_uint32, ()),
    "billboard_ranks_join": (c.c_int, (c.POINTER(c.c_void_p),)),
    "billboard_job_run_ranks": (c.c_int, (
        c.c_void_p,
        c.c_void_p,
        c.c_void_p,
        c.POINTER(billboard_watch),
        c.c_void_p,
        c.POINTER(c.c_void_p))),
    "billboard_ranks_speaks": (c.c_int, (c.c_void_p,)),
    "billboard_ranks_leave": (None, (c.c_void_p, c.c_int)),
    "billboard_experimental_agreement_read": (c.c_int, (c.c_char_p, c.POINTER(c.c_void_p))),
    "billboard_experimental_agreement_job": (c.c_void_p, (c.c_void_p,)),
    "billboard_experimental_agreement_roster": (c.POINTER(billboard_experimental_roster), (
        c.c_void_p,)),
    "billboard_experimental_agreement_silo": (c.c_char_p, (c.c_void_p, c.c_uint32)),
    "billboard_experimental_agreement_doors": (c.c_uint32, (c.c_void_p,)),
    "billboard_experimental_agreement_made": (c.c_int, (
        c.c_void_p,
        c.c_char_p,
        c.POINTER(c.c_int))),
    "billboard_experimental_agreement_free": (None, (c.c_void_p,)),
    "billboard_experimental_identity_new": (c.c_int, (c.c_char_p, c.POINTER(c.c_void_p))),
    "billboard_experimental_identity_read": (c.c_int, (c.c_char_p, c.POINTER(c.c_void_p))),
    "billboard_experimental_keys_write": (c.c_int, (
        c.c_char_p,
        c.c_char_p,
        c.c_char_p,
        c.c_size_t,
        c.POINTER(c.c_char_p),
        c.POINTER(c.c_char_p))),
    "billboard_experimental_keys_read": (c.c_int, (c.c_char_p, c.POINTER(c.c_void_p))),
    "billboard_experimental_agreement_identify": (c.c_int, (
        c.c_void_p,
        c.c_uint32,
        c.c_char_p,
        c.c_char_p)),
    "billboard_experimental_identity_open": (c.c_int, (
        c.c_char_p,
        c.c_char_p,
        c.c_uint32,
        c.POINTER(c.c_char_p),
        c.c_uint32,
        c.POINTER(c.c_void_p))),
    "billboard_experimental_identity_free": (None, (c.c_void_p,)),
    "billboard_experimental_policy_read": (c.c_int, (c.c_char_p, c.POINTER(c.c_void_p))),
    "billboard_experimental_agreement_policy": (c.c_int, (
        c.c_void_p,
        c.c_char_p,
        c.POINTER(billboard_experimental_policy))),
    "billboard_experimental_policy_check": (c.c_int, (
        c.c_void_p,
        c.POINTER(billboard_experimental_roster),
        c.c_uint32,
        c.POINTER(billboard_experimental_policy),
        c.c_void_p,
        c.POINTER(c.c_size_t))),
    "billboard_experimental_silo_open": (c.c_int, (
        c.c_void_p,
        c.POINTER(billboard_experimental_roster),
        c.c_uint32,
        c.c_void_p,
        c.POINTER(billboard_experimental_policy),
        c.POINTER(billboard_watch),
        c.POINTER(c.c_void_p))),
    "billboard_experimental_silo_look": (c.c_int, (
        c.c_void_p,
        c.POINTER(billboard_experimental_roster),
        c.c_uint32,
        c.c_void_p,
        c.POINTER(billboard_experimental_policy),
        c.POINTER(billboard_watch),
        c.POINTER(c.c_void_p))),
    "billboard_experimental_silo_state": (c.c_int, (c.c_void_p,)),
    "billboard_experimental_silo_take": (c.c_int, (c.c_void_p, c.c_void_p, c.c_size_t)),
    "billboard_experimental_silo_work": (c.c_int, (c.c_void_p,)),
    "billboard_experimental_silo_give": (c.c_int, (
        c.c_void_p,
        c.POINTER(c.c_void_p),
        c.POINTER(c.c_size_t))),
    "billboard_experimental_silo_gave": (None, (c.c_void_p,)),
    "billboard_experimental_silo_hello": (c.c_int, (c.c_void_p,)),
    "billboard_experimental_silo_leave": (c.c_int, (c.c_void_p,)),
    "billboard_experimental_silo_save": (c.c_int, (
        c.c_void_p,
        c.POINTER(c.c_void_p),
        c.POINTER(c.c_size_t))),
    "billboard_experimental_silo_restore": (c.c_int, (c.c_void_p, c.c_void_p, c.c_size_t)),
    "billboard_experimental_silo_keep": (c.c_int, (c.c_void_p,)),
    "billboard_experimental_silo_forget": (None, (c.c_void_p,)),
    "billboard_experimental_silo_result": (c.c_int, (c.c_void_p, c.POINTER(c.c_void_p))),
    "billboard_experimental_silo_free": (None, (c.c_void_p,)),
    "billboard_experimental_curator_open": (c.c_int, (
        c.c_void_p,
        c.POINTER(billboard_experimental_roster),
        c.POINTER(billboard_watch),
        c.POINTER(c.c_void_p))),
    "billboard_experimental_curator_state": (c.c_int, (c.c_void_p,)),
    "billboard_experimental_curator_take": (c.c_int, (c.c_void_p, c.c_void_p, c.c_size_t)),
    "billboard_experimental_curator_close_round": (c.c_int, (c.c_void_p,)),
    "billboard_experimental_curator_go_on": (c.c_int, (c.c_void_p,)),
    "billboard_experimental_curator_give": (c.c_int, (
        c.c_void_p,
        c.c_uint32,
        c.POINTER(c.c_void_p),
        c.POINTER(c.c_size_t))),
    "billboard_experimental_curator_again": (None, (c.c_void_p, c.c_uint32)),
    "billboard_experimental_curator_waits_for": (c.c_int, (c.c_void_p, c.c_uint32)),
    "billboard_experimental_curator_progress": (c.c_int, (c.c_void_p, c.POINTER(c.c_void_p))),
    "billboard_experimental_curator_stop": (None, (c.c_void_p, c.c_int)),
    "billboard_experimental_curator_save": (c.c_int, (
        c.c_void_p,
        c.POINTER(c.c_void_p),
        c.POINTER(c.c_size_t))),
    "billboard_experimental_curator_restore": (c.c_int, (
        c.c_void_p,
        c.POINTER(billboard_experimental_roster),
        c.POINTER(billboard_watch),
        c.c_void_p,
        c.c_size_t,
        c.POINTER(c.c_void_p))),
    "billboard_experimental_curator_keep": (c.c_int, (c.c_void_p,)),
    "billboard_experimental_curator_forget": (None, (c.c_void_p,)),
    "billboard_experimental_curator_result": (c.c_int, (c.c_void_p, c.POINTER(c.c_void_p))),
    "billboard_experimental_curator_free": (None, (c.c_void_p,)),
    "billboard_experimental_helper_open": (c.c_int, (
        c.c_void_p,
        c.POINTER(billboard_experimental_roster),
        c.POINTER(billboard_watch),
        c.POINTER(c.c_void_p))),
    "billboard_experimental_helper_state": (c.c_int, (c.c_void_p,)),
    "billboard_experimental_helper_rounds": (c.c_uint32, (c.c_void_p,)),
    "billboard_experimental_helper_take": (c.c_int, (c.c_void_p, c.c_void_p, c.c_size_t)),
    "billboard_experimental_helper_give": (c.c_int, (
        c.c_void_p,
        c.POINTER(c.c_void_p),
        c.POINTER(c.c_size_t))),
    "billboard_experimental_helper_gave": (None, (c.c_void_p,)),
    "billboard_experimental_helper_hello": (c.c_int, (c.c_void_p,)),
    "billboard_experimental_helper_leave": (c.c_int, (c.c_void_p,)),
    "billboard_experimental_helper_keep": (c.c_int, (c.c_void_p,)),
    "billboard_experimental_helper_store": (c.c_int, (c.c_void_p, c.c_char_p)),
    "billboard_experimental_helper_forget": (None, (c.c_void_p,)),
    "billboard_experimental_helper_free": (None, (c.c_void_p,)),
}
