"""The headline numbers of report.py as sheets and for report.json: a run beside the recorded
ones, and several runs beside each other."""

import math

import compare
from reporting.figures import rounded, short_name, sources
from reporting.headline import HEADLINES, converted, found_in, shown
from reporting.sheets import Cell, Sheet, plain
from reporting.study import GPUS

CONVERTED_DIGITS = 4  # the SM clock is known to a few parts in 10,000


def converted_text(found, unit):
    value, other = (found and converted(found, unit)) or (math.nan, "")
    if not abs(value) > 0:
        return "–"
    least = 10.0 ** (math.floor(math.log10(abs(value))) - CONVERTED_DIGITS + 2)
    mean = rounded(value, max(least, found.figure.spread * value / found.figure.value))
    return f"{mean.partition(' ± ')[0]} {other}"


def cell(found):
    if found is None or not found.figure.text():
        return "–"
    return Cell(found.figure.text(), found.figure.where())


def verdict(part, found):
    """How the row is beside the recorded runs, in words."""
    judged = found and next((row for row in part.normal if row.row is found.row), None)
    if judged is None or judged.verdict == "not recorded" or not shown(found):
        return "–"
    if judged.verdict in compare.VERDICTS[1:3]:
        return f"{abs(judged.change):.1f}% {judged.verdict}"
    return judged.verdict


def notes(name, found):
    """What a cell is of where its line does not say, and what ! in it is of."""
    for headline, one in zip(HEADLINES, found):
        if one and one.which:
            yield f"{plain(headline.label)}, {name}: {one.which}."
        for text in one.figure.remarks if one else ():
            yield f"! {plain(headline.label)}, {name}: {text}."


HOW = ("± is the standard deviation; –: not measured, or not known. n per SM x t: n blocks for each "
       "SM, of t threads. none: the toolkit compiles it to no instruction that waits.")
STUDY = ("V100, P100: the study's (Tables I, II, VI, Figures 7, 8), of 8 and 2 GPUs where all are "
         "meant; its launch is of a shape that it does not say, its sum the best of its own.")


def headline_sheet(part, study, recorded):
    """A run beside the recorded ones, on as many GPUs."""
    here = found_in(part.run)
    others = [found_in(other, part.run.gpus) for other in recorded]
    measured = " (measured)" * part.run.simulated
    sheet = Sheet(f"{part.run.mark}What a barrier costs here, beside recorded runs" if others else
                  f"{part.run.mark}What a barrier costs here. {part.run.about()}", 2, [
        "", "Unit", "Here", "Converted", *(other.path.name + measured for other in recorded),
        *["Against recorded"] * bool(others), *GPUS])
    for place, (headline, found) in enumerate(zip(HEADLINES, here)):
        sheet.rows.append([
            headline.label, headline.unit, cell(found), converted_text(found, headline.unit),
            *(cell(other[place]) for other in others),
            *[verdict(part, found)] * bool(others),
            *(headline.study(study, gpu) or "–" for gpu in GPUS)])
    sheet.notes += [HOW, "Converted by the SM clock in the same row (column clock): what waits for "
                    "memory or links does not go with that clock.", STUDY]
    if others:
        sheet.notes.append(part.reference())
    sheet.notes += notes("here", here)
    return sheet


def found_json(headline, found):
    """A value of report.json."""
    other = converted(found, headline.unit)
    return {"unit": headline.unit, **found.figure.numbers(),
            "text": found.figure.text(), "of": found.which or None,
            "nothing_waits": found.figure.nothing, "remarks": found.figure.remarks,
            "converted": other and {"value": other[0], "unit": other[1], "SM_clock_MHz": float(
                found.row["clock"])},
            "sources": sources(found.figure.sources)}


def study_json(headline, study):
    known = {gpu: headline.study(study, gpu) for gpu in GPUS}
    return {gpu: {"unit": headline.unit, "value": float(text)}
            for gpu, text in known.items() if text}


def headline_json(part, study):
    here = found_in(part.run)
    others = {other.path.name: found_in(other, part.run.gpus) for other in part.recorded}
    return [{"name": headline.name, "label": plain(headline.label),
             "here": found and found_json(headline, found),
             "recorded": {name: found_json(headline, other[place])
                          for name, other in others.items() if other[place]},
             "beside_recorded": verdict(part, found), "study": study_json(headline, study)}
            for place, (headline, found) in enumerate(zip(HEADLINES, here))]


def machine_names(parts):
    """Of each, for a column: 2 H200, with its folder where another has the same."""
    names = [f"{part.run.gpus} {short_name(part.run)}" for part in parts]
    return [name if names.count(name) == 1 else f"{name} ({part.name})"
            for name, part in zip(names, parts)]


def machines_sheet(parts, study):
    """Several runs, a column each."""
    found, names = [found_in(part.run) for part in parts], machine_names(parts)
    sheet = Sheet(f"{parts[0].run.mark}What a barrier costs, by machine", 2, ["", "Unit", *names, *GPUS])
    for place, headline in enumerate(HEADLINES):
        sheet.rows.append([headline.label, headline.unit, *(cell(one[place]) for one in found),
                           *(headline.study(study, gpu) or "–" for gpu in GPUS)])
    sheet.notes += [HOW, STUDY, *(f"{name}: {part.name}, {part.run.about()}."
                                  for name, part in zip(names, parts))]
    for name, one in zip(names, found):
        sheet.notes += notes(name, one)
    return sheet


def machines_json(parts, study):
    found = [found_in(part.run) for part in parts]
    return [{"name": headline.name, "label": plain(headline.label),
             "machines": {part.name: found_json(headline, one[place])
                          for part, one in zip(parts, found) if one[place]},
             "study": study_json(headline, study)}
            for place, headline in enumerate(HEADLINES)]
