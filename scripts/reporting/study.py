"""The study's own numbers (results/ipdps20), for report.py."""

from pathlib import Path

import tsv

FOLDER = Path(__file__).resolve().parents[2] / "results" / "ipdps20"
GPUS = ("V100", "P100")
FIGURES = ("7", "8")  # whose numbers stand in its text
TABLES = dict(zip(("I", "II", "III", "IV", "V", "VI", "VII", "VIII"), range(1, 9)))


def read(path):
    rows = tsv.read_table(tsv.read_bytes(path), path)
    for line, row in enumerate(rows, 2):
        if not row.get("source"):
            raise tsv.TsvError(f"{path}, line {line}: no source")
    return rows


class Study:
    """Each table's and figure's rows, read and checked."""

    def __init__(self, folder=FOLDER):
        self.tables = {name: read(Path(folder) / f"table_{number}.tsv")
                       for name, number in TABLES.items()}
        self.figures = {name: read(Path(folder) / f"figure_{name}.tsv") for name in FIGURES}

    def find(self, table, **cells):
        """The first row of a table with these cells, or None."""
        return next((row for row in self.tables[table]
                     if all(row.get(column) == text for column, text in cells.items())), None)

    def value(self, table, column, **cells):
        """A number as the study prints it, or None where it has none."""
        row = self.find(table, **cells)
        if row is None or row[column] == "nan":
            return None
        return row[column]
