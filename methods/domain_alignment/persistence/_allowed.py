"""Classes whose state may be saved: nothing else is imported when a model is loaded."""

import re
from importlib import import_module

from domain_alignment.exceptions import SavedModelError

# Of other packages. Their fitted state is arrays, numbers and text, and they run no code of a file.
PUBLIC = {
    "sklearn.pipeline": {"Pipeline"},
    "sklearn.compose": {"ColumnTransformer"},
    "sklearn.impute": {"KNNImputer", "MissingIndicator", "SimpleImputer"},
    "sklearn.preprocessing": {
        "Binarizer",
        "FunctionTransformer",
        "KBinsDiscretizer",
        "KernelCenterer",
        "LabelBinarizer",
        "LabelEncoder",
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PolynomialFeatures",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
    },
    "sklearn.feature_selection": {"VarianceThreshold"},
    "sklearn.decomposition": {"KernelPCA", "PCA", "TruncatedSVD"},
    "sklearn.cross_decomposition": {"CCA"},
    "sklearn.kernel_approximation": {"Nystroem"},
    "sklearn.linear_model": {"LogisticRegression", "RidgeClassifier"},
    "sklearn.neighbors": {"KNeighborsClassifier", "NearestCentroid"},
    "sklearn.discriminant_analysis": {
        "LinearDiscriminantAnalysis",
        "QuadraticDiscriminantAnalysis",
    },
    "sklearn.naive_bayes": {"GaussianNB"},
    "sklearn.svm": {"SVC", "LinearSVC", "NuSVC"},
    "ot.da": {
        "EMDTransport",
        "EMDLaplaceTransport",
        "LinearGWTransport",
        "LinearTransport",
        "MappingTransport",
        "SinkhornL1l2Transport",
        "SinkhornLpl1Transport",
        "SinkhornTransport",
        "UnbalancedSinkhornTransport",
    },
    "ot.backend": {"NumpyBackend"},
}
FUNCTIONS = {"ot.da": {"distribution_estimation_uniform"}}

_OWN_ADDRESS = re.compile(r"domain_alignment(\.\w+)+:\w+")


def class_address(cls, trusted=()):
    """Address of a class that may be saved.

    Parameters
    ----------
    cls : type
    trusted : collection of str
        Addresses ``"package.module:Class"`` allowed beside the known ones.

    Raises
    ------
    SavedModelError
        If it is not among the known and the trusted ones.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> class_address(StandardScaler)
    'sklearn.preprocessing:StandardScaler'
    """
    private = f"{cls.__module__}:{cls.__qualname__}"
    if _OWN_ADDRESS.fullmatch(private) or private in trusted:
        return private
    for module, names in PUBLIC.items():
        # Only of the class's own package, which is imported already.
        if cls.__name__ in names and cls.__module__.partition(".")[0] == module.partition(".")[0]:
            public = f"{module}:{cls.__name__}"
            if getattr(import_module(module), cls.__name__, None) is cls:
                return public
    raise SavedModelError(_unknown(private))


def function_address(function):
    """Address of a function that may be part of a state; else `SavedModelError`."""
    for module, names in FUNCTIONS.items():
        name = getattr(function, "__name__", None)
        if name in names and getattr(import_module(module), name) is function:
            return f"{module}:{name}"
    raise SavedModelError(
        f"a function ({function!r}) is part of the model, and functions are not saved; give the "
        "estimator that holds it a setting without one"
    )


def resolve(address, trusted=()):
    """Class or function at an allowed address.

    Parameters
    ----------
    address : str
        Read from a file, so checked before anything is imported.
    trusted : collection of str

    Raises
    ------
    SavedModelError
        If the address is not allowed, or leads to nothing here.
    """
    known = f"{address}".partition(":")
    table = PUBLIC.get(known[0], set()) | FUNCTIONS.get(known[0], set())
    own = isinstance(address, str) and _OWN_ADDRESS.fullmatch(address)
    if not own and known[2] not in table and address not in trusted:
        raise SavedModelError(_unknown(address))
    try:
        found = getattr(import_module(known[0]), known[2])
    except (ImportError, AttributeError) as error:
        raise SavedModelError(
            f"{address}: is part of the saved model but not here ({error}); install the versions "
            "that its MODEL_CARD.md lists"
        ) from error
    if own and not (isinstance(found, type) and found.__module__ == known[0]):
        raise SavedModelError(_unknown(address))
    return found


def _unknown(address):
    return (
        f"{address}: is not a class that saved models may hold (those of domain_alignment and "
        "usual ones of scikit-learn and POT); if you trust it, give its address, "
        f"trusted=[{str(address)!r}], to save_model and load_model"
    )
