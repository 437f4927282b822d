"""Suffixes of the files that the generic loader reads."""

TABLES = (".csv", ".tsv", ".parquet", ".xlsx")
SVMLIGHT = (".svmlight", ".libsvm", ".svm")
ARRAYS = (".npz", ".npy", ".mat", *SVMLIGHT)
ALL = (*TABLES, *ARRAYS)
