"""From records, timings and one pictured trial to tables, figures and a page."""

TITLES = {
    "papers": "Experiments that answer to a paper",
    "leaderboard": "Methods tuned alike",
    "report": "Experiments run so far",
}


for name in SUITE.experiments:

    rule:
        name:
            f"report_{name}"
        input:
            shown=shown_files(name),
            configuration=config_files_of(name),
            published=printed_for(name),
            page=page_files("experiment.html.j2"),
        output:
            html=in_report(name, f"results/{name}/report.html", page="report"),
            card=f"results/{name}/card.json",
            tables=[
                in_report(name, path, table=Path(path).stem) if path.endswith(".csv") else path
                for path in tables_of(name)
            ],
            pdf=figures_of(name, "pdf"),
            svg=[
                in_report(name, figure, figure=Path(figure).stem)
                for figure in figures_of(name, "svg")
            ],
        log:
            f"logs/report/{name}.log",
        localrule: True
        conda:
            "../../envs/core.yaml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            code=page_code("report", [name]),
            root=os.path.relpath(ROOT),
            experiment=name,
        script:
            "../scripts/report.py"


rule page:
    """One page of links over several experiments, with the headline of each."""
    input:
        cards=lambda w: [f"results/{name}/card.json" for name in PAGES[w.page]],
        results=lambda w: [file for name in PAGES[w.page] for file in result_files(name)],
        page=page_files("index.html.j2"),
    output:
        "results/{page}.html",
    log:
        "logs/report/{page}.log",
    wildcard_constraints:
        page="|".join(PAGES),
    localrule: True
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=script_code("page", "workflow.lib.report.index"),
        root=os.path.relpath(ROOT),
        experiments=lambda w: PAGES[w.page],
        title=lambda w: TITLES[w.page],
    script:
        "../scripts/page.py"


rule audit:
    """The published tables of all papers, checked by themselves and beside the records."""
    input:
        shown=[file for name in AUDITED for file in shown_files(name)],
        configuration=[file for name in AUDITED for file in config_files_of(name)],
        published=[file for name in AUDITED for file in published_of(name)],
        means=local(os.path.relpath(ROOT / "config/printed_means.csv")),
        page=page_files("audit.html.j2"),
    output:
        page="results/audit.html",
        tables=expand(
            "results/audit/{table}.{ending}",
            table=audit_tables(SUITE),
            ending=["csv", "md", "tex"],
        ),
    log:
        "logs/report/audit.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=page_code("audit", AUDITED),
        root=os.path.relpath(ROOT),
        experiments=AUDITED,
    script:
        "../scripts/audit.py"


rule board:
    """Methods that were tuned alike and saw the same labels, over several data sets."""
    input:
        results=lambda w: [file for name in BOARDS[w.board] for file in result_files(name)],
        configuration=lambda w: [file for name in BOARDS[w.board] for file in config_files_of(name)],
        page=page_files("board.html.j2"),
    output:
        page="results/board_{board}.html",
        tables=[
            f"results/board_{{board}}/{table}.{ending}"
            for table in BOARD_TABLES
            for ending in ("csv", "md", "tex")
        ],
    log:
        "logs/report/board_{board}.log",
    wildcard_constraints:
        board="|".join(BOARDS) or "none",
    localrule: True
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        code=script_code("board", "workflow.lib.report.board_page", "workflow.lib.results.load"),
        searches=searches(SUITE),
        root=os.path.relpath(ROOT),
        experiments=lambda w: BOARDS[w.board],
    script:
        "../scripts/board.py"


rule shifts_page:
    """Generated kinds of shift: which method fits which trouble, and where it harms."""
    input:
        results=[file for name in SHIFTS for file in result_files(name)],
        configuration=[file for name in SHIFTS for file in config_files_of(name)],
        page=page_files("shifts.html.j2"),
    output:
        page="results/shifts.html",
        tables=[
            f"results/shifts_page/{table}.{ending}"
            for name in SHIFTS
            for table in shift_tables(name)
            for ending in ("csv", "md", "tex")
        ],
    log:
        "logs/report/shifts_page.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=script_code(
            "shifts_page", "workflow.lib.report.shifts_page", "workflow.lib.results.load"
        ),
        root=os.path.relpath(ROOT),
        experiments=SHIFTS,
    script:
        "../scripts/shifts_page.py"


rule findings:
    """What boards, generated shifts and labels of the target that were run say, in sentences."""
    input:
        results=[file for name in FOUND for file in result_files(name)],
        configuration=[file for name in FOUND for file in config_files_of(name)],
        pages=[*pages_of(FOUND_BOARDS), *(["results/shifts.html"] if FOUND_SHIFTS else [])],
        page=page_files("findings.html.j2"),
    output:
        page="results/findings.html",
        twin="results/findings.md",
    log:
        "logs/report/findings.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=3000,
        runtime=20,
    params:
        code=script_code(
            "findings", "workflow.lib.report.findings_page", "workflow.lib.results.load"
        ),
        root=os.path.relpath(ROOT),
        boards=FOUND_BOARDS,
        shifts=FOUND_SHIFTS,
        curves=FOUND_CURVES,
    script:
        "../scripts/findings.py"
