"""Names that libraries have removed: since which release, what to write instead, and which pin brings them back.

`removed_name` reads the last line of a traceback. Pins are releases that have wheels for Python 3.11.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RemovedName:
    """Removal of a name.

    Attributes:
        name: what is gone.
        since: the first release without it.
        instead: what to write today.
        pin: a requirement that still has it; None where no release for today's Python does.
    """

    name: str
    since: str
    instead: str
    pin: str | None = None

    def likely(self) -> str:
        """Say what happened, in one clause."""
        return f"{self.name} is gone since {self.since}"

    def advice(self) -> str:
        """Say what to do, in one clause."""
        if self.pin is None:
            return f"write {self.instead}"
        return f"write {self.instead}, or pin `{self.pin}` in environment.python.requirements of the config"

    def describe(self) -> str:
        """Say both in one sentence."""
        return f"{self.likely()}; {self.advice()}"


def removed_name(error: str) -> RemovedName | None:
    """Find what an error like "ModuleNotFoundError: No module named 'torch._six'" is about; None: not known here."""
    for pattern, made in _TABLE:
        match = pattern.search(error)
        if match is not None:
            parts = [group for group in match.groups() if group is not None]
            return RemovedName(made.name.format(*parts), made.since, made.instead.format(*parts), made.pin)
    return None


def _module(name: str) -> str:
    """Match a module that is not found, or one that is asked of its package."""
    package, _, leaf = name.rpartition(".")
    return (
        rf"No module named '{re.escape(name)}[.']"
        rf"|cannot import name '{re.escape(leaf)}' from '{re.escape(package)}'"
        rf"|module '{re.escape(package)}' has no attribute '{re.escape(leaf)}'"
    )


def _name(package: str, names: str, *, below: bool = False) -> str:
    """Match one of `names`, separated by |, of a package, or `below` of any of its modules. First group: the name."""
    module = re.escape(package) + (r"(?:\.[\w.]+)?" if below else "")
    return rf"cannot import name '({names})' from '{module}'|module '{module}' has no attribute '({names})'"


_TF1 = "Session|placeholder|ConfigProto|get_variable|flags|app|logging|gfile|layers|set_random_seed|variable_scope"
_NUMPY_2 = (
    "float_|complex_|unicode_|string_|Inf|NaN|NAN|Infinity|infty|PINF|NINF|product|cumproduct|alltrue|sometrue"
    "|asfarray|round_|find_common_type|cast|mat|msort|row_stack"
)
_PRIVATE_KERAS = r"tensorflow\.python\.keras\.(datasets|applications|preprocessing|wrappers|premade|estimator|api)"
_COLLECTIONS = "Mapping|MutableMapping|Sequence|Iterable|Iterator|Callable|Hashable|Sized|Set|MutableSequence"


_ROWS: tuple[tuple[str, RemovedName], ...] = (
    # TensorFlow and Keras
    (_module("tensorflow.contrib"), RemovedName(
        "tensorflow.contrib", "TensorFlow 2.0", "its replacement in tensorflow.keras or tensorflow.compat.v1")),
    (_module("tensorflow.examples"), RemovedName(
        "tensorflow.examples", "TensorFlow 2.0", "tensorflow.keras.datasets.mnist.load_data()")),
    (rf"No module named '{_PRIVATE_KERAS}", RemovedName(
        "tensorflow.python.keras.{0}", "TensorFlow 2.12", "tensorflow.keras.{0}")),
    (_module("tensorflow.python.keras"), RemovedName(
        "tensorflow.python.keras", "TensorFlow 2.16", "tensorflow.keras", "tensorflow==2.15.1")),
    (_name("tensorflow", _TF1), RemovedName(
        "tensorflow.{0}", "TensorFlow 2.0", "tensorflow.compat.v1.{0}")),
    (_module("tensorflow.estimator"), RemovedName(
        "tensorflow.estimator", "TensorFlow 2.16", "determined.keras", "tensorflow==2.15.1")),
    (_module("keras.src.engine"), RemovedName(
        "keras.src.engine", "Keras 3 (TensorFlow 2.16)", "the public names of keras", "tensorflow==2.15.1")),
    (_module("keras.utils.np_utils"), RemovedName(
        "keras.utils.np_utils", "Keras 2.13", "keras.utils.to_categorical", "tensorflow==2.12.1")),
    # PyTorch and what is built on it
    (_module("torch._six"), RemovedName(
        "torch._six", "torch 2.0", "str, int and collections.abc in its place", "torch==1.13.1")),
    (_module("torchtext.legacy"), RemovedName(
        "torchtext.legacy", "torchtext 0.12", "torch.utils.data and a tokenizer of your own")),
    (_module("torchvision.transforms.functional_tensor"), RemovedName(
        "torchvision.transforms.functional_tensor", "torchvision 0.17", "torchvision.transforms.functional")),
    (_module("pytorch_lightning.metrics"), RemovedName(
        "pytorch_lightning.metrics", "Lightning 1.5", "torchmetrics (pip install torchmetrics)")),
    (_name("pytorch_lightning", "DDPPlugin|DDPShardedPlugin|TrainingTypePlugin", below=True), RemovedName(
        "pytorch_lightning's {0}", "Lightning 1.8", "pytorch_lightning.strategies.DDPStrategy")),
    (_module("pytorch_lightning.loggers.base"), RemovedName(
        "pytorch_lightning.loggers.base", "Lightning 1.9", "pytorch_lightning.loggers.logger")),
    (r"Trainer\.__init__\(\) got an unexpected keyword argument '(gpus|tpu_cores|num_processes)'", RemovedName(
        "Trainer({0}=)", "Lightning 2.0", "Trainer(accelerator=..., devices=...)", "pytorch-lightning==1.9.5")),
    # Hugging Face
    (_name("transformers", "AdamW", below=True), RemovedName(
        "transformers.AdamW", "transformers 4.50", "torch.optim.AdamW", "transformers==4.49.0")),
    (r"unexpected keyword argument '(evaluation_strategy)'", RemovedName(
        "TrainingArguments({0}=)", "transformers 4.51", "eval_strategy=", "transformers==4.50.3")),
    (_module("transformers.deepspeed"), RemovedName(
        "transformers.deepspeed", "transformers 4.46", "transformers.integrations.deepspeed",
        "transformers==4.45.2")),
    (r"No module named 'transformers\.((?:modeling|tokenization|configuration)_(\w+))'", RemovedName(
        "transformers.{0}", "transformers 4.0", "transformers.models.{1}.{0}")),
    (_name("datasets", "load_metric"), RemovedName(
        "datasets.load_metric", "datasets 3.0", "evaluate.load (pip install evaluate)", "datasets==2.21.0")),
    # NumPy and its neighbours
    (_name("numpy", "bool|int|float|complex|object|str|long|unicode"), RemovedName(
        "numpy.{0}", "NumPy 1.24", "Python's own {0}", "numpy==1.23.5")),
    (_name("numpy", _NUMPY_2), RemovedName(
        "numpy.{0}", "NumPy 2.0", "its replacement (numpy.inf, numpy.nan, numpy.prod, ...)", "numpy==1.26.4")),
    (r"compiled using NumPy 1\.x|numpy\.core\.multiarray failed to import", RemovedName(
        "the binary interface of NumPy 1", "NumPy 2.0", "a release of that library for NumPy 2", "numpy==1.26.4")),
    (r"'(?:DataFrame|Series)' object has no attribute '(append|iteritems)'", RemovedName(
        "pandas' {0}", "pandas 2.0", "pandas.concat or .items()", "pandas==1.5.3")),
    (r"module 'PIL\.Image' has no attribute '(ANTIALIAS|LINEAR|CUBIC)'", RemovedName(
        "PIL.Image.{0}", "Pillow 10", "PIL.Image.Resampling", "pillow==9.5.0")),
    (_module("sklearn.externals"), RemovedName("sklearn.externals", "scikit-learn 0.23", "import joblib")),
    (_module("sklearn.cross_validation"), RemovedName(
        "sklearn.cross_validation", "scikit-learn 0.20", "sklearn.model_selection")),
    (_name("sklearn", "load_boston", below=True), RemovedName(
        "sklearn.datasets.load_boston", "scikit-learn 1.2", "another dataset, such as fetch_california_housing")),
    (_name("scipy.misc", "imread|imresize|imsave"), RemovedName("scipy.misc.{0}", "SciPy 1.3", "imageio or PIL")),
    # Python itself
    (_name("collections", _COLLECTIONS), RemovedName("collections.{0}", "Python 3.10", "collections.abc.{0}")),
    (_name("inspect", "getargspec"), RemovedName(
        "inspect.getargspec", "Python 3.11", "inspect.getfullargspec")),
    (r"No module named '(distutils|imp)[.']", RemovedName(
        "{0}", "Python 3.12", "setuptools (pip install setuptools) or importlib in its place")),
)  # fmt: skip


_TABLE = [(re.compile(pattern), removed) for pattern, removed in _ROWS]
