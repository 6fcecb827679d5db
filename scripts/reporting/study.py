"""The study's own numbers (results/ipdps20), for report.py."""

from pathlib import Path

from parts import tsv

FOLDER = Path(__file__).resolve().parents[2] / "results" / "ipdps20"
GPUS = ("V100", "P100")
FIGURES = ("7", "8")  # whose numbers stand in its text
TABLES = dict(zip(("I", "II", "III", "IV", "V", "VI", "VII", "VIII"), range(1, 9)))


WORDS = ("launch", "gpu", "type", "group", "sum", "platform", "driver", "cuda", "id", "about",
         "observation", "source")  # columns of them; the others are numbers


def read(data, path):
    """The rows of a file (bytes)."""
    rows = tsv.read_table(data, path)
    for row in rows:
        if not row["source"]:
            raise tsv.TsvError(f"{row.where}: no source")
        for column, cell in row.items():
            if column not in WORDS and not tsv.NUMBER.fullmatch(cell):
                raise tsv.TsvError(f"{row.where}, column {tsv.shown(column)}: "
                                   f"'{tsv.shown(cell)}' is not a number")
    return rows


class Study:
    """Each table's and figure's rows, read and checked."""

    def __init__(self, folder=FOLDER):
        data = tsv.read_folder(folder)

        def rows(name):
            path = Path(folder) / name
            return read(data[name] if name in data else tsv.read_bytes(path), path)

        self.tables = {name: rows(f"table_{number}.tsv") for name, number in TABLES.items()}
        self.figures = {name: rows(f"figure_{name}.tsv") for name in FIGURES}
        tsv.check_folder(folder, data)

    def value(self, table, column, **cells):
        """A number as the study prints it, of the first row with these cells, or None."""
        text = next((row[column] for row in self.tables[table] if cells.items() <= row.items()),
                    "nan")
        return None if text == "nan" else text

    def toolkit(self, gpu):
        """That its numbers of this GPU are of: CUDA 10.0."""
        return f"CUDA {'.'.join(self.value('VII', 'cuda', gpu=gpu).split('.')[:2])}"

    def number(self, table, column, **cells):
        """One that it has."""
        text = self.value(table, column, **cells)
        if text is None:
            raise tsv.TsvError(f"{FOLDER.name}: Table {table} has no {column} of "
                               f"{', '.join(cells.values())}")
        return float(text)
