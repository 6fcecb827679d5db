"""All rows of results folders as one table, a line for each quantity of a row."""

import csv
import io
import re

from parts import tsv

STATISTICS = {"m": "mean", "s": "stddev", "med": "median", "min": "min", "max": "max",
              "ci95": "ci95", "s_stream": "stddev_of_streams", "s_process": "stddev_of_processes",
              "loop": "in_a_loop"}
OF_QUANTITY = re.compile(rf"({'|'.join(STATISTICS)})\((.*)\)")
NAMES = {"GPUCount": "gpus", "GPUcount": "gpus", "idea(wkld)": "wkld"}  # in all programs alike
WORDS = tuple(column for column in (*tsv.NAMES, *tsv.PHRASES) if column not in ("method", "set"))
BESIDE = ("set", "n", "clock")  # of a row, no quantities


def lines_of(run, section):
    """{column: text} of each quantity of each row. What is no statistic is its own mean."""
    file = section.where.rsplit("/", 1)[-1].partition(".tsv")[0]
    for row in section.rows:
        labels = {NAMES.get(column, column): row[column] for column in section.header[1:]
                  if column in (*section.point, *WORDS)}
        quantities = {}
        for column, text in row.items():
            found = OF_QUANTITY.fullmatch(column)
            if column in (*section.point, *WORDS, *BESIDE, "method"):
                continue
            if found:
                name = "avginstru" if found[2] == "avginstr" else found[2]  # its spread
                quantities.setdefault(name, {})[STATISTICS[found[1]]] = text
            else:
                quantities[column] = {"mean": text}
        for quantity, statistics in quantities.items():
            yield {"folder": run.mark + run.path.name, "program": file.split(".")[0], "file": file,
                   "section": section.title, "method": row["method"], **labels,
                   "quantity": quantity, **statistics, **{
                       column: row[column] for column in BESIDE if column in row}, "line": row.line}


def as_csv(runs):
    """The text; a cell is empty where a row has no such column or no number there."""
    lines = [line for run in runs for output in run.files.values() for section in output
             for line in lines_of(run, section)]
    last = ("quantity", *STATISTICS.values(), *BESIDE, "line")
    labels = dict.fromkeys(column for line in lines for column in line if column not in last)
    text = io.StringIO()
    table = csv.DictWriter(text, [*labels, *last], restval="", lineterminator="\n")
    table.writeheader()
    table.writerows({column: "" if cell == "nan" else cell for column, cell in line.items()}
                    for line in lines)
    return text.getvalue().rstrip("\n")
