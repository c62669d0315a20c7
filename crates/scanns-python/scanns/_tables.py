"""Conversion of results into tables of pyarrow, pandas and Polars, which are imported when they are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import UnsupportedError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from ._native import ArrowStream


def needed(name: str) -> Any:
    """Imports an optional module."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UnsupportedError(f"this needs {name}: pip install {name}") from error


class Table:
    """Something with rows and columns. ``pyarrow.table``, ``polars.DataFrame`` and DuckDB read it directly."""

    def _stream(self) -> ArrowStream | None:
        raise NotImplementedError

    def rows(self) -> list[dict[str, Any]]:
        """All rows as dictionaries."""
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        stream = self._stream()
        if stream is not None:
            return stream.__arrow_c_stream__(requested_schema)
        table = needed("pyarrow").Table.from_pylist(self.rows())
        return table.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """All rows as a table of pyarrow."""
        table: pyarrow.Table = needed("pyarrow").table(self)
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """All rows as a data frame of pandas."""
        needed("pandas")
        frame: pandas.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> polars.DataFrame:
        """All rows as a data frame of Polars."""
        frame: polars.DataFrame = needed("polars").DataFrame(self)
        return frame
