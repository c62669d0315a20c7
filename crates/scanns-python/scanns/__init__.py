"""Indexing and search for data that outgrew find and grep.

>>> import scanns
>>> scanns.build("/usr/share/doc", "docs.scanns")
>>> index = scanns.open("docs.scanns")
>>> for hit in index.search("license warranty"):
...     print(hit.rank, hit.score, hit.key)

``open`` gives an :class:`Index`, ``build`` makes one of files, and :class:`Writer` of documents. Results convert to
pyarrow, pandas and Polars.
"""

from __future__ import annotations

from . import errors
from ._files import IncompleteWarning, Usage, UsageLine
from ._index import Index
from ._index import open_index as open
from ._progress import Progress
from ._results import Explanation, Export, Group, Groups, Hit, Model, Results, Snippet, Suggestion, TermCount
from ._schema import Field, Schema
from ._work import BuildOptions, Report, build, check, merge, tune
from ._writer import Writer
from .errors import Error
from .facets import Bucket, Distinct, Facet, Stats
from .query import Q

__version__ = "0.1.0"

__all__ = [
    "Bucket",
    "BuildOptions",
    "Distinct",
    "Error",
    "Explanation",
    "Export",
    "Facet",
    "Field",
    "Group",
    "Groups",
    "Hit",
    "IncompleteWarning",
    "Index",
    "Model",
    "Progress",
    "Q",
    "Report",
    "Results",
    "Schema",
    "Snippet",
    "Stats",
    "Suggestion",
    "TermCount",
    "Usage",
    "UsageLine",
    "Writer",
    "build",
    "check",
    "errors",
    "merge",
    "open",
    "tune",
]
