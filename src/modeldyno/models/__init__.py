"""One file per architecture: what models there are, and how one becomes ready for any runtime."""

from modeldyno.models._architecture import FAMILIES, SIZES, Architecture, Entry, ExportHints, size_class, words
from modeldyno.models._blank import blank, blank_tensors, values_do_not_matter
from modeldyno.models._build import learner
from modeldyno.models._catalogue import ARCHITECTURES, catalogue, families, find
from modeldyno.models._count import Counts, count
from modeldyno.models._decoding import decoding_axes, named_scores, prepare_decoding
from modeldyno.models._detect import architecture_of
from modeldyno.models._lesson import Graded, Lesson
from modeldyno.models._lessons import lesson
from modeldyno.models._reference import relative_distance
from modeldyno.models._resolve import ModelSpec, SourceKind, resolve
from modeldyno.models._source import prepare, release

__all__ = [
    "ARCHITECTURES",
    "FAMILIES",
    "SIZES",
    "Architecture",
    "Counts",
    "Entry",
    "ExportHints",
    "Graded",
    "Lesson",
    "ModelSpec",
    "SourceKind",
    "architecture_of",
    "blank",
    "blank_tensors",
    "catalogue",
    "count",
    "decoding_axes",
    "families",
    "find",
    "learner",
    "lesson",
    "named_scores",
    "prepare",
    "prepare_decoding",
    "relative_distance",
    "release",
    "resolve",
    "size_class",
    "values_do_not_matter",
    "words",
]
