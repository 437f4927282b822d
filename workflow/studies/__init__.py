"""Studies: experiments that are one computation with figures and tables of their own.

To add one, write a module here and an experiment file that names it (``study: {module: ...}``). The
module's docstring is printed as the method of the study. It has ::

    FIGURES = {"name": "Caption."}
    TABLES = ("name",)
    READS = (path,)                     # optional: other files that run() reads
    MODULES = ("package.module",)       # optional: what run() builds by name, without an import
    def run(domains, **params): ...     # -> records (list of flat dict), arrays (dict of ndarray)
    def figures(records, arrays): ...   # -> {name: function that draws a matplotlib figure}
    def tables(records, arrays): ...    # -> {name: workflow.lib.report.tables.model.Table}
    def finding(records, arrays): ...   # -> the answer to the question, in one or two sentences

``domains`` maps ``"dataset.domain"`` to ``(X, y)``; ``params`` come from the experiment file. `run`
is guarded like the trials of a method: if it fails, the page says how. Its last printed line is
shown on the terminal every 15 seconds. The Snakefile imports the module for the names, so import
plotting and heavy libraries inside the functions.
"""
