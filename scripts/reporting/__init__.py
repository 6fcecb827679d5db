"""The parts of report.py, which write_pages.py uses, too. They need scripts/ on the path.

What is told of a run, each from its rows:
  study             the study's own numbers, of results/ipdps20
  estimates         a value with its spread and where it stands; tables of them
  study_tables      Tables I to VII; observations: Table VIII, judged by rows of evidence,
                    with section_claims, what sections of the study say beside it
  headline          what a barrier costs, from a warp to all GPUs, and what that says
  verdict           is the node normal?
  normal            every row beside the recorded runs
  run_warnings      what the programs warned of
  chart             what a picture shows; chart_study and chart_barriers make them of rows;
                    charts has all of them; draw draws them, as pictures.mplstyle says,
                    and alone needs matplotlib
  part              all of this of a run, its blocks of the pages
How it is written:
  sheets            tables as Markdown and LaTeX
  page              what pages are made of, as Markdown and as HTML, with page.css and page.js
"""
