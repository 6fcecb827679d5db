"""The headline numbers of report.py as sheets and for report.json: a run beside the recorded
ones, and several runs beside each other."""

import math

from parts import means
from reporting.estimates import rounded, short_name, sources
from reporting.headline import converted, found_in, headlines, shown
from reporting.names import legend
from reporting.sheets import CODE, Cell, Sheet, coded, plain
from reporting.study import GPUS

CONVERTED_DIGITS = 4  # more than the SM clock is known to


def converted_text(found, unit):
    value, other = (found and converted(found, unit)) or (math.nan, "")
    if not abs(value) > 0:
        return "–"
    least = 10.0 ** (math.floor(math.log10(abs(value))) - CONVERTED_DIGITS + 2)
    mean = rounded(value, max(least, found.estimate.spread * value / found.estimate.value))
    return f"{mean.partition(' ± ')[0]} {other}"


def cell(found):
    if found is None or not found.estimate.text():
        return "–"
    return Cell(found.estimate.text(), found.estimate.where())


def verdict(part, found):
    """How the row is beside the recorded runs, in words."""
    judged = found and next((row for row in part.normal if row.row is found.row), None)
    if judged is None or judged.verdict == "not recorded" or not shown(found):
        return "–"
    if judged.verdict in means.VERDICTS[1:3]:
        return f"{abs(judged.change):.1f}% {judged.verdict}"
    return judged.verdict


def notes(name, lines, found):
    """What a cell is of where its line does not say, and what ! in it is of."""
    for headline, one in zip(lines, found):
        if one and one.which:
            yield f"{plain(headline.label)}, {name}: {one.which}."
        for text in one.estimate.remarks if one else ():
            yield f"The run warns (!) of {plain(headline.label)}, {name}: {text}."


HOW = ("Behind ± stands the standard deviation. A dash is for what is not measured or not known, "
       "none for what the toolkit compiles to no instruction that waits. Shapes are n x t, n blocks "
       "of t threads, or n per SM x t, n blocks for each SM.")
ALONE, BESIDE = (0.42, 0.06), (0.26, 0.05)  # in LaTeX, of the columns of words
STUDY = ("V100 and P100 are the study's (Tables I, II, IV, VI, Figures 7, 8; CUDA 10.0). Its "
         "launch is of a shape that it does not say, its sum the best of its own. Its barriers of several "
         "GPUs have no peer access.")


def legend_of(lines):
    return coded(legend(CODE.findall("".join(headline.label for headline in lines))))


def headline_sheet(part, study, recorded):
    """A run beside the recorded ones, on as many GPUs."""
    lines = headlines(part.run)
    here = found_in(part.run, lines)
    others = [found_in(other, lines) for other in recorded]
    measured = " (measured)" * part.run.simulated
    sheet = Sheet(f"{part.run.mark}What a barrier costs here, beside recorded runs" if others else
                  f"{part.run.mark}What a barrier costs here. {part.run.about()}", 2, [
        "", "Unit", "Here", "Converted", *(other.path.name + measured for other in recorded),
        *["Against recorded"] * bool(others), *GPUS], widths=ALONE, legend=legend_of(lines))
    for place, (headline, found) in enumerate(zip(lines, here)):
        sheet.rows.append([
            headline.label, headline.unit, cell(found), converted_text(found, headline.unit),
            *(cell(other[place]) for other in others),
            *[verdict(part, found)] * bool(others),
            *(headline.study(study, gpu) or "–" for gpu in GPUS)])
    sheet.notes += [HOW, "Converted by the SM clock of the same row: what waits for "
                    "memory or links does not go with that clock.", STUDY]
    if others:
        sheet.notes.append(part.reference())
    sheet.notes += notes("here", lines, here)
    return sheet


def found_json(headline, found):
    """A value of report.json."""
    other = converted(found, headline.unit)
    return {"unit": headline.unit, **found.estimate.numbers(),
            "text": found.estimate.text(), "of": found.which or None,
            "nothing_waits": found.estimate.nothing, "remarks": found.estimate.remarks,
            "converted": other and {"value": other[0], "unit": other[1], "SM_clock_MHz": float(
                found.row["clock"])},
            "sources": sources(found.estimate.sources)}


def study_json(headline, study):
    known = {gpu: headline.study(study, gpu) for gpu in GPUS}
    return {gpu: {"unit": headline.unit, "value": float(text)}
            for gpu, text in known.items() if text}


def headline_json(part, study):
    lines = headlines(part.run)
    here = found_in(part.run, lines)
    others = {other.path.name: found_in(other, lines) for other in part.recorded}
    return [{"name": headline.name, "label": plain(headline.label),
             "here": found and found_json(headline, found),
             "recorded": {name: found_json(headline, other[place])
                          for name, other in others.items() if other[place]},
             "beside_recorded": verdict(part, found), "study": study_json(headline, study)}
            for place, (headline, found) in enumerate(zip(lines, here))]


def machine_names(parts):
    """Of each, for a column: 2 H200, with its folder where another has the same."""
    names = [f"{part.run.gpus} {short_name(part.run)}" for part in parts]
    return [name if names.count(name) == 1 else f"{name} ({part.name})"
            for name, part in zip(names, parts)]


def machines_sheet(parts, study):
    """Several runs, a column each."""
    lines, names = headlines(*(part.run for part in parts)), machine_names(parts)
    found = [found_in(part.run, lines) for part in parts]
    sheet = Sheet(f"{parts[0].run.mark}What a barrier costs, by machine", 2,
                  ["", "Unit", *names, *GPUS], widths=BESIDE, legend=legend_of(lines))
    for place, headline in enumerate(lines):
        sheet.rows.append([headline.label, headline.unit, *(cell(one[place]) for one in found),
                           *(headline.study(study, gpu) or "–" for gpu in GPUS)])
    sheet.notes += [HOW, STUDY, *(f"{name}: {part.name}, {part.run.about()}."
                                  for name, part in zip(names, parts))]
    for name, one in zip(names, found):
        sheet.notes += notes(name, lines, one)
    return sheet


def machines_json(parts, study):
    lines = headlines(*(part.run for part in parts))
    found = [found_in(part.run, lines) for part in parts]
    return [{"name": headline.name, "label": plain(headline.label),
             "machines": {part.name: found_json(headline, one[place])
                          for part, one in zip(parts, found) if one[place]},
             "study": study_json(headline, study)}
            for place, headline in enumerate(lines)]
