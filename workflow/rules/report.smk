"""From records, timings and one pictured trial to tables, figures and a page."""

from workflow.lib.outputs import figure_names, pictured_files, table_names, timing_files

PAPERS = [name for name, experiment in SUITE.experiments.items() if experiment.answers]
RECORDED = [name for name in SUITE.experiments if os.path.exists(f"results/{name}/SHA256SUMS")]
# Pages over several experiments: all that answer to a paper, and all that were run so far.
PAGES = {"papers": PAPERS, "report": RECORDED}


def tables_of(name):
    return expand(
        f"results/{name}/tables/{{table}}.{{ending}}",
        table=table_names(SUITE.experiments[name]),
        ending=["csv", "md", "tex"],
    )


def figures_of(name, ending):
    figures = figure_names(SUITE.experiments[name])
    return [f"results/{name}/figures/{figure}.{ending}" for figure in figures]


def shown_files(name):
    """What the tables, figures and the page of an experiment are made from."""
    experiment = SUITE.experiments[name]
    results = [*timing_files(experiment), *pictured_files(experiment, SUITE).values()]
    domains = experiment.task(experiment.picture["task"]).domains if experiment.picture else []
    return [
        *(f"results/{name}/{file}" for file in ("records.parquet", "SHA256SUMS", *results)),
        *(domain_file(ref, "labels") for ref in domains),
    ]


def settings_of(name):
    """The configuration that a page prints: editing a sentence renders it again, no more."""
    kinds = ("datasets", "methods", "protocols", "classifiers", f"experiments/{name}")
    return [os.path.relpath(ROOT / f"config/{kind}.yaml") for kind in kinds]


def published_of(name):
    audit = SUITE.experiments[name].audit
    return [os.path.relpath(ROOT / "config/published" / audit["published"])] if audit else []


PAGE_FILES = [
    os.path.relpath(ROOT / f"reports/{file}")
    for file in ("template.html.j2", "style.css", "sort.js")
]

for name in SUITE.experiments:

    rule:
        name:
            f"report_{name}"
        input:
            shown=shown_files(name),
            settings=settings_of(name),
            published=published_of(name),
            page=PAGE_FILES,
            code=code("workflow.lib.results", "workflow.lib.report"),
        output:
            html=f"results/{name}/report.html",
            tables=tables_of(name),
            pdf=figures_of(name, "pdf"),
            svg=[
                report(
                    figure,
                    caption=f"../../reports/captions/{Path(figure).stem.split('_')[0]}.rst",
                    category=SUITE.experiments[name].title,
                    labels={"figure": Path(figure).stem.replace("_", " ")},
                )
                for figure in figures_of(name, "svg")
            ],
        log:
            f"logs/report/{name}.log",
        conda:
            "../../envs/core.yaml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            root=os.path.relpath(ROOT),
            experiment=name,
        script:
            "../scripts/report.py"


rule page:
    """One page over several experiments, with a table of contents."""
    input:
        shown=lambda w: [file for name in PAGES[w.page] for file in shown_files(name)],
        settings=lambda w: [file for name in PAGES[w.page] for file in settings_of(name)],
        page=PAGE_FILES,
        code=code("workflow.lib.results", "workflow.lib.report"),
    output:
        "results/{page}.html",
    wildcard_constraints:
        page="|".join(PAGES),
    log:
        "logs/report/{page}.log",
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        root=os.path.relpath(ROOT),
        experiments=lambda w: PAGES[w.page],
    script:
        "../scripts/page.py"
