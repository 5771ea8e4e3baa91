"""Recordings as a regression suite: a curated folder of them, what became of each against the present code."""

from playhead.suite._accepting import Accepted, Change, find_change, keep_before
from playhead.suite._annotations import Annotation, Annotations, annotations_file, annotations_of, carry_over
from playhead.suite._datasets import export_annotations, import_annotations
from playhead.suite._expectations import Score, Scored, judge_annotation
from playhead.suite._fixtures import Fixture, find_root, read_suite, with_match
from playhead.suite._history import keep_score
from playhead.suite._moving import move_entry
from playhead.suite._reports import as_junit, as_markdown, github_annotations, problem_text
from playhead.suite._rules import Rule, read_rule
from playhead.suite._settings import SuiteSettings, read_suite_settings
from playhead.suite._verdicts import Problem, Result, Summary, failed_result, judge_replay

__all__ = [
    "Accepted",
    "Annotation",
    "Annotations",
    "Change",
    "Fixture",
    "Problem",
    "Result",
    "Rule",
    "Score",
    "Scored",
    "SuiteSettings",
    "Summary",
    "annotations_file",
    "annotations_of",
    "as_junit",
    "as_markdown",
    "carry_over",
    "export_annotations",
    "failed_result",
    "find_change",
    "find_root",
    "github_annotations",
    "import_annotations",
    "judge_annotation",
    "judge_replay",
    "keep_before",
    "keep_score",
    "move_entry",
    "problem_text",
    "read_rule",
    "read_suite",
    "read_suite_settings",
    "with_match",
]
