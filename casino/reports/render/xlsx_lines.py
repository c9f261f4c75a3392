"""A sheet of XLSX that takes rows as finished lines of XML, as the library writes them in constant memory.

The library keeps each cell as an object, and looks at it five times before it is text: 10 us a cell, of which 1 is
needed. Text that is not plain is left to the library, cell by cell. A test compares the bytes with those of the
library.
"""

import re
from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any

from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet

#: What writes a value that is there into its cells of a row.
Cells = Callable[[int, Any], str]
#: What the library escapes or marks: signs of XML, control characters and what looks like an escape of one, spaces at
#: the ends.
_NOT_PLAIN = re.compile(r"[&<>\x00-\x1f\ufffe\uffff]|_x|^\s|\s\Z")
#: Characters up to which no text is too long for a cell, whatever they are.
_SHORT = 16_383


class LinesSheet(Worksheet):  # type: ignore[misc]
    """A worksheet of a workbook in constant memory: first cells as usual, then lines."""

    #: The library's open file of rows.
    fh: Any

    def begin_lines(self, cells: Sequence[Cells]) -> None:
        """From now on rows are lines of these cells; what was written before is ended."""
        self._write_single_row(1)
        self._cells = cells
        self._columns = [xl_col_to_name(at) for at in range(self.dim_colmax + 1)]
        self._shapes: dict[Any, str] = {None: ""}

    def line(self, row: int, values: Sequence[Any]) -> None:
        """Write a row; a value that is None has no cell."""
        cells = "".join([one(row, value) for one, value in zip(self._cells, values, strict=True) if value is not None])
        if cells:
            self.fh.write(f'<row r="{row + 1}">{cells}</row>')
            self.dim_rowmax = row

    def number(self, row: int, column: int, value: float, shape: Any) -> str:
        """A cell with a number, in a format of the workbook or none."""
        style = self._shapes.get(shape)
        if style is None:
            # The workbook numbers its formats as they are used.
            style = self._shapes[shape] = f' s="{shape._get_xf_index()}"'
        return f'<c r="{self._columns[column]}{row + 1}"{style}><v>{value:.16G}</v></c>'

    def flag(self, row: int, column: int, value: bool) -> str:
        """A cell with yes or no."""
        return f'<c r="{self._columns[column]}{row + 1}" t="b"><v>{int(value)}</v></c>'

    def text(self, row: int, column: int, value: str) -> str:
        """A cell with a text, which is no formula whatever it looks like."""
        if len(value) > _SHORT or _NOT_PLAIN.search(value):
            return self._by_library(row, column, value)
        return f'<c r="{self._columns[column]}{row + 1}" t="inlineStr"><is><t>{value}</t></is></c>'

    def _by_library(self, row: int, column: int, value: str) -> str:
        self.previous_row = row
        self._write_string(row, column, value)
        file, self.fh = self.fh, StringIO()
        try:
            self._write_cell(row, column, self.table[row][column])
            return str(self.fh.getvalue())
        finally:
            self.fh = file
            self.table.clear()
