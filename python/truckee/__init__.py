"""Truckee, a laboratory for TCP over noisy paths.

>>> import truckee
>>> run = truckee.run("examples/wireless.toml", set={"flow.sender": "newreno"}, seed=7)
>>> run.flows["goodput_bps"]

Everything is described in docs/howto/python.md; scenarios, metrics and results are those of the command `truckee`.
"""

from truckee import algorithms, arrays
from truckee._native import builds
from truckee.captures import Capture, read
from truckee.errors import (
    Error,
    InternalError,
    MachineError,
    MachineWarning,
    Problem,
    QuestionError,
    RunError,
    ScenarioError,
)
from truckee.runs import Figure, Run, run
from truckee.scenarios import Scenario, Source, Value
from truckee.studies import About, Study, report, studies, study
from truckee.sweeps import Comparison, Sweep, compare, sweep
from truckee.tables import Table

__version__ = builds()[0]

__all__ = [
    "About",
    "Capture",
    "Comparison",
    "Error",
    "Figure",
    "InternalError",
    "MachineError",
    "MachineWarning",
    "Problem",
    "QuestionError",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Source",
    "Study",
    "Sweep",
    "Table",
    "Value",
    "__version__",
    "algorithms",
    "arrays",
    "builds",
    "compare",
    "read",
    "report",
    "run",
    "studies",
    "study",
    "sweep",
]
